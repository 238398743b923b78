// SPDX-License-Identifier: Apache-2.0
// Analyses in addition to an evaluation, on networks small enough to compute by hand, and on the demo
// compared with the networks' outputs.
//
// The small network is A = X W, Y = A, W = [1 0.4; 0.6 -1] of 2 bits (scale 1: [1 0; 1 -1]), calibrated so
// that all activations have scale 1 and codes -128 to 127. The samples are (1.3, 2.6) and (-1, 200):
//     X W           = (2.86, -2.08), (119, -200.4)     float
//     X Wq          = (3.9, -2.6), (199, -200)         only weights quantized
//     q(q(X) W)     = (3, -3), (75, -127)              only activations; q(X) = (1, 3), (-1, 127)
//     q(q(X) Wq)    = (4, -3), (126, -127)             both
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "data/numpy_file.h"
#include "data/random_dataset.h"
#include "session/stages/layer_metrics.h"
#include "session/stages/sample_divergence.h"
#include "session/stages/user_metrics.h"
#include "session/studies/layer_details.h"
#include "session/studies/layer_scales.h"
#include "support/demo.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

const char* const kHeader = "<ir_version: 8, opset_import: [\"\" : 13]> ";

bool near(double value, double wanted, double relative = 1e-6) {
    const bool ok = std::abs(value - wanted) <= relative * std::max(1e-3, std::abs(wanted));
    if (!ok) qWarning("%.9g where %.9g is wanted", value, wanted);
    return ok;
}

QuantizationConfig twoBits() {
    QuantizationConfig config;
    config.skipTail = false;
    config.quantization.weight.bits = 2;
    config.quantization.activation.symmetric = true;
    return config;
}

QString errorOf(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

const LayerMetrics& of(const Session& session, const std::vector<LayerMetrics>& all,
                       const std::string& layer) {
    for (const LayerMetrics& metrics : all)
        if (session.graph().node(metrics.node).name == layer) return metrics;
    throw std::runtime_error("no metrics of " + layer);
}

const LayerResult& layer(const Evaluation& evaluation, const std::string& name) {
    for (const LayerResult& item : evaluation.layers)
        if (item.name == name) return item;
    throw std::runtime_error("no layer " + name);
}

}  // namespace

class AnalysisTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<Session> m_small, m_demo;

    DatasetPtr rows(const Session& session, Dims dims, std::vector<float> values) {
        const std::filesystem::path file = m_folder.filePath("rows.npz").toStdString();
        saveNpz({{"X", Constant::fromFloats(std::move(dims), std::move(values))}}, file);
        return openDataset(file, inputSpecsOf(session.graph()), {});
    }
    std::unique_ptr<Session> open(const std::string& model, Dims dims, std::vector<float> samples,
                                  Dims calibrationDims, std::vector<float> calibration) {
        auto session = std::make_unique<Session>(test::textModel(kHeader + model));
        const DatasetPtr ranges = rows(*session, std::move(calibrationDims), std::move(calibration));
        session->setData(rows(*session, std::move(dims), std::move(samples)), ranges);
        return session;
    }

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        m_small = open(
            "g (float[N,2] X) => (float[N,2] Y) <float[2,2] W = {1, 0.4, 0.6, -1}, float[2,2] V = {1, 0, 0, "
            "1}> "
            "{ A = MatMul(X, W) Y = MatMul(A, V) }",
            {2, 2}, {1.3f, 2.6f, -1, 200}, {2, 2}, {127, 0, 0, 127});
        m_demo = test::openDemo({0, 60, 20});
    }

    void weightsNeedNoData() {
        Session session(
            test::textModel(std::string(kHeader) +
                            "g (float[N,2] X) => (float[N,2] Y) <float[2,2] W = {1, 0.4, 0.6, -1}> "
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

    void npuOperatorsAreAStepOfTheirOwn() {
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,2,3,3] X) => (float[N,2] "
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
        config.transforms.npuOperators = {};
        QVERIFY(!stepsOf().contains("NPU operators replaced"));
    }

    void everyWeightedLayerHasASensitivity() {
        const auto model = loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx");
        Session demo(model);
        const auto states = demo.evaluate(test::demoConfig(), Depth::States);
        std::size_t weighted = 0;
        for (const LayerResult& item : states->layers) {
            QCOMPARE(item.weight.has_value(), item.op == "Conv" || item.op == "Gemm");
            weighted += item.weight.has_value() ? 1 : 0;
        }
        QCOMPARE(weighted, std::size_t{53});
    }

    void randomInputsAreMarked() {
        Session session(loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx"));
        session.useRandomInputs(6);
        QVERIFY(session.randomInputs() && session.hasData());
        const auto result = session.evaluate(test::demoConfig());
        QVERIFY(result->randomInputs);
        QCOMPARE(result->samples, std::size_t{6});
        QCOMPARE(result->calibrationSamples, std::size_t{6});
        QVERIFY(result->quantized->sqnrDb && result->quantized->agreement && !result->quantized->top1);
        QVERIFY(std::any_of(result->notices.begin(), result->notices.end(), [](const auto& text) {
            return text.find("random inputs") != std::string::npos;
        }));
        const auto& conv = layer(*result, "/features/features.1/conv/conv.1/Conv");
        QVERIFY(conv.local && conv.cumulative && conv.weight);
        Session again(loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx"), {1});
        again.useRandomInputs(6);
        QCOMPARE(*again.evaluate(test::demoConfig())->quantized->sqnrDb, *result->quantized->sqnrDb);
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

    void onTheDemoTheyAreTheEvaluationsNumbers() {
        const auto evaluated = m_demo->evaluate(test::demoConfig());
        std::size_t compared = 0;
        for (const LayerMetrics& metrics : measureLayers(*m_demo, test::demoConfig(), {})) {
            const LayerResult& known = evaluated->layers[metrics.node.index()];
            QCOMPARE(metrics.local->qs, known.local->qs);
            QCOMPARE(metrics.cumulative->sqnrDb, known.cumulative->sqnrDb);
            ++compared;
        }
        QCOMPARE(compared, std::size_t{65});
    }

    void theSourceAsReference() {
        QuantizationConfig config = test::demoConfig();
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

    void everythingAboutALayer() {
        const LayerDetails details = layerDetails(*m_small, twoBits(), "MatMul_0", 4);
        QCOMPARE(details.op, std::string("MatMul"));
        QVERIFY(near(details.local->qs, 0.316383107));
        QVERIFY(near(details.weightDifference->qs, 0.35634832));

        const TensorDetails& weight = *details.weight;
        QCOMPARE(weight.name, std::string("W"));
        QCOMPARE(weight.bits, 2);
        QCOMPARE(*weight.scale, 1.0);
        QCOMPARE(weight.distinctCodes, std::size_t{3});  // -1, 0, 1
        QVERIFY(near(weight.effectiveBits, std::log2(3.0)));
        QCOMPARE(weight.clippedFraction, 0.0);
        using Bins = std::vector<std::uint64_t>;
        QCOMPARE(weight.floating.bins(), (Bins{1, 0, 1, 2}));   // -1, 0.4, 0.6, 1 in bins of 0.5 from -1
        QCOMPARE(weight.quantized.bins(), (Bins{1, 0, 1, 2}));  // -1, 0, 1, 1

        QCOMPARE(details.inputs.size(), std::size_t{1});
        const TensorDetails& input = details.inputs[0];
        QCOMPARE(input.name, std::string("X"));
        QCOMPARE(input.bits, 8);
        QCOMPARE(*input.scale, 1.0);
        QCOMPARE(input.clipLow, -128.0);
        QCOMPARE(input.clipHigh, 127.0);
        QCOMPARE(input.clippedFraction, 0.25);          // 200
        QCOMPARE(input.distinctCodes, std::size_t{4});  // 1, 3, -1, 127
        QCOMPARE(input.floating.min(), -1.0);
        QCOMPARE(input.floating.max(), 200.0);
        QCOMPARE(input.quantized.max(), 127.0);
        QCOMPARE(input.floating.bins(), (Bins{3, 0, 0, 1}));  // -1 to 200 in four
        QCOMPARE(input.quantized.bins(), (Bins{3, 0, 1, 0}));
        QCOMPARE(details.output.clippedFraction, 0.25);  // -200.4
        QCOMPARE(details.output.quantized.max(), 126.0);

        QCOMPARE(details.channels.size(), std::size_t{2});
        QCOMPARE(*details.channels[0].weightBefore, (ChannelRange{0.6f, 1}));
        QCOMPARE(*details.channels[1].weightAfter, (ChannelRange{-1, 0.4f}));
        QVERIFY(near(details.channels[0].weight->qs, 0.4 / std::sqrt(1.36)));
        QVERIFY(near(details.channels[0].local->qs, 0.059581292, 1e-5));
        QVERIFY(near(details.channels[1].local->qs, 0.366276506));
        QVERIFY(near(details.channels[1].cumulative->qs, 0.366276506));
    }

    /// The scales of all layers at once are those in each layer's details.
    void scalesOfAllLayers() {
        const std::vector<LayerScale> scales = layerScales(*m_small, twoBits());
        const LayerDetails details = layerDetails(*m_small, twoBits(), "MatMul_0", 4);
        const auto found = std::ranges::find(scales, details.node, &LayerScale::node);
        QVERIFY(found != scales.end());
        QCOMPARE(found->weightScales, std::size_t{1});
        QCOMPARE(static_cast<double>(*found->lowestWeight), *details.weight->scale);
        QCOMPARE(static_cast<double>(*found->output), *details.output.scale);
        QCOMPARE(found->outputZeroPoint, details.output.zeroPoint);
    }

    void rangesOfChannelsBeforeAndAfterTransforms() {
        QuantizationConfig config = test::demoConfig();
        const std::string name = "/features/features.17/conv/conv.2/Conv";
        const LayerDetails details = layerDetails(*m_demo, config, name);
        QCOMPARE(details.channels.size(), std::size_t{320});
        const auto prepared = m_demo->prepare(config);
        const Graph& graph = m_demo->graph();
        const NodeId node = *graph.findNode(name);
        const Constant& before = *graph.constantOf(graph.node(node).input(1));
        const Constant& after = *prepared->graph->constantOf(
            prepared->graph->node(prepared->layerMappings[node.index()].prepared).input(1));
        QCOMPARE(*details.channels[306].weightBefore, channelRanges(before, 0)[306]);
        QCOMPARE(*details.channels[306].weightAfter, channelRanges(after, 0)[306]);
        // a batch norm was folded
        QVERIFY(*details.channels[306].weightBefore != *details.channels[306].weightAfter);
        const auto evaluated = m_demo->evaluate(config);
        QCOMPARE(details.local->qs, layer(*evaluated, name).local->qs);
        // The channels are the layer: their squared errors add up to its own.
        double squares = 0;
        for (const ChannelDetails& channel : details.channels)
            squares += std::pow(channel.local->absoluteL2, 2);
        QVERIFY(near(std::sqrt(squares), details.local->absoluteL2, 1e-9));

        QVERIFY(errorOf([&] {
                    layerDetails(*m_demo, config, "/features/features.0/features.0.2/Clip");
                }).contains("runs inside '/features/features.0/features.0.0/Conv'"));
        QVERIFY(errorOf([&] {
                    layerDetails(*m_demo, config, "/features/features.0/features.0.1/BatchNormalization");
                }).contains("is folded into '/features/features.0/features.0.0/Conv'"));
        QVERIFY(errorOf([&] { layerDetails(*m_demo, config, "Conv_none"); }).contains("Conv_none"));
    }

    void oneSampleAlongTheNetwork() {
        for (const auto& [index, qs] : {std::pair{"0", 0.414243447}, std::pair{"1", 0.316357092}}) {
            const auto divergence = sampleDivergence(*m_small, twoBits(), findSample(*m_small, index));
            QCOMPARE(divergence.layers.size(), std::size_t{2});
            QVERIFY(near(divergence.layers[0].difference.qs, qs));
            QVERIFY(near(divergence.layers[1].difference.qs, qs));
            QVERIFY(divergence.first && divergence.first->layer == 0);
            QCOMPARE(*divergence.floating, 0);
            QCOMPARE(*divergence.quantized, 0);
            QVERIFY(describe(divergence).find("jumps at 'MatMul_0'") != std::string::npos);
        }
        QVERIFY(errorOf([&] { findSample(*m_small, "2"); }).contains("0 to 1"));
        QVERIFY(errorOf([&] { findSample(*m_small, "cat.jpg"); }).contains("cat.jpg"));
        const std::string name = m_demo->sampleName(7);
        QCOMPARE(findSample(*m_demo, name), std::size_t{7});
        QCOMPARE(findSample(*m_demo, name.substr(name.find('/') + 1)), std::size_t{7});  // a unique suffix
    }

    void samplesThatFlip() {
        const QuantizationConfig config = test::demoConfig();
        const FlippedSamples flipped = flippedSamples(*m_demo, config);
        const auto classesOf = [&](const std::optional<QuantizationConfig>& network) {
            const auto scores = m_demo->outputs(network)[0];
            std::vector<int> classes;
            for (std::size_t s = 0; s < 60; ++s) {
                const auto row = scores->floats().subspan(s * 10, 10);
                classes.push_back(static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin()));
            }
            return classes;
        };
        const auto floating = classesOf(std::nullopt), quantized = classesOf(config);
        std::vector<std::size_t> wanted, told;
        for (std::size_t s = 0; s < 60; ++s)
            if (floating[s] != quantized[s]) wanted.push_back(s);
        for (const FlippedSample& flip : flipped.samples) {
            told.push_back(flip.sample.index);
            QCOMPARE(flip.floating, floating[flip.sample.index]);
            QCOMPARE(flip.quantized, quantized[flip.sample.index]);
            const std::string folder = flip.sample.name.substr(0, flip.sample.name.find('/'));
            QCOMPARE(folder, flipped.classNames[static_cast<std::size_t>(*flip.label)]);
            QCOMPARE(flip.kind == FlippedSample::Kind::Broken, *flip.label == flip.floating);
            QCOMPARE(flip.kind == FlippedSample::Kind::Fixed, *flip.label == flip.quantized);
        }
        QVERIFY(!wanted.empty());
        QCOMPARE(told, wanted);

        // Against itself nothing changes; against 8 bits the broken ones come back.
        QCOMPARE(compareConfigs(*m_demo, config, config).text, std::string("no image changed"));
        QuantizationConfig finer = config;
        finer.quantization.weight.bits = 8;
        const ConfigComparison comparison = compareConfigs(*m_demo, config, finer);
        const auto top1 = [](const EvaluationPtr& e) { return *e->quantized->top1; };
        QVERIFY(near(comparison.paired->difference, top1(comparison.after) - top1(comparison.before), 1e-9));
        QCOMPARE(comparison.fixed.size(), comparison.paired->fixed);
        QVERIFY(comparison.paired->low <= comparison.paired->difference &&
                comparison.paired->difference <= comparison.paired->high);
        QVERIFY2(comparison.text.find("points, ") != std::string::npos, comparison.text.c_str());
        QVERIFY(errorOf([&] { flippedSamples(*openImages(), twoBits()); }).contains("not a list of classes"));
    }

    /// Y = X / 2 as a convolution; input scale 1, output scale 0.5: (0.4, 1.6, 2, 127) becomes (0, 1, 1,
    /// 63.5).
    std::unique_ptr<Session> openImages() {
        return open(
            "g (float[N,1,2,2] X) => (float[N,1,2,2] Y) <float[1,1,1,1] W = {0.5}> { Y = Conv(X, W) }",
            {1, 1, 2, 2}, {0.4f, 1.6f, 2, 127}, {1, 1, 2, 2}, {127, -127, 0, 0});
    }

    void imagesHaveAPsnr() {
        const auto session = openImages();
        const auto result = session->evaluate(twoBits());
        QVERIFY(near(*result->quantized->mse, 0.02));
        // the span of the float values, 63.3, is the peak
        QVERIFY(near(*result->quantized->psnrDb, 53.0177742));
        QVERIFY(std::isinf(*result->prepared->psnrDb));
        QVERIFY(!m_demo->evaluate(test::demoConfig())->quantized->mse);
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
        const auto one = test::openDemo({1, 30, 10}), two = test::openDemo({2, 30, 10});
        LayerMetricsOptions options;
        options.elementwise = true;
        const auto a = measureLayers(*one, test::demoConfig(), options);
        const auto b = measureLayers(*two, test::demoConfig(), options);
        QCOMPARE(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            QCOMPARE(*a[i].local->klDivergence, *b[i].local->klDivergence);
            QCOMPARE(*a[i].cumulative->accumulatedRelative, *b[i].cumulative->accumulatedRelative);
        }
        const std::string name = "/features/features.2/conv/conv.2/Conv";
        const LayerDetails x = layerDetails(*one, test::demoConfig(), name);
        const LayerDetails y = layerDetails(*two, test::demoConfig(), name);
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
