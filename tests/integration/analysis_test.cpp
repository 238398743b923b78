// SPDX-License-Identifier: Apache-2.0
// Metrics of layers in addition to an evaluation, on networks small enough to compute by hand
// (support/two_bit_network.h), and on the demo. (Details of layers and samples: layer_details_test.)
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

#include "config/presets.h"
#include "data/random_dataset.h"
#include "session/stages/layer_metrics.h"
#include "session/stages/user_metrics.h"
#include "session/studies/compare_configs.h"
#include "session/studies/layer_details.h"
#include "support/demo.h"
#include "support/errors.h"
#include "support/two_bit_network.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

const LayerMetrics& of(const Session& session, const std::vector<LayerMetrics>& all, std::string_view layer) {
    for (const LayerMetrics& metrics : all)
        if (session.graph().node(metrics.node).name == layer) return metrics;
    throw std::runtime_error("no metrics of " + std::string(layer));
}

}  // namespace

class AnalysisTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<Session> m_small, m_demo;

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        m_small = openTwoBitNetwork();
        m_demo = openDemo({0, 60, 20});
    }

    void weightsNeedNoData() {
        Session session(
            opset13("g (float[N,2] X) => (float[N,2] Y) <float[2,2] W = {1, 0.4, 0.6, -1}> "
                    "{ Y = MatMul(X, W) }"));
        const auto result = session.evaluate(twoBits(), Depth::States);
        QVERIFY(!result->quantized && !result->randomInputs);
        const auto& weight = result->layers[0].weight;
        QVERIFY(weight.has_value());
        QVERIFY(near(weight->qs, 0.35634832));  // sqrt(0.32 / 2.52)
        QVERIFY(near(weight->sqnrDb, 8.96250562));
        QVERIFY(near(weight->cosine, 0.94561086));  // 2.6 / sqrt(3 * 2.52)
        // A skipped layer: as if it were quantized. Eight bits are finer.
        QuantizationConfig skipped = twoBits();
        skipped.skipTail = skipped.wholeTail = true;
        QCOMPARE(session.evaluate(skipped, Depth::States)->layers[0].weight->qs, weight->qs);
        skipped.quantization.weight.bits = 8;
        QVERIFY(session.evaluate(skipped, Depth::States)->layers[0].weight->qs < 0.01);
    }

    void npuOperatorsAreASeparateStep() {
        Session session(
            opset13("g (float[N,2,3,3] X) => (float[N,2] "
                    "Y) <float[2,2,1,1] W = {1, -2, 0.5, 1}> "
                    "{ a = Conv(X, W)\n b = LeakyRelu<alpha = 0.123>(a)\n c = GlobalAveragePool(b)\n "
                    "Y = Flatten(c) }"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 16, 2));
        QuantizationConfig config = twoBits();
        config.quantization.weight.bits = 8;
        config.transforms.npuOperators = {.averagePool = true, .leakyRelu = true};
        const auto stepsOf = [&] {
            std::map<std::string, double> steps;
            for (const AccuracyStep& step : session.accuracyPath(config))
                steps[step.name] = step.accuracy.sqnrDb.value_or(0);
            return steps;
        };
        const auto steps = stepsOf();
        QVERIFY(steps.contains("NPU operators replaced"));
        QVERIFY(steps.at("batch norms folded") > 100);
        QVERIFY(steps.at("NPU operators replaced") < 60);
        const EvaluationPtr evaluation = session.evaluate(config);
        for (const std::string& notice : evaluation->notices)  // the difference is intended
            QVERIFY2(notice.find("do not trust") == std::string::npos, notice.c_str());
        config.transforms.npuOperators = {};
        QVERIFY(!stepsOf().contains("NPU operators replaced"));
    }

    void everyWeightedLayerHasASensitivity() {
        const auto model = loadModel(demoFolder() / "mobilenetv2_cifar10.onnx");
        Session demo(model);
        const auto states = demo.evaluate(demoConfig(), Depth::States);
        std::size_t weighted = 0;
        for (const LayerResult& item : states->layers) {
            QCOMPARE(item.weight.has_value(), item.op == "Conv" || item.op == "Gemm");
            weighted += item.weight.has_value() ? 1 : 0;
        }
        QCOMPARE(weighted, std::size_t{53});
    }

    void randomInputsAreMarked() {
        Session session(loadModel(demoFolder() / "mobilenetv2_cifar10.onnx"));
        session.useRandomInputs(6);
        QVERIFY(session.randomInputs() && session.hasData());
        const auto result = session.evaluate(demoConfig());
        QVERIFY(result->randomInputs);
        QCOMPARE(result->samples, std::size_t{6});
        QCOMPARE(result->calibrationSamples, std::size_t{6});
        QVERIFY(result->quantized->sqnrDb && result->quantized->agreement && !result->quantized->top1);
        QVERIFY(std::any_of(result->notices.begin(), result->notices.end(), [](const auto& text) {
            return text.find("random inputs") != std::string::npos;
        }));
        const auto& conv = test::layerNamed(*result, "/features/features.1/conv/conv.1/Conv");
        QVERIFY(conv.local && conv.cumulative && conv.weight);
        Session again(loadModel(demoFolder() / "mobilenetv2_cifar10.onnx"), {1});
        again.useRandomInputs(6);
        QCOMPARE(*again.evaluate(demoConfig())->quantized->sqnrDb, *result->quantized->sqnrDb);
        const auto data = rows(*m_small, {1, 2}, {1, 2});
        m_small->setData(data, data);
        QVERIFY(!m_small->evaluate(twoBits())->randomInputs);
        initTestCase();
    }

    void onlyWeights() {
        LayerMetricsOptions options{QuantizedParts::Weights, MetricReference::Prepared, true, {}};
        const auto all = measureLayers(*m_small, twoBits(), options);
        const TensorDifference& d = *of(*m_small, all, "MatMul_0").local;
        QVERIFY(near(d.qs, 0.343247022));
        QVERIFY(near(d.maxAbsolute, 80));
        QVERIFY(near(*d.accumulatedRelative, 1.2879013));
        // The second layer's weight is exact: nothing locally, the first one's error cumulatively.
        QCOMPARE(of(*m_small, all, "MatMul_1").local->qs, 0.0);
        QVERIFY(near(of(*m_small, all, "MatMul_1").cumulative->qs, 0.343247022));
    }

    /// Recurrent layers have weights, too.
    void onlyWeightsOfARecurrentLayer() {
        Session session(
            opset13("g (float[2,batch,1] X) => (float[1,batch,1] H) <float[1,4,1] W = {1, -0.3, 0.5, 0.2}, "
                    "float[1,4,1] R = {0.3, 0.7, -1, 0.1}> { Y, H = LSTM<hidden_size = 1>(X, W, R) }"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 16, 2));
        QuantizationConfig config = twoBits();
        config.skipTail = false;
        LayerMetricsOptions options{QuantizedParts::Weights, MetricReference::Prepared, true, {}};
        const LayerMetrics lstm = of(session, measureLayers(session, config, options), "LSTM_0");
        QVERIFY2(lstm.local && lstm.local->qs > 0.01, lstm.reason.c_str());
        QCOMPARE(lstm.local->qs, lstm.cumulative->qs);
        // W becomes {1, 0, 0, 0}, and R {0, 1, -1, 0}.
        const EvaluationPtr evaluation = session.evaluate(config, Depth::Accuracy);
        const auto& weights = evaluation->layers[0].weight;
        QVERIFY(weights && near(weights->qs, std::sqrt(0.57 / 2.97)));
        const LayerDetails details = layerDetails(session, config, "LSTM_0", 16);
        QVERIFY(details.weightDifference);
        QCOMPARE(details.weightDifference->qs, weights->qs);
    }

    void onlyActivations() {
        LayerMetricsOptions options{QuantizedParts::Activations, MetricReference::Prepared, true, {}};
        const auto all = measureLayers(*m_small, twoBits(), options);
        const TensorDifference& d = *of(*m_small, all, "MatMul_0").local;
        QVERIFY(near(d.qs, 0.367157406));
        QVERIFY(near(d.meanAbsolute, 29.615));
        QVERIFY(near(*d.accumulatedRelative, 1.2272741));
        QVERIFY(near(*d.maxRelative, 0.4423077));
    }

    void everyFormulaOfALayer() {
        LayerMetricsOptions options;
        options.elementwise = true;
        const auto all = measureLayers(*m_small, twoBits(), options);
        for (const auto& metrics :
             {of(*m_small, all, "MatMul_0").local, of(*m_small, all, "MatMul_0").cumulative,
              of(*m_small, all, "MatMul_1").cumulative}) {
            const TensorDifference& d = *metrics;
            QVERIFY(near(d.qs, 0.316383107));
            QVERIFY(near(d.cosine, 0.969928061));
            QVERIFY(near(d.maxAbsolute, 73.4));
            QVERIFY(near(d.meanAbsolute, 20.615));
            QVERIFY(near(d.rootMeanSquare, 36.873792));
            QVERIFY(near(d.relativeEuclidean, 0.316383107));
            QVERIFY(near(d.absoluteL2, 73.747583));
            QVERIFY(near(*d.accumulatedRelative, 1.2660001));
            QVERIFY(near(*d.meanRelative, 1.2660001 / 4));
            QVERIFY(near(*d.maxRelative, 0.4423077));
            QVERIFY(near(d.testedMean, 0));
            QVERIFY(near(d.testedDeviation, 89.4846356));
            QVERIFY(near(d.referenceMean, -20.155));
            QVERIFY(near(d.referenceDeviation, 114.791953));
            QCOMPARE(*d.klDivergence, 0.0);  // two elements: both scale to 0 and 1
        }
        // The expensive metrics exist only on request; the others equal those of an evaluation.
        const auto evaluated = m_small->evaluate(twoBits());
        QVERIFY(!evaluated->layers[0].local->klDivergence &&
                !evaluated->layers[0].local->accumulatedRelative);
        QCOMPARE(evaluated->layers[0].local->qs, of(*m_small, all, "MatMul_0").local->qs);
    }

    void metricsOfTheDemoEqualTheEvaluation() {
        const auto evaluated = m_demo->evaluate(demoConfig());
        std::size_t compared = 0;
        for (const LayerMetrics& metrics : measureLayers(*m_demo, demoConfig(), {})) {
            const LayerResult& known = evaluated->layers[metrics.node.index()];
            QCOMPARE(metrics.local->qs, known.local->qs);
            QCOMPARE(metrics.cumulative->sqnrDb, known.cumulative->sqnrDb);
            ++compared;
        }
        QCOMPARE(compared, std::size_t{65});
    }

    void sourceAsReference() {
        QuantizationConfig config = demoConfig();
        config.transforms.replaceRelu6 = ReplaceRelu6::All;
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        // nothing is quantized
        for (const char* op : {"Conv", "Gemm", "Add", "GlobalAveragePool", "Flatten"}) {
            SkipRule rule;
            rule.kind = SkipKind::Type;
            rule.op = op;
            config.rules.push_back(rule);
        }
        LayerMetricsOptions options;
        options.reference = MetricReference::Source;
        const auto all = measureLayers(*m_demo, config, options);
        // Batch norms folded, equalized, and Relu for Clip(0, 6), which is nearly exact on this network: the
        // remaining difference is rounding, although the equalized tensors differ from the source's by their
        // factors.
        for (const LayerMetrics& metrics : all) {
            QVERIFY2(metrics.cumulative && metrics.cumulative->qs < 0.02,
                     m_demo->graph().node(metrics.node).name.c_str());
        }
        const auto prepared = m_demo->prepare(config);
        QVERIFY(!prepared->sets.empty());
        float largest = 0;
        for (const EqualizationSet& set : prepared->sets)
            for (const float factor : set.factors[0]) largest = std::max(largest, std::abs(std::log(factor)));
        QVERIFY(largest > 0.5f);  // the factors are not 1: without them the check above would fail

        // The values that the high-bias fold moved are unknown, so junctions have no counterpart and report
        // this.
        config.transforms.highBiasFold = true;
        std::size_t without = 0;
        for (const LayerMetrics& metrics : measureLayers(*m_demo, config, options)) {
            if (metrics.cumulative) continue;
            QVERIFY(metrics.reason.find("high-bias fold") != std::string::npos);
            ++without;
        }
        std::size_t junctions = 0;
        for (const EqualizationSet& set : prepared->sets) junctions += set.layers.size() - 1;
        QCOMPARE(without, junctions);
    }

    /// The LayerNormalization is divided by the factors of the migration.
    void migrationIsUndoneInTheSource() {
        Session session(
            textModel("<ir_version: 8, opset_import: [\"\" : 17]> g (float[N,3,4] X) => (float[N,3,2] Y) "
                      "<float[4] s = {1, 20, 0.1, 3}, float[4] t = "
                      "{0, 1, -0.1, 0.5}, float[4,2] W = {1, -2, 0.5, 1, 3, -0.25, 0.75, 2}> "
                      "{ n = LayerNormalization<axis = -1>(X, s, t)\n Y = MatMul(n, W) }"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 16, 2));
        QuantizationConfig config = presetConfig("onnxruntime-s8s8");
        config.refine.migration = 0.5;
        LayerMetricsOptions options;
        const auto prepared = measureLayers(session, config, options);
        options.reference = MetricReference::Source;
        const auto source = measureLayers(session, config, options);
        QCOMPARE(session.prepare(config)->migrations.size(), 1u);
        const double found = source[0].cumulative->qs, wanted = prepared[0].cumulative->qs;
        QVERIFY(found > 0.5 * wanted &&
                found < 2 * wanted);  // the factors change the weights of the channels
    }

    void undefinedOutputsAreNotCompared() {
        Session session(
            opset13("g (float[N,2] X) => (float[N,1] Y) <float[2,1] W = {1, -2}> "
                    "{ a = MatMul(X, W)\n Y = Log(a) }"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 16, 2));
        QuantizationConfig four = twoBits();
        four.quantization.weight.bits = 4;
        const std::string text = compareConfigs(session, twoBits(), four).text;
        QCOMPARE(text, std::string("the SQNR of the outputs is undefined, so they cannot be compared"));
    }

    /// The float network's outputs are 0: an SQNR of minus infinity, not of infinity.
    void outputsOfZeroAreNotEqual() {
        Session session(
            opset13("g (float[N,2] X) => (float[N,1] Y) <float[2,1] V = {1, -0.3}, "
                    "float[2,1] W = {1, -0.3}> "
                    "{ a = MatMul(X, V)\n b = MatMul(X, W)\n Y = Sub(a, b) }"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 16, 2));
        QuantizationConfig three = twoBits(), two = twoBits();
        three.layers["MatMul_0"].weightBits = 3;
        two.layers["MatMul_0"].weightBits = 4;
        const ConfigComparison comparison = compareConfigs(session, three, two);
        QVERIFY(*comparison.before->quantized->sqnrDb < 0 &&
                std::isinf(*comparison.before->quantized->sqnrDb));
        QCOMPARE(
            comparison.text,
            std::string(
                "the outputs of the float network are all 0, but those of the quantized network are not"));
    }

    void imagesHaveAPsnr() {
        const auto session = openHalvingNetwork();
        const auto result = session->evaluate(twoBits());
        QVERIFY(near(*result->quantized->mse, 0.02));
        // the span of the float values, 63.3, is the peak
        QVERIFY(near(*result->quantized->psnrDb, 53.0177742));
        QVERIFY(std::isinf(*result->prepared->psnrDb));
        QVERIFY(!m_demo->evaluate(demoConfig())->quantized->mse);
        LayerMetricsOptions options;
        options.elementwise = true;
        const auto metrics = measureLayers(*session, twoBits(), options);
        QVERIFY(near(*metrics[0].local->klDivergence, kDivergence, 1e-5));
    }

    void aCustomMetric() {
        const std::filesystem::path program = m_folder.filePath("metric.sh").toStdString();
        // The sum of all bytes of the outputs distinguishes the two networks.
        std::ofstream(program)
            << "#!/bin/sh\nod -An -v -tu1 \"$1\" | tr -s ' ' '\\n' | awk '{ s += $1 } END { print s }'\n";
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        const UserMetricValues values = measureUserMetric(*m_small, twoBits(), programMetric({program, {}}));
        QVERIFY(values.floating > 0 && values.quantized > 0 && values.floating != values.quantized);
        std::ofstream(program) << "#!/bin/sh\necho no number\n";
        QVERIFY(errorOf([&] {
                    measureUserMetric(*m_small, twoBits(), programMetric({program, {}}));
                }).contains("no number"));
    }

    void numbersDoNotDependOnThreads() {
        const auto one = openDemo({1, 30, 10}), two = openDemo({2, 30, 10});
        LayerMetricsOptions options;
        options.elementwise = true;
        const auto a = measureLayers(*one, demoConfig(), options);
        const auto b = measureLayers(*two, demoConfig(), options);
        QCOMPARE(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            QCOMPARE(*a[i].local->klDivergence, *b[i].local->klDivergence);
            QCOMPARE(*a[i].cumulative->accumulatedRelative, *b[i].cumulative->accumulatedRelative);
        }
        const std::string name = "/features/features.2/conv/conv.2/Conv";
        const LayerDetails x = layerDetails(*one, demoConfig(), name);
        const LayerDetails y = layerDetails(*two, demoConfig(), name);
        QCOMPARE(x.output.floating.bins(), y.output.floating.bins());
        QCOMPARE(x.output.floating.deviation(), y.output.floating.deviation());
        QCOMPARE(x.output.distinctCodes, y.output.distinctCodes);
        QCOMPARE(x.channels[3].cumulative->qs, y.channels[3].cumulative->qs);
    }

  private:
    static constexpr double kDivergence = 0.001974948618;  // computed with numpy from the definition
};

QTEST_GUILESS_MAIN(AnalysisTest)
#include "analysis_test.moc"
