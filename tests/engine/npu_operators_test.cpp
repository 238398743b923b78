// SPDX-License-Identifier: Apache-2.0
// The NPU's operator implementations compared with the factors and slopes that AMD Quark 0.11.2 wrote into
// small models.
#include "transform/npu_operators.h"

#include <QtTest>

#include "quantize/plan.h"
#include "support/small_graph.h"

using namespace quantloupe;
using test::constantOf;
using test::graph;
using test::ops;

namespace {

Prepared npu(const GraphPtr& source, const NpuOperators& options) {
    TransformOptions transforms;
    transforms.npuOperators = options;
    return prepare(source, transforms);
}

constexpr NpuOperators kAll{.averagePool = true, .leakyRelu = true, .sigmoid = true};

}  // namespace

class NpuOperatorsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void factorsEqualQuarks() {
        const auto square = [](std::int64_t side) { return npuMeanFactor(side, side, true); };
        QCOMPARE(square(3), 0.984375);  // as in its model
        QCOMPARE(square(2), 1.0);
        QCOMPARE(square(4), 1.0);
        QCOMPARE(square(8), 1.0);
        QCOMPARE(square(5), 0.9765625);
        QCOMPARE(square(6), 0.984375);
        QCOMPARE(square(7), 1.0048828125);
        QCOMPARE(square(14), 1.0048828125);
        QCOMPARE(square(256), 1.0);  // no such kernel
        // In a row they are searched: 1/25 is nearest to 82/2048, where the kernel of 5 x 5 has 10/256.
        QCOMPARE(npuMeanFactor(1, 25, false), 25 * 82.0 / 2048);
        QVERIFY(std::abs(square(9) - 1) < 0.005);
    }

    void averagePoolIsFusedWithItsFactor() {
        const GraphPtr source = graph(
            "(float[1,1,4,4] x) => (float[1,1,2,2] y) { p = AveragePool<kernel_shape = [3, 3]>(x)\n y = "
            "Relu(p) }");
        const Prepared p = npu(source, kAll);
        QCOMPARE(ops(*p.graph), QString("AveragePool Mul Relu"));
        QCOMPARE(constantOf(*p.graph, NodeId(1), 1), std::vector<float>{0.984375f});
        QCOMPARE(p.sourceOf[1], NodeId(0));
        QCOMPARE(p.sourceOf[2], NodeId(1));
        QCOMPARE(p.layerMappings[1].prepared, NodeId(2));
        QVERIFY(p.layerMappings[0].note.find("0.984375 times") != std::string::npos);
        QCOMPARE(test::run(p.graph, {1, 1, 4, 4}, std::vector<float>(16, 2.0f)),
                 std::vector<float>(4, 1.96875f));
        QCOMPARE(ops(*npu(source, {}).graph), QString("AveragePool Relu"));

        QuantizationConfig config;
        config.skipTail = false;
        const UnitList units = findUnits(p, resolveSkips(*source, config));
        QCOMPARE(units.units[0].activation, NodeId(1));
        QCOMPARE(p.graph->tensor(units.units[0].output).name, std::string("p"));
    }

    void meansOverPowersOfTwoStay() {
        const GraphPtr source =
            graph("(float[1,1,4,4] x) => (float[1,1,1,1] y) { y = GlobalAveragePool(x) }");
        QCOMPARE(ops(*npu(source, kAll).graph), QString("GlobalAveragePool"));
    }

    void unknownExtentsAreReported() {
        const GraphPtr source =
            graph("(float[1,1,H,W] x) => (float[1,1,1,1] y) { y = GlobalAveragePool(x) }");
        const Prepared p = npu(source, kAll);
        QCOMPARE(ops(*p.graph), QString("GlobalAveragePool"));
        QVERIFY(test::lines(p.notices).contains("the NPU's divisor is not simulated"));
    }

    void slopesOfLeakyReluAreRounded() {
        const Prepared p = npu(graph("(float[4] x) => (float[4] y) { y = LeakyRelu<alpha = 0.1>(x) }"), kAll);
        QCOMPARE(p.graph->node(NodeId(0)).attributes.real("alpha", 0), 0.1015625f);  // 26/256
    }

    void sigmoidBecomesHardSigmoid() {
        const Prepared p = npu(graph("(float[4] x) => (float[4] y) { y = Sigmoid(x) }"), kAll);
        QCOMPARE(ops(*p.graph), QString("HardSigmoid Mul"));
        QCOMPARE(constantOf(*p.graph, NodeId(1), 1), std::vector<float>{1.0001220703125f});
        const std::vector<float> y = test::run(p.graph, {4}, {-3.0f, 0.0f, 3.0f, 1.0f});
        QCOMPARE(y[0], 0.0f);
        QCOMPARE(y[1], 0.5f * 1.0001220703125f);
        QCOMPARE(y[2], 1.0001220703125f);
        QVERIFY(std::abs(y[3] - (2731.0f / 16384 + 0.5f * 1.0001220703125f)) < 1e-6f);
    }

    void skippedLayersAreLeftAlone() {
        const GraphPtr source =
            graph("(float[1,1,4,4] x) => (float[1,1,2,2] y) { y = AveragePool<kernel_shape = [3, 3]>(x) }");
        TransformOptions transforms;
        transforms.npuOperators = kAll;
        transforms.equalization.excludeSkipped = true;
        QCOMPARE(ops(*prepare(source, transforms, {true}).graph), QString("AveragePool"));
        QCOMPARE(ops(*prepare(source, transforms, {false}).graph), QString("AveragePool Mul"));
    }
};

QTEST_GUILESS_MAIN(NpuOperatorsTest)
#include "npu_operators_test.moc"
