// SPDX-License-Identifier: Apache-2.0
// Which tensors are quantized, and how: cases in which layers share a tensor, a parameter has an unusual
// shape, or a value does not fit.
#include "quantize/plan.h"

#include <QtTest/QtTest>

#include "quantize/refine/migrate_outliers.h"
#include "support/small_graph.h"

using namespace quantloupe;
using test::graph;
using test::lines;

namespace {

QuantizationConfig allLayers() {
    QuantizationConfig config;
    config.skipTail = false;
    return config;
}

/// All activations range from -1 to 3.
Plan planOf(Prepared prepared, const QuantizationConfig& config) {
    prepared.operators = config.quantization.operators;
    prepared.symmetricActivations = config.quantization.activation.symmetric;
    const auto shared = std::make_shared<const Prepared>(std::move(prepared));
    const UnitList units = findUnits(*shared, resolveSkips(*shared->source, config));
    Statistics statistics;
    for (const TensorId tensor : calibratedTensors(units))
        statistics[tensor].min = -1, statistics[tensor].max = 3;
    QuantizerCache cache;
    return resolvePlan(shared, units, statistics, config, cache);
}

Plan planOf(const QString& network, const QuantizationConfig& config, int opset = 13) {
    return planOf(prepare(graph(network, opset), config.transforms), config);
}

QString reasonFor(const Plan& plan, const char* node) {
    return QString::fromStdString(plan.units.reasons[plan.prepared->graph->findNode(node)->index()]);
}

}  // namespace

class PlanTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// A recurrent layer quantizes its input only. A setting of the layer that produces the input has
    /// priority.
    void recurrentLayersKeepTheSettingsOfTheirInput() {
        QuantizationConfig config = allLayers();
        config.layers["MatMul_0"].activationBits = 16;
        config.layers["GRU_1"].comment = "for later";
        const Plan plan = planOf(
            "(float[4,N,1] x) => (float[4,1,N,1] y) <float[1,1] w = {2}, float[1,3,1] u = {1, 2, 3}, "
            "float[1,3,1] r = {1, 2, 3}> { a = MatMul(x, w)\n y = GRU<hidden_size = 1>(a, u, r) }",
            config);
        const auto quantizer = plan.tensors.find(*plan.prepared->graph->findTensor("a"));
        QVERIFY(quantizer != plan.tensors.end());
        QCOMPARE(quantizer->second.quantMax - quantizer->second.quantMin, 65535);
    }

    /// A Gemm adds [N, 1] to the rows, not to the channels.
    void aColumnIsNoBiasPerChannel() {
        const QString network =
            "(float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 2, 3, 40}, float[2,1] c = {1, -2}, "
            "float[2,2] "
            "v = {1, 20, 3, 4}, float[2] d = {1, 2}> { a = Gemm(x, w, c)\n r = Relu(a)\n y = Gemm(r, v, d) }";
        QCOMPARE(reasonFor(planOf(network, allLayers()), "Gemm_0"),
                 QString("its bias does not have one value for each output channel"));
        const std::vector<float> input{1, 2, -3, 4};
        for (const EqualizationProfile profile :
             {EqualizationProfile::Aimet, EqualizationProfile::Quark, EqualizationProfile::Quantloupe}) {
            TransformOptions options;
            options.equalization.profile = profile;
            const Prepared p = prepare(graph(network), options);
            QVERIFY(test::deviation(test::run(p.graph, input), test::run(p.source, input)) < 1e-5);
        }
    }

    /// The channels of the Gemm become rows of the image.
    void nothingIsEqualizedPastAnAddThatAddsDimensions() {
        const GraphPtr network = graph(
            "(float[4,6] x) => (float[1,1,4,2] y) <float[6,2] w = {1, 2, 3, 40, 1, 2, 3, 4, 5, 6, 7, 8}, "
            "float[2] b = "
            "{1, 2}, float[1,2,1,1] k = {1, -2}, float[1,2,1,1] v = {1, 20}> "
            "{ a = Gemm(x, w, b)\n s = Add(a, k)\n y = Conv(s, v) }");
        TransformOptions options;
        options.equalization.profile = EqualizationProfile::Quantloupe;
        std::vector<float> input(24);
        for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 7) - 3;
        QVERIFY(test::deviation(test::run(prepare(network, options).graph, input),
                                test::run(network, input)) < 1e-5);
    }

    /// Nothing is moved into a bias that cannot take it, nor past factors of a Gemm.
    void highBiasesNeedOnePlainBiasPerChannel_data() {
        QTest::addColumn<QString>("attributes");
        QTest::addColumn<QString>("bias");
        QTest::newRow("one value") << ""
                                   << "float[1] c = {1}";
        QTest::newRow("column") << ""
                                << "float[2,1] c = {1, 2}";
        QTest::newRow("alpha") << "<alpha = 0.25>"
                               << "float[2] c = {1, 2}";
        QTest::newRow("beta") << "<beta = 2.0>"
                              << "float[2] c = {1, 2}";
    }
    void highBiasesNeedOnePlainBiasPerChannel() {
        QFETCH(QString, attributes);
        QFETCH(QString, bias);
        const GraphPtr network = graph(
            "(float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}, float[2] g "
            "= {0.5, 0.5}, float[2] s = {10, 10}, float[2] m = {0, 0}, float[2] q = {1, 1}, float[2,2] v = "
            "{1, 2, 3, 4}, " +
            bias + "> { a = Gemm(x, w, b)\n n = BatchNormalization(a, g, s, m, q)\n r = Relu(n)\n y = Gemm" +
            attributes + "(r, v, c) }");
        TransformOptions options;
        options.equalization.profile = EqualizationProfile::Quark;
        options.highBiasFold = true;
        const Prepared p = prepare(network, options);
        const std::vector<float> input{1, 2, -1, 4};  // no value is clipped
        QVERIFY2(test::deviation(test::run(p.graph, input), test::run(network, input)) < 1e-5,
                 qPrintable(lines(p.notices)));
    }

    /// Otherwise its factors would be rounded to 8 bits, and the outliers would determine a scale after all.
    void factorsOfMigrationStayInFloat() {
        for (const OperatorSet operators :
             {OperatorSet::Layers, OperatorSet::OnnxRuntime, OperatorSet::Quark}) {
            QuantizationConfig config = allLayers();
            config.quantization.operators = operators;
            Prepared p = prepare(graph("(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}> "
                                       "{ y = MatMul(x, w) }"),
                                 {});
            p.operators = operators;
            ChannelMaxima maxima;
            for (const TensorId tensor : migratableTensors(p)) maxima[tensor] = {800, 2};
            const Plan plan =
                planOf(migrateOutliers(std::move(p), maxima, 0.5, Placement::InputsAndOutputs), config);
            const Graph& migrated = *plan.prepared->graph;
            QCOMPARE(test::ops(migrated), QString("Mul MatMul"));
            QVERIFY(!plan.tensors.contains(migrated.inputs()[0]));
            QCOMPARE(reasonFor(plan, migrated.node(NodeId(0)).name.c_str()),
                     QString("it divides by the factors of outlier migration"));
        }
    }

    void biasesThatDoNotFitAreReported() {
        QuantizationConfig config = allLayers();
        config.quantization.operators = OperatorSet::OnnxRuntime;
        config.quantization.weight.bits = config.quantization.activation.bits = 16;
        const Plan plan = planOf(
            "(float[N,2] x) => (float[N,2] y) <float[2] g = {0.0001, 0.0001}, float[2] b = {100, "
            "-100}> { y = LayerNormalization(x, g, b) }",
            config, 17);
        QVERIFY2(lines(plan.notices).contains("2 bias values do not fit int32"),
                 qPrintable(lines(plan.notices)));
    }

    /// The bounds are computed when the network runs, so the Clip is not a unit.
    void aClipWithComputedBoundsGivesNoRange() {
        QuantizationConfig config = allLayers();
        config.quantization.operators = OperatorSet::OnnxRuntime;
        config.quantization.activation.symmetric = config.quantization.activation.isSigned = true;
        const Plan plan = planOf(
            "(float[N,2] x, float low) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, float six "
            "= {6}> { a = MatMul(x, w)\n y = Clip(a, low, six) }",
            config);
        QVERIFY(plan.tensors.contains(*plan.prepared->graph->findTensor("a")));
    }
};

QTEST_APPLESS_MAIN(PlanTest)
#include "plan_test.moc"
