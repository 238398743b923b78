// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulate counts computed by hand, and the reasons given if a shape is unknown.
#include "model/layer_cost.h"

#include <QtTest/QtTest>

#include "model/quantized_model.h"
#include "support/small_graph.h"

using namespace quantloupe;
using test::graph;

namespace {

std::uint64_t macsOf(const GraphPtr& g, std::size_t node, const MeasuredShapes& measured = {}) {
    const LayerCost cost = costOf(*g, g->node(NodeId(node)), measured);
    if (!cost.macsReason.empty()) qWarning("%s", cost.macsReason.c_str());
    return cost.macs;
}

MeasuredShapes shapes(const GraphPtr& g, std::initializer_list<std::pair<const char*, Dims>> known,
                      std::uint64_t samples) {
    std::unordered_map<TensorId, Dims> dims;
    for (const auto& [name, value] : known) dims.emplace(*g->findTensor(name), value);
    return {std::make_shared<const std::unordered_map<TensorId, Dims>>(std::move(dims)), samples};
}

const char* const kAttention =
    "(float[batch,tokens,4] x) => (float[batch,tokens,tokens] y) <float[4,6] w = "
    "{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6}, float[6] b = "
    "{1,2,3,4,5,6}> { q = MatMul(x, w)\n p = Add(q, b)\n t = Transpose<perm = [0, 2, 1]>(p)\n y = MatMul(p, "
    "t) }";

}  // namespace

class LayerCostTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// MACs are those of one sample, also if another dimension is dynamic.
    void fixedBatches() {
        for (const char* shape : {"4,tokens,3", "4,2,3"}) {
            const GraphPtr g =
                graph(QStringLiteral("(float[%1] x) => (float[4,2] y) <float[3,2] w = {1,2,3,4,5,6}> { r = "
                                     "ReduceMean<axes = [1], keepdims = 0>(x)\n y = MatMul(r, w) }")
                          .arg(shape));
            QCOMPARE(macsOf(g, 1), std::uint64_t(6));
        }
    }

    void operators() {
        const GraphPtr g = graph("(float[N,2,4,4] x) => (float[N,3] y) <float[6,1,3,3] w = {" +
                                 QStringList(QList<QString>(54, "1")).join(",") + "}, float[6,2,2,2] u = {" +
                                 QStringList(QList<QString>(48, "1")).join(",") +
                                 "}, float[3,4] f = {1,2,3,4,5,6,7,8,9,1,2,3}> { "
                                 "a = Conv<group = 2, kernel_shape = [3, 3]>(x, w)\n b = "
                                 "ConvTranspose<kernel_shape = [2, 2], strides = [2, 2]>(a, u)\n "
                                 "r = GlobalAveragePool(b)\n s = Flatten(r)\n c = Concat<axis = 1>(s, s)\n y "
                                 "= Gemm<transB = 1>(c, f) }");
        QCOMPARE(macsOf(g, 0), std::uint64_t(6 * 2 * 2 * 9));
        QCOMPARE(macsOf(g, 1), std::uint64_t(6 * 2 * 2 * 2 * 4));
        QCOMPARE(macsOf(g, 2), std::uint64_t(0));
        QCOMPARE(macsOf(g, 5), std::uint64_t(3 * 4));
    }

    void einsum() {
        const auto macs = [](const char* equation, const char* output) {
            return macsOf(graph(QStringLiteral("(float[N,2,3,4] q, float[N,2,5,4] k) => (float[%1] y) { y = "
                                               "Einsum<equation = \"%2\">(q, k) }")
                                    .arg(output, equation)),
                          0);
        };
        for (const char* equation : {"bhqd,bhkd->bhqk", "bhqd, bhkd -> bhqk", "...qd,...kd->...qk"})
            QCOMPARE(macs(equation, "N,2,3,5"), std::uint64_t(2 * 3 * 5 * 4));
        QCOMPARE(macs("bhqd,bhkd->bqk", "N,3,5"), std::uint64_t(3 * 5 * 2 * 4));
        QCOMPARE(macs("bhqd,bhkd", "3,5"), std::uint64_t(3 * 5 * 2 * 4));
    }

    /// The scales of a Resize are no parameters of the network.
    void resize() {
        const GraphPtr g = graph(
            "(float[N,2,4,4] x) => (float[N,2,8,8] y) <float[4] s = {1, 1, 2, 2}> { y = "
            "Resize(x, , s) }");
        QVERIFY(parametersOf(*g, g->node(NodeId(0))).empty());
    }

    void attention() {
        const GraphPtr g = graph(
            "(float[N,3,8] q, float[N,5,4] k, float[N,5,2] v, float[N,1,6,4] past, float[N,1,6,2] old) => "
            "(float[N,3,4] y) { y = Attention<q_num_heads = 2, kv_num_heads = 1>(q, k, v, , past, old) }",
            23);
        QCOMPARE(macsOf(g, 0), std::uint64_t((3 * 8 + 3 * 4) * (5 + 6)));
    }

    void integerOperators() {
        const GraphPtr g = graph(
            "(float[N,2,4,4] x) => (float[N,3] y) <float s = {0.1}, uint8 z = {0}, float[2] t = {0.1, 0.2}, "
            "int8[2] v = {0, 0}, int8[2,2,3,3] w = {" +
                QStringList(QList<QString>(36, "1")).join(",") +
                "}, int32[2] b = {1, 2}, int8[2,3] m = {1,2,3,4,5,6}, int8[3] f = {0, 0, 0}, float[3] u = "
                "{0.1, 0.2, 0.3}> { q = QuantizeLinear(x, s, z)\n "
                "c = QLinearConv<kernel_shape = [3, 3]>(q, s, z, w, t, v, s, z, b)\n "
                "r = DequantizeLinear(c, s, z)\n p = GlobalAveragePool(r)\n a = Flatten(p)\n "
                "k = QuantizeLinear(a, s, z)\n d = DequantizeLinear(k, s, z)\n "
                "e = DequantizeLinear<axis = 1>(m, u, f)\n y = MatMul(d, e) }",
            13);
        const auto parametersOf = [&](std::size_t node) {
            return costOf(*g, g->node(NodeId(node))).parameters;
        };
        QCOMPARE(macsOf(g, 1), std::uint64_t(2 * 2 * 2 * 18));
        QCOMPARE(parametersOf(1), std::uint64_t(36 + 2));
        QCOMPARE(macsOf(g, 8), std::uint64_t(2 * 3));
        QCOMPARE(parametersOf(7), std::uint64_t(6));
        for (const std::size_t other : {0, 2, 5, 8}) QCOMPARE(parametersOf(other), std::uint64_t(0));
    }

    /// A layer with float weights or with another input in float is computed in float.
    void quantizedNodesReadOnlyCodes() {
        const GraphPtr g = graph(
            "(float[N,2] x, float[N,2] o) => (float[N,2] y) <float s = {0.1}, int8 z = {0}, int8[2,2] w = "
            "{1, 2, 3, 4}, float[2,2] f = {1, 2, 3, 4}, float[2] v = {1, 2}> { q = QuantizeLinear(x, s, z)\n "
            "d = DequantizeLinear(q, s, z)\n e = DequantizeLinear(w, s, z)\n a = Gemm(d, e)\n r = Relu(a)\n "
            "b = Gemm(d, f)\n c = Add(d, o)\n g = Add(b, c)\n h = Add(r, g)\n k = Transpose(e)\n "
            "l = Gemm(d, k, v)\n m = Shape(d)\n n = Reshape(d, m)\n y = Mul(n, s)\n }");
        QStringList quantized;
        const std::vector<bool> found = quantizedNodes(*g);
        for (std::size_t i = 0; i < g->nodeCount(); ++i)
            if (found[i]) quantized << QString::fromStdString(g->tensor(g->node(NodeId(i)).output()).name);
        QCOMPARE(quantized.join(' '), QString("q d e a r k l n"));
    }

    void recurrentLayers() {
        const GraphPtr g = graph(
            "(float[7,N,2] x) => (float[7,1,N,1] y) <float[1,4,2] w = {1,2,3,4,5,6,7,8}, float[1,4,1] r = "
            "{1,2,3,4}> { y = LSTM<hidden_size = 1>(x, w, r) }");
        QCOMPARE(macsOf(g, 0), std::uint64_t(7 * (8 + 4)));
    }

    void aSymbolOfTheInputsCountsAsOne() {
        const GraphPtr g = graph(kAttention);
        const LayerCost cost = costOf(*g, g->node(NodeId(0)));
        QCOMPARE(cost.macs, std::uint64_t(4 * 6));
        QVERIFY(cost.assumed);
        QVERIFY(cost.macsReason.empty());
    }

    /// The product is fused into the sum, so only the sum's shape was measured.
    void measuredShapesReplaceSymbols() {
        const GraphPtr g = graph(kAttention);
        const MeasuredShapes measured =
            shapes(g, {{"x", {2, 5, 4}}, {"p", {2, 5, 6}}, {"t", {2, 6, 5}}, {"y", {2, 5, 5}}}, 2);
        QCOMPARE(macsOf(g, 0, measured), std::uint64_t(5 * 6 * 4));
        QCOMPARE(macsOf(g, 3, measured), std::uint64_t(5 * 5 * 6));
    }

    void anUnknownShapeIsNotZero() {
        const GraphPtr g = graph(
            "(float[N,tokens,4] x, int64[2] s) => (float[A,B] y) <float[4,2] w = {1,2,3,4,5,6,7,8}> { r = "
            "Reshape(x, s)\n y = MatMul(r, w) }");
        const LayerCost cost = costOf(*g, g->node(NodeId(1)));
        QVERIFY(!cost.macsReason.empty());
        QCOMPARE(cost.macs, std::uint64_t(0));
    }

    /// The unknown dimension of the input of an image network's Gemm is the batch.
    void theBatchIsOne() {
        const GraphPtr g = graph(
            "(float[N,2,1,1] x) => (float[M,3] y) <float[3,2] w = {1,2,3,4,5,6}> { f = Flatten(x)\n y = "
            "Gemm<transB = 1>(f, w) }");
        QCOMPARE(macsOf(g, 1), std::uint64_t(6));
        QVERIFY(!costOf(*g, g->node(NodeId(1))).assumed);
    }

    void aFixedBatchIsDivided() {
        const GraphPtr g =
            graph("(float[5,2] x) => (float[5,3] y) <float[2,3] w = {1,2,3,4,5,6}> { y = MatMul(x, w) }");
        QCOMPARE(macsOf(g, 0), std::uint64_t(6));
    }

    /// Windows of an image are further samples for the layer.
    void aMultipleOfTheBatchIsNotTheBatch() {
        const GraphPtr g = graph(
            "(float[N,4,6] x) => (float[M,2,3] y) <int64[3] s = {-1, 2, 6}, float[6,3] w = "
            "{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9}> { r = Reshape(x, s)\n y = MatMul(r, w) }");
        QCOMPARE(macsOf(g, 1), std::uint64_t(4 * 6 * 3));
        QVERIFY(!costOf(*g, g->node(NodeId(1))).guessed);
    }

    /// Only the shape of the input was measured: the output has the size of one sample.
    void unmeasuredOutputsAreNotDivided() {
        const GraphPtr g = graph(
            "(float[N,3,2] x) => (float[N,3,4] y) <float[2,4] w = {1,2,3,4,5,6,7,8}> { y = MatMul(x, w) }");
        QCOMPARE(macsOf(g, 0, shapes(g, {{"x", {8, 3, 2}}}, 8)), std::uint64_t(3 * 4 * 2));
    }

    /// As in Swin V2: the bias is computed, and shape inference stops at the input.
    void productsBeforeAComputedBias() {
        const GraphPtr g = graph(
            "(float[N,6] x, int64[3] s, float[4] b) => (float[A,B,4] y) <float[2,4] w = "
            "{1,2,3,4,5,6,7,8}> { r = Reshape(x, s)\n p = MatMul(r, w)\n n = Neg(b)\n y = Add(n, p) }");
        QCOMPARE(macsOf(g, 1, shapes(g, {{"x", {8, 6}}, {"r", {8, 3, 2}}}, 8)), std::uint64_t(3 * 4 * 2));
    }

    /// The convolution and the sigmoid are fused into the product.
    void swishIsFollowed() {
        const GraphPtr g = graph(
            "(float[N,1,H,W] x) => (float[N,1,H,W] y) <float[1,1,1,1] w = {2}> { a = Conv(x, w)\n "
            "s = Sigmoid(a)\n y = Mul(a, s) }");
        QCOMPARE(macsOf(g, 0, shapes(g, {{"x", {2, 1, 3, 5}}, {"y", {2, 1, 3, 5}}}, 2)), std::uint64_t(15));
    }

    void parametersBehindOperators() {
        const GraphPtr g = graph(
            "(float[7,1,2] x, float[1,2] z) => (float[7,1,1,1] y, float[1,2] o) <float[4,2] w = "
            "{1,2,3,4,5,6,7,8}, "
            "float[1,4,1] r = {1,2,3,4}, int64[1] a = {0}, int64[1] b = {1}, int64[1] e = {4}, "
            "double[2,2] h = {1, 2, 3, 4}> "
            "{ p = Slice(w, a, b)\n q = Slice(w, b, e)\n c = Concat<axis = 0>(q, p)\n u = Unsqueeze(c, a)\n "
            "y = LSTM<hidden_size = 1>(x, u, r)\n f = Cast<to = 1>(h)\n o = MatMul(z, f) }");
        std::uint64_t sum = 0;
        for (const Node& node : g->nodes()) sum += costOf(*g, node).parameters;
        QCOMPARE(sum, std::uint64_t(8 + 4 + 4));
        QCOMPARE(parametersOf(*g, g->node(*g->findNode("LSTM_4"))).size(), 2u);
    }
};

QTEST_GUILESS_MAIN(LayerCostTest)
#include "layer_cost_test.moc"
