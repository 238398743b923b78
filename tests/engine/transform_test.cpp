// SPDX-License-Identifier: Apache-2.0
// Replacement of Clip(0, 6), scaling and high-bias folding by hand; then whole networks compared with AIMET's
// results.
#include <QtTest/QtTest>
#include <cmath>
#include <set>

#include "base/error.h"
#include "data/numpy_file.h"
#include "support/small_graph.h"
#include "transform/prepare.h"
#include "transform/weight_layout.h"

using namespace quantloupe;
using test::constantOf;
using test::graph;
using test::lines;
using test::list;

namespace {

QString constantText(const Graph& g, std::size_t node, std::size_t input) {
    return list(constantOf(g, NodeId(node), input));
}

TransformOptions aimet(int steps = 1) {
    TransformOptions options;
    options.equalization.profile = EqualizationProfile::Aimet;
    options.equalization.steps = steps;
    return options;
}

// r1 = {4, 1}, r2 = {1, 4}: s = {2, 0.5}
const QString kPair =
    "(float[N,1,4,4] x) => (float[N,1,4,4] y) <float[2,1,1,1] w1 = {-4, 1}, float[2] b1 = {6, 6}, "
    "float[1,2,1,1] w2 = {1, 4}> { a = Conv(x, w1, b1)\n r = Relu(a)\n y = Conv(r, w2) }";

/// Largest |found - expected| / largest |expected|, and how many are not the same bits.
struct Deviation {
    double relative = 0;
    std::size_t different = 0, all = 0;
    void add(std::span<const float> found, std::span<const float> expected, const std::string& what) {
        if (found.size() != expected.size())
            QFAIL(qPrintable(QString::fromStdString(what) + ": the sizes differ"));
        double largest = 1e-30, difference = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
            difference = std::max(
                difference, std::fabs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
            if (found[i] != expected[i]) ++different;
        }
        all += found.size();
        relative = std::max(relative, difference / largest);
    }
};

/// Per channel, so that small channels count as much as large ones.
double worstChannel(std::span<const float> found, std::span<const float> expected) {
    double worst = 0;
    for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
        worst =
            std::max(worst, std::fabs(static_cast<double>(found[i]) / static_cast<double>(expected[i]) - 1));
    return worst;
}

}  // namespace

class TransformTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    // AIMET 2.42 looks for the lower bound in a Constant node only; after onnxsim it is an initializer.
    void clipsThatAimetWouldKeepAreReported() {
        const auto noticesOf = [](const char* bounds, const char* clip, EqualizationProfile profile) {
            const auto source =
                test::textModel(std::string("<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,1,4,4] "
                                            "x) => (float[N,1,4,4] y) <float[1,1,1,1] w = {2}, "
                                            "float[1,1,1,1] v = {3}") +
                                (*clip == 'i' ? ", float lo = {0}, float hi = {6}" : "") + "> { " + bounds +
                                " a = Conv(x, w)\n i = Dropout(a)\n b = Clip(i, lo, hi)\n d = Identity(b)\n "
                                "y = Conv(d, v) }")
                    .graph;
            TransformOptions options;
            options.replaceRelu6 = ReplaceRelu6::Between;
            options.equalization.profile = profile;
            const Prepared p = prepare(source, options);
            QString all;
            for (const std::string& text : p.notices) all += QString::fromStdString(text) + '\n';
            return std::pair(p.replacedClips, all);
        };
        const char* const nodes =
            "lo = Constant<value = float {0.0}>()\n hi = Constant<value = float {6.0}>()\n";
        const auto [replaced, told] = noticesOf("", "i", EqualizationProfile::Aimet);
        QCOMPARE(replaced, std::size_t(1));  // Dropout and Identity between the layers do not matter
        QVERIFY2(told.contains("1 of 1 Clip(0, 6) that became Relu have their bounds as initializers"),
                 qPrintable(told));
        const auto [same, nothing] = noticesOf(nodes, "n", EqualizationProfile::Aimet);
        QCOMPARE(same, std::size_t(1));
        QVERIFY2(!nothing.contains("initializers"), qPrintable(nothing));
        QVERIFY(!noticesOf("", "i", EqualizationProfile::Quantloupe).second.contains("initializers"));
    }

    void clip_data() {
        QTest::addColumn<QString>("clip");
        QTest::addColumn<int>("opset");
        QTest::addColumn<bool>("becomesRelu");
        QTest::newRow("0, 6") << "Clip(a, zero, six)" << 13 << true;
        QTest::newRow("attributes") << "Clip<min = 0.0, max = 6.0>(a)" << 6 << true;
        QTest::newRow("attributes 0, 1") << "Clip<min = 0.0, max = 1.0>(a)" << 6 << false;
        QTest::newRow("no maximum attribute") << "Clip<min = 0.0>(a)" << 6 << false;
        QTest::newRow("0, 1") << "Clip(a, zero, one)" << 13 << false;
        QTest::newRow("1, 6") << "Clip(a, one, six)" << 13 << false;
        QTest::newRow("no maximum") << "Clip(a, zero)" << 13 << false;
        QTest::newRow("computed bound") << "Clip(a, zero, z)" << 13 << false;
    }
    void clip() {
        QFETCH(QString, clip);
        QFETCH(int, opset);
        QFETCH(bool, becomesRelu);
        const auto source = graph(
            "(float[N,1,4,4] x) => (float[N,1,4,4] y) <float[1,1,1,1] w = {2}, float zero = {0}, "
            "float one = {1}, float six = {6}> { z = Exp(six)\n a = Conv(x, w)\n c = " +
                clip + "\n y = Conv(c, w) }",
            opset);
        TransformOptions options;
        options.replaceRelu6 = ReplaceRelu6::Between;
        const auto p = prepare(source, options);
        const Node& node = p.graph->node(*p.graph->findNode("Clip_2"));
        QCOMPARE(QString::fromStdString(node.op), becomesRelu ? "Relu" : "Clip");
        QCOMPARE(p.replacedClips, std::size_t(becomesRelu));
        const QString note = QString::fromStdString(p.layerMappings[2].note);
        QCOMPARE(note == "Clip(0, 6) became Relu", becomesRelu);
        if (becomesRelu) {
            QCOMPARE(node.inputs.size(), std::size_t(1));
            QVERIFY(node.attributes.empty());
        } else {
            QVERIFY2(note.startsWith("stays a Clip: its bounds are"), qPrintable(note));
        }
    }

    void clipsOutsideConvolutionsOnlyWithAll() {
        const auto source = graph(
            "(float[N,1,4,4] x) => (float[N,1,4,4] y) <float[1,1,1,1] w = {2}, float zero = {0}, "
            "float six = {6}> { a = Conv(x, w)\n b = Clip(a, zero, six)\n c = Add(b, x)\n"
            "y = Clip(c, zero, six) }");
        TransformOptions options;
        for (const auto& [mode, count] :
             {std::pair(ReplaceRelu6::None, 0), {ReplaceRelu6::Between, 0}, {ReplaceRelu6::All, 2}}) {
            options.replaceRelu6 = mode;
            QCOMPARE(prepare(source, options).replacedClips, std::size_t(count));
        }
    }

    void pairByHand() {
        const auto p = prepare(graph(kPair), aimet());
        QCOMPARE(p.sets.size(), std::size_t(1));
        QCOMPARE(list(p.sets[0].factors[0]), QString("2 0.5"));
        QVERIFY(p.sets[0].activationBetween[0]);
        QCOMPARE(constantText(*p.graph, 0, 1), QString("-2 2"));
        QCOMPARE(constantText(*p.graph, 0, 2), QString("3 12"));
        QCOMPARE(constantText(*p.graph, 2, 1), QString("2 2"));
        QCOMPARE(lines(p.notices), QString());
    }

    void secondStepOfOnePairChangesNothing() {
        const auto p = prepare(graph(kPair), aimet(2));
        QCOMPARE(list(p.sets[0].factors[0]), QString("2 0.5"));
        QCOMPARE(constantText(*p.graph, 2, 1), QString("2 2"));
        QCOMPARE(list(prepare(graph(kPair), aimet(-1)).sets[0].factors[0]), QString("2 0.5"));
        QVERIFY_EXCEPTION_THROWN(prepare(graph(kPair), aimet(-2)), Error);
    }

    void tripleByHand() {
        // r = 8, 1, 1: p = 2, s12 = 4, s23 = 2
        const auto p =
            prepare(graph("(float[N,1,4,4] x) => (float[N,1,4,4] y) <float[2,1,1,1] w1 = {8, 8}, "
                          "float[2,1,1,1] w2 = {1, -1}, float[2] b2 = {4, 6}, float[1,2,1,1] w3 = {1, 1}> "
                          "{ a = Conv(x, w1)\n b = Conv<group = 2>(a, w2, b2)\n y = Conv(b, w3) }"),
                    aimet());
        QCOMPARE(list(p.sets[0].factors[0]), QString("4 4"));
        QCOMPARE(list(p.sets[0].factors[1]), QString("2 2"));
        QCOMPARE(constantText(*p.graph, 0, 1), QString("2 2"));
        QCOMPARE(constantText(*p.graph, 1, 1), QString("2 -2"));
        QCOMPARE(constantText(*p.graph, 1, 2), QString("2 3"));
        QCOMPARE(constantText(*p.graph, 2, 1), QString("2 2"));
    }

    void disabledGroupsAreNotChanged() {
        TransformOptions options = aimet();
        options.equalization.off = {{"Conv_0", "Conv_2"}};
        const auto p = prepare(graph(kPair), options);
        QVERIFY(!p.sets[0].enabled);
        QCOMPARE(list(p.sets[0].factors[0]), QString("1 1"));
        QCOMPARE(constantText(*p.graph, 0, 1), QString("-4 1"));
        options.equalization.off = {{"Conv_0", "Conv_3"}};
        QVERIFY_EXCEPTION_THROWN(prepare(graph(kPair), options), Error);
        options.equalization.off = {{"Conv_0"}};
        QCOMPARE(
            lines(prepare(graph(kPair), options).notices),
            QString("equalization.off names 'Conv_0', which is not an equalization group of this model"));
    }

    void deadChannels() {
        // A channel of zeros gets the factor 1; a nearly dead one an extreme factor, which is reported.
        const auto p =
            prepare(graph("(float[N,1,4,4] x) => (float[N,1,4,4] y) <float[3,1,1,1] w1 = {0, 1e-12, 1}, "
                          "float[1,3,1,1] w2 = {1, 1, 1}> { a = Conv(x, w1)\n y = Conv(a, w2) }"),
                    aimet());
        QCOMPARE(list(p.sets[0].factors[0]), QString("1 1e-06 1"));
        QCOMPARE(lines(p.notices),
                 QString("1 channel of 'Conv_0' is dead or nearly so: equalization factors outside "
                         "1e-4 to 1e4"));
    }

    void highBiasFoldByHand() {
        // Factors 1 (equal ranges). beta - 3 |gamma| = {10 - 6, 2 - 6}: only channel 0 has something to move:
        // 4.
        const QString net =
            "(float[N,1,4,4] x) => (float[N,1,4,4] y) <float[2,1,1,1] w1 = {1, 1}, "
            "float[2] g = {2, -2}, float[2] be = {10, 2}, float[2] mu = {0, 0}, float[2] va = {4, 4}, "
            "float[1,2,1,2] w2 = {1, 0.5, -1, 0.5}, float[1] b2 = {1}> { a = Conv(x, w1)\n"
            "n = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va)\n %1\n y = Conv(r, w2, b2) }";
        TransformOptions options = aimet();
        options.highBiasFold = true;
        const auto relu = prepare(graph(net.arg("r = Relu(n)")), options);
        QCOMPARE(list(relu.sets[0].factors[0]), QString("1 1"));
        QCOMPARE(constantText(*relu.graph, 0, 2), QString("6 2"));
        QCOMPARE(constantText(*relu.graph, 2, 2), QString("7"));  // 1 + 4 (1 + 0.5)
        // Without an activation the whole beta is moved: 1 + 10 * 1.5 + 2 * -0.5.
        const auto linear = prepare(graph(net.arg("").replace("(r,", "(n,")), options);
        QCOMPARE(constantText(*linear.graph, 0, 2), QString("0 0"));
        QCOMPARE(constantText(*linear.graph, 1, 2), QString("15"));
        // Without batch norms, or without equalization, there is nothing to fold.
        QVERIFY(lines(prepare(graph(kPair), options).notices).contains("found nothing to fold"));
        options.equalization.profile = EqualizationProfile::Off;
        QVERIFY(lines(prepare(graph(kPair), options).notices)
                    .contains("has no effect while equalization is off"));
    }

    void versionDependsOnSourceAndOptions() {
        const auto source = graph(kPair);
        const Version base = prepare(source, {}).version;
        QCOMPARE(prepare(graph(kPair), {}).version.hex(), base.hex());
        std::vector<TransformOptions> others(10);
        others[0].foldBatchNorm = false;
        others[1].skipFolding = {"Conv_0"};
        others[2].replaceRelu6 = ReplaceRelu6::All;
        others[3].equalization.profile = EqualizationProfile::Aimet;
        others[4].equalization.steps = 2;
        others[5].equalization.off = {{"Conv_0", "Conv_2"}};
        others[6].highBiasFold = true;
        others[7].equalization.appendBias = true;
        others[8].equalization.weightThreshold = 0.25;
        others[9].equalization.totalLayerDiffThreshold = 1e-7;
        std::set<std::string> versions{base.hex()};
        for (const TransformOptions& options : others)
            versions.insert(prepare(source, options).version.hex());
        versions.insert(prepare(graph(QString(kPair).replace("{6, 6}", "{6, 7}")), {}).version.hex());
        QCOMPARE(versions.size(), others.size() + 2);
    }

    void counts_data() {
        QTest::addColumn<std::size_t>("folded");
        QTest::addColumn<std::size_t>("clips");
        QTest::addColumn<std::size_t>("pairs");
        QTest::addColumn<std::size_t>("triples");
        const auto row = [](const char* name, std::size_t bn, std::size_t clips, std::size_t pairs,
                            std::size_t triples) { QTest::newRow(name) << bn << clips << pairs << triples; };
        row("mobilenetv2_cifar10", 52, 34, 2, 17);
        row("mobilenetv2_cifar10_opset20", 0, 34, 2, 17);
        row("mlperf_tiny_resnet8", 7, 0, 3, 0);
        row("mlperf_tiny_vww_mobilenet", 27, 0, 0, 13);
        row("vww_mobilenet_unequalized", 27, 0, 0, 13);
        row("mlperf_tiny_ad01_autoencoder", 9, 0, 0, 0);
    }
    void counts() {
        QUANTLOUPE_ASSET(path, std::string("models/") + QTest::currentDataTag() + ".onnx");
        TransformOptions options = aimet();
        options.replaceRelu6 = ReplaceRelu6::Between;
        const auto source = loadModel(path).graph;
        const auto p = prepare(source, options);
        QTEST(p.foldedBatchNorms, "folded");
        QTEST(p.replacedClips, "clips");
        std::size_t found[4] = {};
        for (const EqualizationSet& set : p.sets) ++found[set.layers.size()];
        QTEST(found[2], "pairs");
        QTEST(found[3], "triples");
        for (std::size_t i = 0; i < p.sourceOf.size(); ++i) {
            QCOMPARE(p.layerMappings[p.sourceOf[i].index()].prepared, NodeId(i));
            QCOMPARE(p.graph->node(NodeId(i)).name, source->node(p.sourceOf[i]).name);
        }
        for (std::size_t i = 0; i < p.layerMappings.size(); ++i)
            QVERIFY(p.layerMappings[i].prepared.valid() != p.layerMappings[i].foldedInto.valid());
    }

    void againstAimet_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("stage");
        for (const char* model : {"mobilenetv2_cifar10", "mlperf_tiny_resnet8", "mlperf_tiny_vww_mobilenet",
                                  "vww_mobilenet_unequalized"})
            for (const char* stage : {"folded", "relu", "cls", "final"})
                QTest::addRow("%s %s", model, stage) << model << stage;
    }
    /// Weights and biases of every layer after each stage.
    void againstAimet() {
        QFETCH(QString, model);
        QFETCH(QString, stage);
        QUANTLOUPE_ASSET(file, QString("oracles/cle_aimet_%1_%2.npz").arg(model, stage).toStdString());
        TransformOptions options;
        if (stage != "folded") options.replaceRelu6 = ReplaceRelu6::Between;
        if (stage == "cls" || stage == "final") options.equalization.profile = EqualizationProfile::Aimet;
        options.highBiasFold = stage == "final";
        const auto p =
            prepare(loadModel(test::asset("models/" + model.toStdString() + ".onnx")).graph, options);
        const auto oracle = loadNpz(file);
        Deviation weights, biases;
        double worst = 0;
        std::size_t layers = 0;
        for (std::size_t i = 0; i < p.graph->nodeCount(); ++i) {
            const Node& node = p.graph->node(NodeId(i));
            const auto head = oracle.find(node.name + "/head");
            if (head == oracle.end()) continue;
            ++layers;
            const auto layout = weightLayout(node, p.graph->constantOf(node.input(1))->dims());
            QVERIFY(layout.has_value());
            const std::vector<float> weight = constantOf(*p.graph, NodeId(i), 1);
            const std::size_t shown = std::min<std::size_t>(weight.size(), 64);
            weights.add(std::span(weight).first(shown), head->second->floats(), node.name);
            for (const auto& [axis, name] :
                 {std::pair(layout->outputAxis, "/out_absmax"), {layout->inputAxis, "/in_absmax"}}) {
                const std::vector<float> largest = maxAbsAlong(weight, layout->dims, axis);
                const auto expected = oracle.at(node.name + name)->floats();
                weights.add(largest, expected, node.name);
                worst = std::max(worst, worstChannel(largest, expected));
            }
            biases.add(constantOf(*p.graph, NodeId(i), 2), oracle.at(node.name + "/bias")->floats(),
                       node.name);
        }
        qInfo(
            "%zu layers; weights: %.2g relative, %zu of %zu not the same bits; worst channel %.2g; biases: "
            "%.2g, %zu of %zu",
            layers, weights.relative, weights.different, weights.all, worst, biases.relative,
            biases.different, biases.all);
        QVERIFY(layers >= 10);
        const bool exact = stage == "folded" || stage == "relu";
        QVERIFY(weights.relative <= (exact ? 0 : 1e-6));
        QVERIFY(worst <= (exact ? 0 : 1e-6));
        QVERIFY(biases.relative <= (exact ? 0 : 1e-6));
    }
};

QTEST_GUILESS_MAIN(TransformTest)
#include "transform_test.moc"
