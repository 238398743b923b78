// SPDX-License-Identifier: Apache-2.0
// Details of single layers and samples, on a network small enough to compute by hand
// (support/two_bit_network.h), and on the demo.
#include "session/studies/layer_details.h"

#include <QtTest>

#include "analysis/tensor_metrics.h"
#include "data/random_dataset.h"
#include "quantize/plan.h"
#include "session/stages/sample_divergence.h"
#include "session/studies/layer_scales.h"
#include "support/demo.h"
#include "support/errors.h"
#include "support/two_bit_network.h"

using namespace quantloupe;
using namespace quantloupe::test;

class LayerDetailsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<Session> m_small, m_demo;

  private Q_SLOTS:
    void initTestCase() {
        m_small = openTwoBitNetwork();
        m_demo = openDemo({0, 60, 20});
    }

    /// The weight is -1, 0.4, 0.6 and 1.
    void zeroPointOfAWeight() {
        QuantizationConfig config = twoBits();
        WeightScheme& scheme = config.quantization.weight;
        scheme.bits = 8;
        scheme.isSigned = scheme.symmetric = scheme.perChannel = false;
        const TensorDetails weight = *layerDetails(*m_small, config, "MatMul_0", 4).weight;
        QVERIFY(near(*weight.scale, 2.0 / 255));
        QCOMPARE(weight.zeroPoint, 128);
        QVERIFY(near(weight.clipLow, -128 * *weight.scale) && near(weight.clipHigh, 127 * *weight.scale));
        QCOMPARE(weight.clippedFraction, 0.25);  // 1 is 127.5 steps, which round to 128
        QCOMPARE(weight.distinctCodes, std::size_t{4});
    }

    /// The weights that the network uses, not those of nearest rounding.
    void learnedWeightsAreDescribed() {
        QuantizationConfig config = demoConfig();
        config.quantization.weight.bits = 3;
        config.refine.rounding = Rounding::Adaround;
        const std::string layer = "/features/features.0/features.0.0/Conv";
        const LayerDetails details = layerDetails(*m_demo, config, layer, 4);
        DifferenceSums sums;
        const auto plan = m_demo->plan(config);
        const UnitQuantizers& quantizers = plan->quantizers.front();
        const Constant& weight = *plan->prepared->graph->constantOf(plan->units.units.front().weight);
        sums.add(weight.floats().data(), quantizers.weight->dequantized->floats().data(),
                 weight.floats().size());
        QCOMPARE(details.weightDifference->qs, sums.result().qs);
        const EvaluationPtr evaluation = m_demo->evaluate(config, Depth::Rough);
        QCOMPARE(evaluation->layers[details.node.index()].weight->qs, sums.result().qs);
    }

    void samplesThatAreMixedHaveNoTrace() {
        Session session(textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[4,3] X) => (float[4,2] Y) <float[3,2] W = {1, -2, 0.5, 1, 3, -1}> {
                m = ReduceMean<axes = [0]>(X)
                x = Sub(X, m)
                Y = MatMul(x, W)
            })"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 16, 2));
        QVERIFY(errorOf([&] { sampleDivergence(session, twoBits(), 0); }).contains("mixes the 4 samples"));
    }

    /// The classes are the first output of floats.
    void classesAfterAnOutputOfIntegers() {
        Session session(textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[N,3] X) => (int64[N] K, float[N,2] Y) <float[3,2] W = {1, -2, 0.5, 1, 3, -1}> {
                Y = MatMul(X, W)
                K = ArgMax<axis = 1, keepdims = 0>(Y)
            })"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 16, 2));
        const SampleDivergence divergence = sampleDivergence(session, twoBits(), 0);
        QVERIFY(divergence.floating && divergence.quantized);
    }

    /// Each output channel of a ConvTranspose has the weights of its group.
    void groupsOfAConvTranspose() {
        Session session(textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[N,3,2,2] X) => (float[N,6,2,2] Y) <float[3,2,1,1] W = {1, -2, 3, 4, -5, 6}> {
                Y = ConvTranspose<group = 3>(X, W)
            })"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 16, 2));
        QuantizationConfig config = twoBits();
        config.skipTail = false;
        const LayerDetails details = layerDetails(session, config, "ConvTranspose_0", 4);
        QCOMPARE(details.channels.size(), std::size_t{6});
        const float weights[] = {1, -2, 3, 4, -5, 6};
        for (std::size_t c = 0; c < 6; ++c) {
            const ChannelDetails& channel = details.channels[c];
            const ChannelRange only{weights[c], weights[c]};
            QVERIFY(channel.weightAfter == only && channel.weightBefore == only);
            QVERIFY(channel.weight && channel.local && channel.cumulative);
            QCOMPARE(*channel.weightScale, *details.channels[c % 2].weightScale);
        }
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
        QuantizationConfig config = demoConfig();
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
        QCOMPARE(details.local->qs, evaluated->layers[node.index()].local->qs);
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

    /// The samples are on the second axis, and the last batch is not full. The channels were those of the
    /// batch.
    void channelsOfSequences() {
        Session session(textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[N,7,3] X) => (float[7,N,2] Y) <float[3,2] W = {1, -2, 0.5, 1, 3, -1}, float[3,2] V = {2, 1, -1, 0.5, 1, -3}> {
                t = Transpose<perm = [1, 0, 2]>(X)
                m = MatMul(t, W)
                n = MatMul(t, V)
                Y = Add(m, n)
            })"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 13, 2));
        for (const char* layer : {"MatMul_1", "Add_3"}) {
            const LayerDetails details = layerDetails(session, twoBits(), layer);
            QCOMPARE(details.channels.size(), std::size_t{2});
            double squares = 0;
            for (const ChannelDetails& channel : details.channels)
                squares += std::pow(channel.cumulative->absoluteL2, 2);
            QVERIFY2(near(std::sqrt(squares), details.cumulative->absoluteL2, 1e-9), layer);
        }
    }

    void divergenceOfOneSample() {
        for (const auto& [index, qs] : {std::pair{"0", 0.414243447}, std::pair{"1", 0.316357092}}) {
            const auto divergence = sampleDivergence(*m_small, twoBits(), findSample(*m_small, index));
            QCOMPARE(divergence.layers.size(), std::size_t{2});
            QVERIFY(near(divergence.layers[0].difference.qs, qs));
            QVERIFY(near(divergence.layers[1].difference.qs, qs));
            QVERIFY(divergence.first && divergence.first->layer == 0);
            QCOMPARE(*divergence.floating, 0);
            QCOMPARE(*divergence.quantized, 0);
            QVERIFY(describe(divergence).find("starts at 'MatMul_0'") != std::string::npos);
        }
        QVERIFY(errorOf([&] { findSample(*m_small, "2"); }).contains("0 to 1"));
        QVERIFY(errorOf([&] { findSample(*m_small, "cat.jpg"); }).contains("cat.jpg"));
        const std::string name = m_demo->sampleName(7);
        QCOMPARE(findSample(*m_demo, name), std::size_t{7});
        QCOMPARE(findSample(*m_demo, name.substr(name.find('/') + 1)), std::size_t{7});  // a unique suffix
    }

    void samplesWithChangedClass() {
        const QuantizationConfig config = demoConfig();
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
        QCOMPARE(compareConfigs(*m_demo, config, config).text, std::string("no sample changed"));
        QuantizationConfig finer = config;
        finer.quantization.weight.bits = 8;
        const ConfigComparison comparison = compareConfigs(*m_demo, config, finer);
        const auto top1 = [](const EvaluationPtr& e) { return *e->quantized->top1; };
        QVERIFY(near(comparison.paired->difference, top1(comparison.after) - top1(comparison.before), 1e-9));
        QCOMPARE(comparison.fixed.size(), comparison.paired->fixed);
        QVERIFY(comparison.paired->low <= comparison.paired->difference &&
                comparison.paired->difference <= comparison.paired->high);
        QVERIFY2(comparison.text.find("points, ") != std::string::npos, comparison.text.c_str());
        QVERIFY(errorOf([&] {
                    flippedSamples(*openHalvingNetwork(), twoBits());
                }).contains("no output of the network is a list of classes"));
    }
};

QTEST_GUILESS_MAIN(LayerDetailsTest)
#include "layer_details_test.moc"
