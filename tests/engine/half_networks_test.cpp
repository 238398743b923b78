// SPDX-License-Identifier: Apache-2.0
// Networks in half precision are read as float32; half tensors that are only moved or cast stay as they are.
#include <onnx/onnx_pb.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

#include "base/half.h"
#include "support/errors.h"
#include "support/small_graph.h"
#include "support/text_model.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

constexpr std::uint16_t kHalfBits[] = {0x3C01, 0xC000, 0x0001};   // 1.0009766, -2, 2^-24
constexpr std::uint16_t kBrainBits[] = {0x3F81, 0xC000, 0x0080};  // 1.0078125, -2, 2^-126

/// y = x + w in the type; w is raw data, a list of int32, or in a file.
onnx::ModelProto sumModel(onnx::TensorProto::DataType type, const char* storage) {
    onnx::ModelProto model;
    model.ParseFromString(textModelBytes(
        "<ir_version: 8, opset_import: [\"\" : 17]> g (float16[3] x) => (float16[3] y) { y = Add (x, x) }"));
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.mutable_node(0)->set_input(1, std::string("w"));
    for (auto* value : {graph.mutable_input(0), graph.mutable_output(0)})
        value->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    onnx::TensorProto& w = *graph.add_initializer();
    w.set_name("w");
    w.add_dims(3);
    w.set_data_type(type);
    const auto& bits = type == onnx::TensorProto::FLOAT16 ? kHalfBits : kBrainBits;
    if (std::string(storage) == "raw")
        w.set_raw_data(bits, sizeof bits);
    else if (std::string(storage) == "list")
        for (const std::uint16_t item : bits) w.add_int32_data(item);
    else {
        w.set_data_location(onnx::TensorProto::EXTERNAL);
        auto& entry = *w.add_external_data();
        entry.set_key("location");
        entry.set_value("w.bin");
    }
    return model;
}

}  // namespace

class HalfNetworksTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void networksInHalfPrecisionAreFloat32_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<QString>("storage");
        for (const char* storage : {"raw", "list", "file"}) {
            QTest::addRow("float16 %s", storage)
                << static_cast<int>(onnx::TensorProto::FLOAT16) << QString(storage);
            QTest::addRow("bfloat16 %s", storage)
                << static_cast<int>(onnx::TensorProto::BFLOAT16) << QString(storage);
        }
    }

    void networksInHalfPrecisionAreFloat32() {
        QFETCH(int, type);
        QFETCH(QString, storage);
        const bool brain = type == onnx::TensorProto::BFLOAT16;
        const QTemporaryDir folder;
        const std::string path = folder.path().toStdString();
        std::ofstream(path + "/w.bin", std::ios::binary)
            .write(reinterpret_cast<const char*>(brain ? kBrainBits : kHalfBits), sizeof kHalfBits);
        const std::string bytes =
            sumModel(static_cast<onnx::TensorProto::DataType>(type), qPrintable(storage)).SerializeAsString();
        const LoadedModel model = parseModel(bytes.data(), bytes.size(), path);
        QVERIFY2(lines(model.notices).contains("float16 or bfloat16"), qPrintable(lines(model.notices)));
        for (const TensorInfo& tensor : model.graph->tensors()) QCOMPARE(tensor.type, DataType::Float32);
        const std::vector<float> expected = brain ? std::vector<float>{1.0078125f, -2, 0x1p-126f}
                                                  : std::vector<float>{1.0009765625f, -2, 0x1p-24f};
        QCOMPARE(run(model.graph, {3}, {0, 0, 0}), expected);
        QCOMPARE(model.dataFiles.size(), storage == "file" ? std::size_t{1} : std::size_t{0});
    }

    /// A converted network: casts at its ends, and subgraphs with half constants.
    void castsAndSubgraphs() {
        const LoadedModel model = textModel(R"(<ir_version: 8, opset_import: ["" : 17]>
            g (float[2] X) => (float[2] Y) <float[2] W = {0.1, 70000}, bool C = {1}>
            { x = Cast <to = 10> (X) w = Cast <to = 10> (W) s = Mul (x, w)
              r = If <then_branch = t () => (float16[2] u) { one = ConstantOfShape <value = float[1] {2}> (N)
                        two = Cast <to = 10> (one) u = Add (s, two) },
                      else_branch = e () => (float16[2] v) { v = Neg (s) }> (D)
              N = Shape (x) D = Identity (C) Y = Cast <to = 1> (r) })");
        for (const TensorInfo& tensor : model.graph->tensors())
            QVERIFY2(tensor.type != DataType::Float16, tensor.name.c_str());
        // The weight is neither rounded nor infinite.
        QCOMPARE(run(model.graph, {2}, {1, 1}), (std::vector<float>{0.1f + 2, 70002}));
    }

    void networksInDoublePrecisionAreFloat32() {
        const LoadedModel model = textModel(R"(<ir_version: 8, opset_import: ["" : 17]>
            g (double[1,2] X) => (double[1,2] Y) <double[2,2] W = {0.1, 0, 0, 3}>
            { a = MatMul (X, W) r = Relu (a) f = Cast <to = 1> (r) d = Cast <to = 11> (f) Y = Neg (d) })");
        QVERIFY2(lines(model.notices).contains("float64"), qPrintable(lines(model.notices)));
        for (const TensorInfo& tensor : model.graph->tensors()) QCOMPARE(tensor.type, DataType::Float32);
        QCOMPARE(run(model.graph, {1, 2}, {1, 1}), (std::vector<float>{-0.1f, -3}));
        const LoadedModel node = textModel(R"(<ir_version: 8, opset_import: ["" : 17]>
            g (double[1,2] X) => (double[1,2] Y)
            { W = Constant <value = double[2,2] {0.5, 0, 0, 3}> () Y = MatMul (X, W) })");
        QCOMPARE(run(node.graph, {1, 2}, {1, 1}), (std::vector<float>{0.5f, 3}));
        const LoadedModel mask = textModel(R"(<ir_version: 8, opset_import: ["" : 17]>
            g (double[1,2] X) => (double[1,2] Y) <double M = {-1.7976931348623157e308},
            double[2,2] W = {1, 0, 0, 1}> { a = MatMul (X, W) Y = Mul (a, M) })");
        QCOMPARE(run(mask.graph, {1, 2}, {0, 1}),
                 (std::vector<float>{0, -std::numeric_limits<float>::max()}));
        // Computing in float64 within a float32 network stays exact, also if initializers are listed as
        // inputs.
        const LoadedModel part = textModel(R"(<ir_version: 8, opset_import: ["" : 17]>
            g (float[2] X) => (float[2] Y) <double[2] W = {0.1, 1}>
            { d = Cast <to = 11> (X) s = Mul (d, W) Y = Cast <to = 1> (s) })");
        QVERIFY2(!lines(part.notices).contains("float64"), qPrintable(lines(part.notices)));
        const LoadedModel listed = textModel(R"(<ir_version: 3, opset_import: ["" : 8]>
            g (float[2] X, double[2] W) => (float[2] Y) <double[2] W = {0.1, 1}>
            { d = Cast <to = 11> (X) s = Mul (d, W) Y = Cast <to = 1> (s) })");
        QVERIFY2(!lines(listed.notices).contains("float64"), qPrintable(lines(listed.notices)));
    }

    /// The bits of values in float16 are not those of values in float32.
    void bitsAreNotCastToOtherTypes() {
        const auto failure = [](const char* type) {
            const LoadedModel model = textModel(std::string(R"(<ir_version: 12, opset_import: ["" : 26]>
                    g (float16[2] X) => (Y) { x = Neg (X) Y = BitCast <to = )")
                                                    .append(type)
                                                    .append("> (x) }"));
            return errorOf([&] { run(model.graph, {2}, {1, 1}); });
        };
        for (const char* type : {"16", "4"})
            QVERIFY2(failure(type).contains("float16 is converted to float32"), qPrintable(failure(type)));
    }

    void storedInHalfPrecisionOnly() {
        const LoadedModel model = textModel(R"(<ir_version: 8, opset_import: ["" : 17]>
            g (float[1,2] X) => (float[1,2] Y) <float[2,2] W = {0.1, 0, 0, 1}>
            { h = Cast <to = 10> (W) t = Transpose (h) f = Cast <to = 1> (t) Y = MatMul (X, f) })");
        QVERIFY2(!lines(model.notices).contains("float16"), qPrintable(lines(model.notices)));
        QCOMPARE(run(model.graph, {1, 2}, {1, 1}), (std::vector<float>{roundToHalf(0.1f), 1}));
    }
};

QTEST_GUILESS_MAIN(HalfNetworksTest)
#include "half_networks_test.moc"
