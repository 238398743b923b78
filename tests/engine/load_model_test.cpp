// SPDX-License-Identifier: Apache-2.0
// Loading and saving models: name repair, Constant nodes, and error messages for files that cannot be read.
#include "model/load_model.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

#include "model/known_shapes.h"
#include "support/errors.h"
#include "support/small_graph.h"
#include "support/text_model.h"

using namespace quantloupe;
using quantloupe::test::textModel;
using test::errorOf;

namespace {

const char* const kSmall = R"(<ir_version: 8, opset_import: ["" : 13]>
agraph (float[N,2] X) => (float[N,2] Y) {
    Lo = Constant <value_float = 0.0> ()
    Hi = Constant <value_float = 6.0> ()
    A = Clip (X, Lo, Hi)
    B = Relu (A)
    Y = Relu (B)
})";

}  // namespace

class LoadModelTest : public QObject {
    Q_OBJECT

  private:
    std::filesystem::path file(const std::string& name) const {
        return m_folder.path().toStdString() + "/" + name;
    }
    QTemporaryDir m_folder;

  private Q_SLOTS:
    void namesUnnamedNodesAfterTheirOperator() {
        const LoadedModel model = textModel(kSmall);
        QStringList names;
        for (const Node& node : model.graph->nodes()) names << QString::fromStdString(node.name);
        QCOMPARE(names.join(" "), "Clip_2 Relu_3 Relu_4");
        QCOMPARE(model.notices.size(), 1u);
        QVERIFY(model.notices[0].find("3 nodes had no name") != std::string::npos);
    }

    void constantNodesBecomeConstantsOfTheirReaders() {
        const LoadedModel model = textModel(kSmall);
        const Node& clip = model.graph->nodes()[0];
        QCOMPARE(model.graph->constantOf(clip.input(1))->scalar(), 0.0);
        QCOMPARE(model.graph->constantOf(clip.input(2))->scalar(), 6.0);
        QCOMPARE(toString(*model.graph->tensor(clip.input(0)).shape), std::string("N×2"));
    }

    /// Looking back along a chain ends before the stack does.
    void ranksOfLongChains() {
        onnx::GraphProto graph;
        const auto rankAfter = [&](int nodes) {
            while (graph.node_size() < nodes) {
                onnx::NodeProto& node = *graph.add_node();
                node.set_op_type("Relu");
                node.add_input(fmt::format("t{}", graph.node_size() - 1));
                node.add_output(fmt::format("t{}", graph.node_size()));
            }
            return KnownShapes(graph).rank(fmt::format("t{}", nodes));
        };
        onnx::ValueInfoProto& input = *graph.add_input();
        input.set_name("t0");
        auto& type = *input.mutable_type()->mutable_tensor_type();
        type.set_elem_type(onnx::TensorProto::FLOAT);
        for (int i = 0; i < 3; ++i) type.mutable_shape()->add_dim()->set_dim_value(2);
        QCOMPARE(rankAfter(100), std::optional<std::size_t>(3));
        QCOMPARE(rankAfter(200'000), std::nullopt);
    }

    void ranksAndWidthsFollowFromTheNodes_data() {
        QTest::addColumn<QString>("node");
        QTest::addColumn<int>("rank");
        QTest::addColumn<int>("width");  // 0: unknown
        const auto row = [](const char* node, int rank, int width) {
            QTest::newRow(node) << node << rank << width;
        };
        row("com.microsoft.MatMulNBits<K = 6, N = 8>(x, codes, scales)", 3, 8);
        row("com.microsoft.FusedMatMul(x, w)", 3, 4);
        row("Concat<axis = 1>(x, x)", 3, 6);
        row("Concat<axis = -1>(x, x, x)", 3, 18);
        row("Gather<axis = 1>(x, one)", 2, 6);
        row("Gather<axis = 2>(x, one)", 2, 0);
        row("Gather(x, w)", 4, 6);
        row("Transpose<perm = [1, 0, 2]>(x)", 3, 6);
        row("Transpose<perm = [0, 2, 1]>(x)", 3, 0);
        row("Where(c, x, one)", 3, 6);
    }
    void ranksAndWidthsFollowFromTheNodes() {
        QFETCH(QString, node);
        QFETCH(int, rank);
        QFETCH(int, width);
        onnx::ModelProto model;
        QVERIFY(model.ParseFromString(test::textModelBytes(
            "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]> g (float[n,5,6] x, bool c) => "
            "(float y) <int64 one = {1}, float[6,4] w, uint8[8,1,3] codes, float[8] scales> { r = " +
            node.toStdString() + " y = Relu(r) }")));
        const KnownShapes known(model.graph());
        QCOMPARE(known.rank("r"), std::optional<std::size_t>(rank));
        QCOMPARE(known.width("r"), width == 0 ? std::nullopt : std::optional<std::int64_t>(width));
    }

    /// Outputs for training, up to opset 13.
    void shapesAfterABatchNormWithFiveOutputs() {
        for (const int opset : {9, 11, 13}) {
            const LoadedModel model =
                textModel("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                          "]> g (float[n,2,4] x) => (float y) <float[2] s = {1, 1}, float[2] z = {0, 0}> "
                          "{ b, m, v, p, q = BatchNormalization(x, s, z, z, s) y = Relu(b) }");
            QCOMPARE(toString(*model.graph->tensor(*model.graph->findTensor("b")).shape), "n\u00d72\u00d74");
        }
    }

    void savedModelsLoadTheSame() {
        const LoadedModel model = textModel(kSmall);
        saveModel(*model.graph, file("copy.onnx"));
        const LoadedModel again = loadModel(file("copy.onnx"));
        QCOMPARE(again.graph->nodeCount(), model.graph->nodeCount());
        QCOMPARE(again.graph->version().hex(), model.graph->version().hex());
        QVERIFY(again.notices.empty());  // the names were saved
    }

    void savedModelsKeepTheirDescription() {
        onnx::ModelProto proto;
        QVERIFY(proto.ParseFromString(test::textModelBytes(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N] x) => (float[N] y) { y = Relu(x) }")));
        proto.set_producer_name("pytorch");
        proto.set_producer_version("2.1");
        proto.set_domain("org.example");
        proto.set_model_version(7);
        proto.set_doc_string("Classifies digits.");
        proto.mutable_graph()->set_doc_string("One layer.");
        std::ofstream(file("described.onnx")) << proto.SerializeAsString();
        onnx::ModelProto saved;
        QVERIFY(saved.ParseFromString(modelBytes(*loadModel(file("described.onnx")).graph)));
        QCOMPARE(saved.producer_name(), std::string("pytorch"));
        QCOMPARE(saved.producer_version(), std::string("2.1"));
        QCOMPARE(saved.domain(), std::string("org.example"));
        QCOMPARE(saved.model_version(), std::int64_t{7});
        QCOMPARE(saved.doc_string(), std::string("Classifies digits."));
        QCOMPARE(saved.graph().doc_string(), std::string("One layer."));
    }

    void outputsThatAreNoTensorsKeepTheirType() {
        onnx::ModelProto proto;
        QVERIFY(proto.ParseFromString(test::textModelBytes(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N] x) => (float y, float[N] z) "
            "{ y = SequenceConstruct(x, x) z = Relu(x) }")));
        auto& type = *proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_sequence_type();
        type.mutable_elem_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
        std::ofstream(file("list.onnx")) << proto.SerializeAsString();
        const LoadedModel model = loadModel(file("list.onnx"));
        onnx::ModelProto saved;
        QVERIFY(saved.ParseFromString(modelBytes(*model.graph)));
        QVERIFY(saved.graph().output(0).type().has_sequence_type());
        QCOMPARE(saved.graph().output(0).type().sequence_type().elem_type().tensor_type().elem_type(),
                 int(onnx::TensorProto::FLOAT));
        QVERIFY(saved.graph().output(1).type().has_tensor_type());
    }

    /// Tools may leave out the type of an output, and that of a result of If is not inferred.
    void outputsWithoutATypeStayWithoutOne() {
        onnx::ModelProto proto;
        QVERIFY(proto.ParseFromString(test::textModelBytes(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (bool c, float[N] x) => (float y) "
            "{ y = If(c) <then_branch = a () => (float p) { p = Relu(x) }, "
            "else_branch = b () => (float q) { q = Neg(x) }> }")));
        proto.mutable_graph()->mutable_output(0)->clear_type();
        std::ofstream(file("untyped.onnx")) << proto.SerializeAsString();
        onnx::ModelProto saved;
        QVERIFY(saved.ParseFromString(modelBytes(*loadModel(file("untyped.onnx")).graph)));
        QVERIFY(!saved.graph().output(0).has_type());
    }

    void filesThatAreNotModelsAreReported() {
        std::ofstream(file("text.onnx")) << "this is a text file, nothing else\n";
        QVERIFY(errorOf([&] {
                    loadModel(file("text.onnx"));
                }).contains("model 'text.onnx': this is not an ONNX model"));
        std::ofstream(file("empty.onnx"));
        QVERIFY(errorOf([&] { loadModel(file("empty.onnx")); }).contains("empty"));
        QVERIFY(errorOf([&] { loadModel(file("missing.onnx")); }).contains("there is no file"));
        QVERIFY(errorOf([&] { loadModel(m_folder.path().toStdString()); }).contains("is a folder"));
    }

    void truncatedModelsAreRefused() {
        const std::string bytes = test::textModelBytes(kSmall);
        for (const std::size_t size : {bytes.size() - 1, bytes.size() / 2, std::size_t{5}}) {
            const QString message = errorOf([&] { parseModel(bytes.data(), size); });
            QVERIFY2(!message.isEmpty(), qPrintable(QString("%1 of %2 bytes").arg(size).arg(bytes.size())));
        }
    }

    void danglingTensorsAndCyclesAreNamed() {
        const QString dangling = errorOf([] {
            textModel(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] X) => (float[2] Y) { Y = Add (X, Z) "
                "}");
        });
        QVERIFY2(dangling.contains("'Z'"), qPrintable(dangling));
        const QString cycle = errorOf([] {
            textModel(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] X) => (float[2] Y) "
                "{ A = Add (X, B) B = Relu (A) Y = Relu (B) }");
        });
        QVERIFY2(cycle.contains("cycle"), qPrintable(cycle));
        const QString twice = errorOf([] {
            textModel(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] X) => (float[2] Y) "
                "{ Y = Relu (X) Y = Neg (X) }");
        });
        QVERIFY2(twice.contains("two nodes"), qPrintable(twice));
    }

    void externalDataStaysInTheFolder_data() {
        QTest::addColumn<QString>("location");
        QTest::addColumn<QString>("says");
        QTest::newRow("next to the model") << "weights.bin"
                                           << "";
        QTest::newRow("missing") << "nothing.bin"
                                 << "is missing";
        QTest::newRow("absolute") << "/etc/passwd"
                                  << "only files in the model's folder";
        QTest::newRow("above") << "../outside.bin"
                               << "outside the model's folder";
        QTest::newRow("through a link") << "link/outside.bin"
                                        << "outside the model's folder";
    }
    void externalDataStaysInTheFolder() {
        QFETCH(QString, location);
        QFETCH(QString, says);
        const std::filesystem::path root = file("external");
        std::filesystem::create_directories(root / "model");
        const float values[2] = {1, 2};
        for (const auto& place : {root / "model" / "weights.bin", root / "outside.bin"})
            std::ofstream(place, std::ios::binary)
                .write(reinterpret_cast<const char*>(values), sizeof values);
        if (!std::filesystem::exists(root / "model" / "link"))
            std::filesystem::create_directory_symlink(root, root / "model" / "link");

        const std::string bytes = test::externalModelBytes(location.toStdString());
        const QString message = errorOf([&] {
            const LoadedModel model = parseModel(bytes.data(), bytes.size(), root / "model");
            QCOMPARE(model.graph->tensor(*model.graph->findTensor("W")).constant->floats()[1], 2.0f);
            QCOMPARE(model.dataFiles, std::vector<std::filesystem::path>{root / "model" / "weights.bin"});
        });
        QVERIFY2(says.isEmpty() ? message.isEmpty() : message.contains(says), qPrintable(message));
    }

    /// Two codes per byte; the last byte has one.
    void externalIntegersOf4Bits() {
        onnx::ModelProto model;
        QVERIFY(model.ParseFromString(test::externalModelBytes("codes.bin")));
        onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
        tensor.set_data_type(int{22});  // int4, unknown to ONNX 1.12
        tensor.set_dims(0, 3);
        std::ofstream(file("codes.bin"), std::ios::binary) << "\xf1\x07";
        const std::string bytes = model.SerializeAsString();
        const LoadedModel loaded = parseModel(bytes.data(), bytes.size(), file("").parent_path());
        const ConstantPtr codes = loaded.graph->tensor(*loaded.graph->findTensor("W")).constant;
        QCOMPARE(codes->toInt64s(), (std::vector<std::int64_t>{1, -1, 7}));
    }

    /// The operator stays as it is, and is not evaluated.
    void rotationsThatDoNotFitAreRefused() {
        const auto notices = [](const char* attributes, const char* tables) {
            const std::string text = fmt::format(
                R"(<ir_version: 10, opset_import: ["" : 23]> g (float[1,2,2,8] X) => (Y) <{}>
                   {{ Y = RotaryEmbedding <{}> (X, C, S) }})",
                tables, attributes);
            return test::lines(textModel(text).notices);
        };
        const char* const three = "float[1,2,3] C = {1, 1, 1, 1, 1, 1}, float[1,2,3] S = {0, 0, 0, 0, 0, 0}";
        QVERIFY(notices("interleaved = 0", three).contains("do not fit 8 values to rotate"));
        QVERIFY(notices("rotary_embedding_dim = 4", three).contains("do not fit 4 values to rotate"));
        QVERIFY(notices("rotary_embedding_dim = -6", three).contains("do not fit"));
        QVERIFY(!notices("rotary_embedding_dim = 6", three).contains("do not fit"));
    }

    /// Extents of the tensor r: those that are the same for each number of samples.
    void extentsWithoutTheSamplesAreInferred_data() {
        QTest::addColumn<QString>("graph");
        QTest::addColumn<QString>("shape");
        const char* const constants =
            "<int64[1] zero = {0}, int64[1] one = {1}, int64[1] four = {4}, int64[1] end = {1000000}, "
            "int64[2] rest = {-1, 4}, int64[3] flat = {1, 8, -1}>";
        const auto row = [&](const char* name, const char* inputs, const char* body, const char* shape) {
            QTest::newRow(name)
                << QString("(%1) => (float[a,b,c] y) %2 { %3 y = Relu(r) }").arg(inputs, constants, body)
                << shape;
        };
        row("computed shape", "float[n,3,4] x",
            "s = Shape(x) k = Slice(s, zero, one) t = Concat<axis = 0>(k, rest) r = Reshape(x, t)", "? 3 4");
        row("every fourth sample", "float[n,8,2] x", "r = Slice(x, zero, end, zero, four)", "? 8 2");
        row("first sample", "float[n,8,2] x", "r = Slice(x, zero, one, zero, one)", "1 8 2");
        row("windows of points", "float[points,8] x",
            "t = Transpose(x) u = Unsqueeze(t, zero) r = MaxPool<kernel_shape = [4], strides = [4], "
            "ceil_mode = 1>(u)",
            "1 8 ?");
        row("beams and their samples", "float[beams_of_batch,4] x, float[batch,4] z",
            "s = Shape(z) k = Slice(s, zero, one) t = Concat<axis = 0>(k, rest) r = Reshape(x, t)", "? ? ?");
    }
    void extentsWithoutTheSamplesAreInferred() {
        QFETCH(QString, graph);
        QFETCH(QString, shape);
        for (const int opset : {11, 12, 13, 14, 17}) {
            QString text =
                QStringLiteral("<ir_version: 8, opset_import: [\"\" : %1]> net ").arg(opset) + graph;
            if (opset < 13) text.replace("Unsqueeze(t, zero)", "Unsqueeze<axes = [0]>(t)");
            const LoadedModel model = textModel(text.toStdString());
            QStringList found;
            for (const Dim& dim : model.graph->tensor(*model.graph->findTensor("r")).shape.value())
                found << (dim.known() ? QString::number(dim.value) : QStringLiteral("?"));
            QVERIFY2(found.join(' ') == shape,
                     qPrintable(QStringLiteral("opset %1: %2").arg(opset).arg(found.join(' '))));
        }
    }

    void realModelsLoad_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("nodes");
        QTest::newRow("opset 13") << "mobilenetv2_cifar10" << 152;
        QTest::newRow("opset 20, IR 10") << "mobilenetv2_cifar10_opset20" << 100;
        QTest::newRow("two blocks, opset 20, weights in another file") << "vit_2_blocks_opset20" << 67;
        QTest::newRow("vision transformer, opset 20") << "vit_cifar10_opset20" << 179;
    }
    void realModelsLoad() {
        QFETCH(QString, name);
        QFETCH(int, nodes);
        QUANTLOUPE_ASSET(path, "models/" + name.toStdString() + ".onnx");
        const LoadedModel model = loadModel(path);
        QCOMPARE(int(model.graph->nodeCount()), nodes);
        for (const Node& node : model.graph->nodes()) QVERIFY(node.op != "Constant");
    }
};

QTEST_GUILESS_MAIN(LoadModelTest)
#include "load_model_test.moc"
