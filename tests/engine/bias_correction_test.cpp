// SPDX-License-Identifier: Apache-2.0
// Moments of clipped Gaussians compared with numerical integration; batch-norm statistics and corrected
// biases computed by hand.
#include "quantize/refine/bias_correction.h"

#include <QtTest/QtTest>
#include <cmath>
#include <numbers>

#include "quantize/refine/channel_moments.h"
#include "quantize/refine/refine_layers.h"
#include "support/small_graph.h"

using namespace quantloupe;
using test::graph;
using test::list;

namespace {

// Channel 0 has mean 1 and deviation 2, channel 1 mean -1 and deviation 0.5.
const QString kNormed =
    "(float[N,2,4,4] x) => (float[N,2,4,4] y) <float[2,2,1,1] w1 = {1, 2, 3, 4}, float[2] g = {2, -0.5}, "
    "float[2] be = {1, -1}, float[2] mu = {3, 4}, float[2] va = {4, 4}, float[2,2,1,1] w2 = {1, 0.3, -0.6, "
    "1}, "
    "float[2] b2 = {0, 0.5}> { a = Conv(x, w1)\n n = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va)\n "
    "r = Relu(n)\n y = Conv(r, w2, b2) }";

}  // namespace

class BiasCorrectionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void clippedGaussians() {
        for (const double mean : {-2.0, 0.0, 0.3, 5.0})
            for (const double deviation : {0.01, 1.0, 3.0})
                for (const auto& [low, high] :
                     {std::pair(0.0, double(INFINITY)), {0.0, 6.0}, {-1.0, 1.0}, {-double(INFINITY), 2.0}}) {
                    double sum = 0, squares = 0;
                    constexpr int kSteps = 400000;
                    for (int i = 0; i < kSteps; ++i) {
                        const double z = (i + 0.5) / kSteps * 20 - 10;
                        const double weight =
                            std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) * 20 / kSteps;
                        const double x = std::clamp(mean + deviation * z, low, high);
                        sum += weight * x;
                        squares += weight * x * x;
                    }
                    double m = mean, v = deviation * deviation;
                    clipGaussian(low, high, m, v);
                    QVERIFY2(std::fabs(m - sum) < 1e-6 && std::fabs(v - (squares - sum * sum)) < 1e-5,
                             qPrintable(QString("N(%1, %2) in %3..%4: %5, %6")
                                            .arg(mean)
                                            .arg(deviation)
                                            .arg(low)
                                            .arg(high)
                                            .arg(m)
                                            .arg(v)));
                }
        double mean = 7, variance = 0;
        clipGaussian(0, 6, mean, variance);
        QCOMPARE(mean, 6.0);
    }

    void momentsFollowFromBatchNorms() {
        TransformOptions options;
        const auto p = prepare(graph(kNormed), options);
        const auto moments = momentsFromBatchNorms(p);
        const auto& normed = moments[p.graph->findTensor("n")->index()];
        QCOMPARE(list(normed.mean), QString("1 -1"));
        QCOMPARE(list(normed.variance), QString("4 0.25"));
        // beta Phi(beta/gamma) + gamma phi(beta/gamma)
        QCOMPARE(list(moments[p.graph->findTensor("r")->index()].mean, 5), QString("1.3956 0.0042454"));
        QVERIFY(!moments[p.graph->findTensor("y")->index()].known());
        options.foldBatchNorm = false;
        QVERIFY(!momentsFromBatchNorms(prepare(graph(kNormed), options))[0].known());
    }

    /// Equalization divides means and deviations; the high-bias fold subtracts from means.
    void statisticsFollowTheTransforms() {
        TransformOptions options;
        options.equalization.profile = EqualizationProfile::Aimet;
        const auto p = prepare(graph(kNormed), options);
        const auto& factors = p.junctions.at(0).factors;
        QCOMPARE(list(factors, 5), QString("1.4142 1"));
        for (std::size_t c = 0; c < 2; ++c) {
            QCOMPARE(p.outputStatistics[0].beta[c] * factors[c], c == 0 ? 1.0f : -1.0f);
            QCOMPARE(p.outputStatistics[0].gamma[c] * factors[c], c == 0 ? 2.0f : -0.5f);
        }
        options.highBiasFold = true;
        const auto unchanged = prepare(graph(kNormed), options);
        QVERIFY(std::ranges::count(unchanged.notices,
                                   "the high-bias fold changed nothing, because no bias is high") == 1);
        const auto folded = prepare(graph(QString(kNormed).replace("g = {2,", "g = {0.25,")), options);
        // 1 - 3 * 0.25 of channel 0 went into the next bias.
        QCOMPARE(folded.outputStatistics[0].beta[0] * folded.junctions[0].factors[0], 0.75f);
        QCOMPARE(folded.outputStatistics[0].beta[1] * folded.junctions[0].factors[1], -1.0f);
    }

    /// A batch norm after MatMul and Add is folded into both; the Add has its statistics.
    void statisticsOfAnAddAreEqualized() {
        TransformOptions options;
        options.equalization.profile = EqualizationProfile::Quantloupe;
        const Prepared p = prepare(
            test::graph(
                "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}, "
                "float[2] g = "
                "{2, 0.5}, float[2] s = {3, -1}, float[2] m = {0, 0}, float[2] v = {1, 1}, float[2,2] u = "
                "{10, 20, 0.5, 4}, float[2] d = {1, 2}> { a = MatMul(x, w)\n c = Add(a, b)\n n = "
                "BatchNormalization<epsilon = 0.0>(c, g, s, m, v)\n r = Relu(n)\n y = Gemm(r, u, d) }"),
            options);
        QCOMPARE(p.junctions.size(), std::size_t(1));
        const std::vector<float>& factors = p.junctions[0].factors;
        QVERIFY(factors[0] != 1.0f && factors[1] != 1.0f);
        const OutputStatistics& statistics = p.outputStatistics[p.graph->findNode("Add_1")->index()];
        QVERIFY(statistics.known());
        for (std::size_t c = 0; c < 2; ++c) {
            QVERIFY(std::abs(statistics.beta[c] * factors[c] - (c == 0 ? 3.0f : -1.0f)) < 1e-6f);
            QVERIFY(std::abs(statistics.gamma[c] * factors[c] - (c == 0 ? 2.0f : 0.5f)) < 1e-6f);
        }
    }

    void correctedBiases() {
        QuantizationConfig config;
        config.quantization.weight.bits = 2;  // -1, 0, 1 times the largest weight
        config.skipTail = false;
        const auto p = std::make_shared<const Prepared>(prepare(graph(kNormed), {}));
        const UnitList units = findUnits(*p, resolveSkips(*p->source, config));
        Statistics statistics;
        for (const TensorId tensor : calibratedTensors(units)) statistics[tensor].max = 4;
        QuantizerCache cache;
        const Plan plan = resolvePlan(p, units, statistics, config, cache);
        const auto rounded = plan.quantizers[1].weight->dequantized->floats();
        QCOMPARE(whyBiasStays(*p->graph, units.units[1]), std::string());
        // 0.3 becomes 0: 0.3 * 100 is lost; -0.6 becomes -1: -0.4 * 10 is added.
        QCOMPARE(list(biasForMeans(*p->graph, units.units[1], rounded, {10, 100})), QString("30 4.5"));
        QVERIFY(biasForMeans(*p->graph, units.units[1], rounded, {10, 100, 1}).empty());

        // The complete correction: means of the Relu's output from momentsFollowFromBatchNorms(); those of
        // the input are unknown.
        std::vector<std::string> notices;
        RefinementCache found;
        const Workers workers(1);
        const RunControl control{workers, {}, {}};
        RefineOptions options;
        options.biasCorrection = BiasCorrection::Analytic;
        const RefineContext context{.samples = nullptr,
                                    .bind = {},
                                    .versionOf = {},
                                    .cache = found,
                                    .takeLatest = false,
                                    .control = control};
        const Refinements refined = refineLayers(plan, options, context, notices);
        QCOMPARE(refined.biases.size(), std::size_t(1));
        QVERIFY(refined.weights.empty());
        const auto bias = refined.biases.at(units.units[1].bias)->floats();
        QVERIFY(std::fabs(bias[0] - 0.3 * 0.0042454) < 1e-6);
        QVERIFY(std::fabs(bias[1] - (0.5 + 0.4 * 1.3956)) < 1e-4);
        QCOMPARE(notices.size(), std::size_t(1));
        QVERIFY(QString::fromStdString(notices[0]).startsWith("bias correction leaves out 1 layer:"));
        const Plan corrected = resolvePlan(p, units, statistics, config, cache, refined);
        QVERIFY(corrected.version != plan.version);
        const float scale = corrected.quantizers[1].bias->scales[0];
        QVERIFY(std::fabs(corrected.quantizers[1].bias->dequantized->floats()[1] - bias[1]) <= scale / 2);
        QCOMPARE(corrected.quantizers[0].version.hex(), plan.quantizers[0].version.hex());
    }
};

QTEST_GUILESS_MAIN(BiasCorrectionTest)
#include "bias_correction_test.moc"
