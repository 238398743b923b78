// SPDX-License-Identifier: Apache-2.0
// Weights and biases as PyTorch's TorchScript exporter writes them: after Identity nodes, transposed at run
// time, shared between layers.
#include "transform/own_constants.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>
#include <cmath>

#include "config/layer_choices.h"
#include "data/dataset.h"
#include "data/numpy_file.h"
#include "model/load_model.h"
#include "quantize/plan.h"
#include "session/session.h"
#include "support/small_graph.h"
#include "support/text_model.h"
#include "transform/prepare.h"

using namespace quantloupe;
using test::graph;
using test::ops;
using test::run;

namespace {

/// Two linear layers that share weight and bias, the second through Identity nodes, and a weight that is
/// transposed at run time.
const QString kExported =
    R"((float[N,2] x) => (float[N,3] y) <float[2,2] w = {1, 2, 3, -4}, float[2] b = {0.5, -1}, float[3,2] tied = {1, 0, 2, 1, -1, 3}> {
    a = Gemm(x, w, b)
    b_1 = Identity(b)
    b_2 = Identity(b_1)
    w_1 = Identity(w)
    c = Gemm(a, w_1, b_2)
    t = Transpose<perm = [1, 0]>(tied)
    y = MatMul(c, t)
})";

QString statesOf(const GraphPtr& source, const QuantizationConfig& config) {
    const Prepared prepared = prepare(source, config.transforms);
    const SkipDecisions skips = resolveSkips(*source, config);
    QStringList states;
    for (const LayerResult& layer : layerStates(prepared, findUnits(prepared, skips), skips))
        states << QString::fromStdString(layer.op + " " + std::string(layerStateName(layer.state)));
    return states.join(", ");
}

QuantizationConfig everything() {
    QuantizationConfig config;
    config.skipTail = false;
    return config;
}

}  // namespace

class OwnConstantsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void identitiesOfInitializersAreNotLayers() {
        const GraphPtr g = graph(kExported);
        QCOMPARE(ops(*g), QString("Gemm Gemm Transpose MatMul"));
        // The values are shared, under the name that the layer reads.
        const TensorId first = g->node(NodeId(0)).input(2), second = g->node(NodeId(1)).input(2);
        QCOMPARE(g->tensor(second).name, std::string("b_2"));
        QCOMPARE(g->constantOf(first), g->constantOf(second));
    }

    void identityOfAnActivationOrOutputStays() {
        QCOMPARE(ops(*graph("(float[2] x) => (float[2] y, float[2] z) <float[2] w = {1, 2}> { i = "
                            "Identity(x)\n y = Add(i, w)\n z = Identity(w) }")),
                 QString("Identity Add Identity"));
    }

    void allLayersAreQuantized() {
        QCOMPARE(statesOf(graph(kExported), everything()),
                 QString("Gemm quantized, Gemm quantized, Transpose folded, MatMul quantized"));
    }

    void outputsDoNotChange() {
        const GraphPtr source = graph(kExported);
        const Prepared prepared = prepare(source, {});
        QCOMPARE(ops(*prepared.graph), QString("Gemm Gemm MatMul"));
        QCOMPARE(run(prepared.graph, {1, 2}, {0.5f, -2}), run(source, {1, 2}, {0.5f, -2}));
        QCOMPARE(prepared.layerMappings[2].note, std::string("precomputed: all its inputs are constant"));
    }

    void movedConstants_data() {
        QTest::addColumn<QString>("moves");
        QTest::addColumn<QString>("folded");
        const auto row = [](const char* moves, const char* folded) {
            QTest::newRow(moves) << moves << folded;
        };
        row("m = Identity(w)", "MatMul quantized");
        row("m = Reshape(w, shape)", "Reshape folded, MatMul quantized");
        row("h = Cast<to = 10>(w)\n m = Cast<to = 1>(h)", "Cast folded, Cast folded, MatMul quantized");
        row("u = Unsqueeze(w, zero)\n s = Squeeze(u, zero)\n m = Transpose<perm = [1, 0]>(s)",
            "Unsqueeze folded, Squeeze folded, Transpose folded, MatMul quantized");
        row("f = Flatten<axis = 1>(w)\n m = Identity(f)",
            "Flatten folded, Identity folded, MatMul quantized");
        row("a = Slice(w, zero, one)\n b = Slice(w, one, two)\n m = Concat<axis = 0>(b, a)",
            "Slice folded, Slice folded, Concat folded, MatMul quantized");
        row("a, b = Split<axis = 1>(w)\n m = Concat<axis = 1>(b, a)",
            "Split folded, Concat folded, MatMul quantized");
    }
    void movedConstants() {
        QFETCH(QString, moves);
        QFETCH(QString, folded);
        const GraphPtr source = graph(
            "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, -4}, int64[2] shape = {2, 2}, "
            "int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> { " +
            moves + "\n y = MatMul(x, m) }");
        QCOMPARE(statesOf(source, everything()), folded);
        QCOMPARE(run(prepare(source, {}).graph, {1, 2}, {0.5f, -2}), run(source, {1, 2}, {0.5f, -2}));
    }

    /// Nodes that cannot be computed stay and fail when they run; the others are still folded.
    void oneFailedFoldDoesNotPreventOthers() {
        const GraphPtr source = graph(
            "(float[N,2] x) => (float[N,2] y, float[N,2] z) <float[2,2] w = {1, 2, 3, -4}, int64[1] wrong = "
            "{3}> { "
            "t = Transpose<perm = [1, 0]>(w)\n y = MatMul(x, t)\n r = Reshape(w, wrong)\n z = Add(x, r) }");
        QVERIFY(statesOf(source, everything()).startsWith("Transpose folded, MatMul quantized, Reshape "));
        QCOMPARE(ops(*prepare(source, {}).graph), QString("MatMul Reshape Add"));
    }

    void everyReaderHasItsOwnConstant() {
        const GraphPtr g = withOwnConstants(
            graph("(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, float s = {2}> { a = "
                  "MatMul(x, w)\n b = MatMul(a, w)\n c = Mul(b, s)\n d = Mul(c, s)\n e = Clip(d, , s)\n y = "
                  "Clip(e, , s) }"));
        QCOMPARE(g->tensor(g->node(NodeId(0)).input(1)).name, std::string("w"));
        QCOMPARE(g->tensor(g->node(NodeId(1)).input(1)).name, std::string("w_1"));
        QCOMPARE(g->constantOf(g->node(NodeId(0)).input(1)), g->constantOf(g->node(NodeId(1)).input(1)));
        QCOMPARE(g->tensor(g->node(NodeId(2)).input(1)).name, std::string("s"));
        QCOMPARE(g->tensor(g->node(NodeId(3)).input(1)).name, std::string("s_1"));
        // Bounds are not quantized.
        QCOMPARE(g->node(NodeId(4)).input(2), g->node(NodeId(5)).input(2));
    }

    void filesShareConstantsAgain() {
        const GraphPtr g = graph(
            "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2,2] v = {1, 2, 3, 4}> { a "
            "= MatMul(x, w)\n b = MatMul(a, w)\n y = MatMul(b, v) }");
        const GraphPtr shared = withSharedConstants(withOwnConstants(g));
        QStringList names;
        for (const Node& node : shared->nodes())
            names << QString::fromStdString(shared->tensor(node.input(1)).name);
        QCOMPARE(names.join(' '), "w w v");
        QVERIFY(!shared->findTensor("w_1"));
        QCOMPARE(withSharedConstants(g), g);
    }

    /// Two products with the same factor, one in float, one with 16 bits, one with 8 bits: the preview and
    /// the exported model quantize the factor for each of them.
    void sharedFactorsAreQuantizedSeparately() {
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 17]> net (float[N,4] x) => (float[N,4] y) "
            "<float s = {0.7}> { a = Mul(x, s) b = Mul(a, s) c = Sigmoid(b) y = Mul(c, s) }");
        QTemporaryDir folder;
        const std::string file = folder.filePath("x.npz").toStdString();
        std::vector<float> values(16 * 4);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = std::sin(1.7f * static_cast<float>(i)) * 4;
        saveNpz({{"x", Constant::fromFloats({16, 4}, values)}}, file);
        const auto outputs = [&](LoadedModel network, const std::optional<QuantizationConfig>& config) {
            Session session(std::move(network));
            const DatasetPtr data = openDataset(file, inputSpecsOf(session.graph()), {});
            session.setData(data, data);
            const ConstantPtr output = session.outputs(config).at(0);
            return std::vector<float>(output->floats().begin(), output->floats().end());
        };
        QuantizationConfig config = everything();
        config.quantization.operators = OperatorSet::Quark;
        const auto names = [&](std::size_t node) { return model.graph->nodes()[node].name; };
        config = withPrecision(config, {names(0)}, precisionNamed("float32"));
        config = withPrecision(config, {names(1)}, precisionNamed("w16a16"));
        config = withPrecision(config, {names(3)}, precisionNamed("w8a8"));

        Session session{LoadedModel(model)};
        const DatasetPtr data = openDataset(file, inputSpecsOf(session.graph()), {});
        session.setData(data, data);
        LoadedModel exported;
        exported.graph = session.quantizedModel(config);
        int factors = 0;
        for (const Node& node : exported.graph->nodes())
            if (node.op == "DequantizeLinear")
                factors += exported.graph->constantOf(node.input(0)) != nullptr;
        QCOMPARE(factors, 2);  // the factor of the float layer is not quantized
        QCOMPARE(outputs(std::move(exported), std::nullopt), outputs(model, config));
    }

    void unsharedConstantsAreNotCopied() {
        const GraphPtr g =
            graph("(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}> { y = MatMul(x, w) }");
        QCOMPARE(withOwnConstants(g), g);
    }

    /// A batch norm is folded into one of two convolutions with the same weight: the other keeps it.
    void foldingChangesOnlyOneOfTheSharingLayers() {
        const GraphPtr source = graph(
            "(float[N,1,2,2] x) => (float[N,1,2,2] y) <float[1,1,1,1] w = {5}, float[1] v = {2}, float[1] g "
            "= {3}, float[1] m = {1}, float[1] z = {4}> { "
            "a = Conv(x, w, v)\n b = BatchNormalization<epsilon = 0.0>(a, g, v, m, z)\n y = Conv(b, w, v) }");
        const Prepared prepared = prepare(source, {});
        QCOMPARE(ops(*prepared.graph), QString("Conv Conv"));
        const std::vector<float> input{1, -2, 3, 0.5f};
        QCOMPARE(run(prepared.graph, {1, 1, 2, 2}, input), run(source, {1, 1, 2, 2}, input));
    }

    /// AIMET does not change shared weights; the copies for quantization are made later.
    void equalizationLeavesSharedWeightsAlone() {
        const GraphPtr source = graph(
            "(float[N,2,1,1] x) => (float[N,2,1,1] y) <float[2,2,1,1] w = {8, 1, 0.5, -0.25}, float[2,2,1,1] "
            "u = {1, 2, 3, 4}> { "
            "a = Conv(x, w)\n b = Conv(a, w)\n y = Conv(b, u) }");
        for (const auto profile :
             {EqualizationProfile::Aimet, EqualizationProfile::Quark, EqualizationProfile::Quantloupe}) {
            TransformOptions options;
            options.equalization.profile = profile;
            const Prepared prepared = prepare(source, options);
            QVERIFY(test::lines(prepared.notices).contains("is read by other layers, too"));
            QCOMPARE(test::constantOf(*prepared.graph, NodeId(0), 1),
                     test::constantOf(*source, NodeId(0), 1));
            QVERIFY(prepared.graph->node(NodeId(0)).input(1) != prepared.graph->node(NodeId(1)).input(1));
            QVERIFY(test::deviation(run(prepared.graph, {1, 2, 1, 1}, {1, -2}),
                                    run(source, {1, 2, 1, 1}, {1, -2})) < 1e-6);
        }
    }
};

QTEST_GUILESS_MAIN(OwnConstantsTest)
#include "own_constants_test.moc"
