// SPDX-License-Identifier: Apache-2.0
// Matching of layers after a model was exported again, and the transfer of the configuration.
#include "session/layer_match.h"

#include <QtTest>

#include "config/skip_rules.h"
#include "model/graph_builder.h"
#include "session/adapt_config.h"
#include "support/demo.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

const char* const kHead = R"(<ir_version: 8, opset_import: ["" : 13]>
    net (float[1,2,4,4] X) => (float[1,2,4,4] Y)
    <float[2,2,1,1] A = {1,2,3,4}, float[2,2,1,1] B = {4,3,2,1}, float[2,2,3,3] K = {
        1,2,3,4,5,6,7,8,9, 1,2,3,4,5,6,7,8,9, 1,2,3,4,5,6,7,8,9, 1,2,3,4,5,6,7,8,9}> )";

GraphPtr model(const std::string& body) { return test::textModel(kHead + ("{" + body + "}")).graph; }

GraphPtr named(const GraphPtr& graph, const std::vector<std::string>& names) {
    GraphBuilder builder(*graph);
    for (std::size_t n = 0; n < names.size(); ++n) builder.node(NodeId(n)).name = names[n];
    return builder.build();
}

LayerMatch match(const GraphPtr& before, const GraphPtr& now) {
    return matchLayers(layerSignatures(*before), layerSignatures(*now));
}

/// "a>x b>y; lost c; new z"
std::string text(const LayerMatch& match) {
    std::string result;
    for (const auto& [before, now] : match.newNames)
        result += (result.empty() ? "" : " ") + before + ">" + now;
    for (const std::string& name : match.unmatched) result += "; lost " + name;
    for (const std::string& name : match.added) result += "; new " + name;
    return result;
}

/// One 1x1 convolution, a 3x3 one, and a 1x1 one.
const char* const kThree =
    "S = Conv(X, A) T = Relu(S) U = Conv<pads = [1,1,1,1]>(T, K) V = Relu(U) Y = Conv(V, B)";

}  // namespace

class LayerMatchTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void theSameModelIsUnchanged() {
        const GraphPtr graph = model(kThree);
        QVERIFY(match(graph, graph).unchanged());
        QCOMPARE(text(match(graph, graph)),
                 std::string("Conv_0>Conv_0 Conv_2>Conv_2 Conv_4>Conv_4 Relu_1>Relu_1 Relu_3>Relu_3"));
    }

    /// PyTorch's newer exporter numbers all nodes.
    void numberedNamesMoveWithTheirLayers() {
        const GraphPtr before = named(model("S = Conv(X, A) T = Relu(S) Y = Conv<pads = [1,1,1,1]>(T, K)"),
                                      {"node_conv2d", "node_relu", "node_conv2d_1"});
        const GraphPtr now =
            named(model("S = Conv(X, A) R = Conv(S, B) T = Relu(R) Y = Conv<pads = [1,1,1,1]>(T, K)"),
                  {"node_conv2d", "node_conv2d_1", "node_relu", "node_conv2d_2"});
        QCOMPARE(match(before, now).newNames.at("node_conv2d_1"), std::string("node_conv2d_2"));
    }

    void weightsAndTensorNamesDoNotMatter() {
        const GraphPtr before = model(kThree);
        const GraphPtr now = test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            other (float[1,2,4,4] image) => (float[1,2,4,4] scores) <float[2,2,1,1] a = {9,9,9,9}>
            { s = Conv(image, a) scores = Relu(s) })")
                                 .graph;
        const GraphPtr twin = model("S = Conv(X, A) Y = Relu(S)");
        QVERIFY(layerSignatures(*now) == layerSignatures(*twin));
        QVERIFY(layerSignatures(*now)[0].local != layerSignatures(*before)[2].local);  // 1x1, 3x3
    }

    void renamedLayersAreFoundByStructure() {
        const GraphPtr before = named(model(kThree), {"stem", "stem_act", "mid", "mid_act", "head"});
        const GraphPtr now = named(model(kThree), {"backbone.0", "backbone.1", "mid", "neck", "classifier"});
        QCOMPARE(text(match(before, now)),
                 std::string("head>classifier mid>mid mid_act>neck stem>backbone.0 stem_act>backbone.1"));
        QVERIFY(!match(before, now).unchanged());
    }

    void numberedNamesShiftWithAnInsertion() {
        const GraphPtr before = model(kThree);
        const GraphPtr now = model(
            "S = Conv(X, A) T = Relu(S) P = Sigmoid(T) U = Conv<pads = [1,1,1,1]>(P, K) V = Relu(U) Y = "
            "Conv(V, B)");
        // Conv_4 now has the Relu's number, and Conv_3 is a new name: the structure decides.
        QCOMPARE(text(match(before, now)),
                 std::string(
                     "Conv_0>Conv_0 Conv_2>Conv_3 Conv_4>Conv_5 Relu_1>Relu_1 Relu_3>Relu_4; new Sigmoid_2"));
    }

    void aRemovedLayerIsLost() {
        const GraphPtr before = named(model(kThree), {"stem", "stem_act", "mid", "mid_act", "head"});
        const GraphPtr now =
            named(model("S = Conv(X, A) T = Relu(S) Y = Conv(T, B)"), {"stem", "stem_act", "head"});
        QCOMPARE(text(match(before, now)),
                 std::string("head>head stem>stem stem_act>stem_act; lost mid; lost mid_act"));
    }

    void equalBlocksAreMatchedByOrder() {
        const std::string body =
            "S = Relu(X) T = Relu(S) U = Relu(T) V = Relu(U) W = Relu(V) Z = Relu(W) Y = Relu(Z)";
        const GraphPtr before = named(model(body), {"a", "b", "c", "d", "e", "f", "g"});
        const GraphPtr now = named(model(body), {"1", "2", "3", "d", "5", "6", "7"});
        QCOMPARE(text(match(before, now)), std::string("a>1 b>2 c>3 d>d e>5 f>6 g>7"));
        // One layer fewer in the middle: it is unknown which one is missing, so none is matched.
        const GraphPtr fewer =
            named(model("S = Relu(X) T = Relu(S) U = Relu(T) V = Relu(U) W = Relu(V) Y = Relu(W)"),
                  {"1", "2", "3", "4", "5", "6"});
        const LayerMatch guess = match(before, fewer);
        QCOMPARE(guess.newNames.count("d"), std::size_t(0));
        QCOMPARE(guess.newNames.at("a"), std::string("1"));
        QCOMPARE(guess.newNames.at("g"), std::string("6"));
    }

    void renamedNetworkIsMatchedCompletely() {
        const GraphPtr before = loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx").graph;
        std::vector<std::string> numbered, plain;
        for (std::size_t n = 0; n < before->nodeCount(); ++n) {
            numbered.push_back(before->node(NodeId(n)).op + "_" + std::to_string(n + 7));
            plain.push_back("layer" + std::to_string(n));
        }
        for (const auto& names : {numbered, plain}) {
            const LayerMatch found = match(before, named(before, names));
            QVERIFY(found.unmatched.empty());
            for (std::size_t n = 0; n < names.size(); ++n)
                QCOMPARE(found.newNames.at(before->node(NodeId(n)).name), names[n]);
        }
    }

    void otherOperatorWithTheSameNameIsNotMatched() {
        const GraphPtr before = named(model("S = Conv(X, A) Y = Relu(S)"), {"stem", "act"});
        const GraphPtr now = named(model("S = Conv(X, A) Y = Sigmoid(S)"), {"stem", "act"});
        QCOMPARE(text(match(before, now)), std::string("stem>stem; lost act; new act"));
    }

    void configurationsUseTheNewNames() {
        const GraphPtr before = named(model(kThree), {"stem", "stem_act", "mid", "mid_act", "head"});
        const GraphPtr now = named(model(kThree), {"stem", "stem_act", "body", "body_act", "classifier"});
        QuantizationConfig config;
        config.layers["mid"].weightBits = 4;
        config.transforms.skipFolding = {"head"};
        config.transforms.equalization.off = {{"stem", "mid"}};
        config.rules = {{SkipKind::Node, {"stem", "mid_act"}, {}, {}, {}, {}},
                        {SkipKind::Until, {}, "stem", {"mid"}, {}, {}},
                        {SkipKind::Downstream, {}, "head", {}, {}, {}},
                        {SkipKind::Pattern, {}, {}, {}, {}, "^mid"},
                        {SkipKind::Type, {}, {}, {}, "Relu", {}}};
        const AdaptedConfig adapted = adaptConfig(config, match(before, now), *now);
        QuantizationConfig expected;
        expected.layers["body"].weightBits = 4;
        expected.transforms.skipFolding = {"classifier"};
        expected.transforms.equalization.off = {{"stem", "body"}};
        expected.rules = {{SkipKind::Node, {"stem", "body_act"}, {}, {}, {}, {}},
                          {SkipKind::Until, {}, "stem", {"body"}, {}, {}},
                          {SkipKind::Downstream, {}, "classifier", {}, {}, {}},
                          {SkipKind::Type, {}, {}, {}, "Relu", {}}};
        QVERIFY(adapted.config == expected);
        QCOMPARE(adapted.dropped.size(), std::size_t(1));
        QVERIFY2(adapted.dropped[0].find("names matching /^mid/") != std::string::npos,
                 adapted.dropped[0].c_str());
    }

    /// Disabled rules may name layers that the model does not have.
    void disabledRulesAndBlocks() {
        const GraphPtr before = named(model(kThree), {"stem", "stem_act", "mid", "mid_act", "head"});
        const GraphPtr now =
            named(model("S = Conv(X, A) T = Relu(S) Y = Conv(T, B)"), {"stem", "stem_act", "classifier"});
        QuantizationConfig config;
        config.rules = {{SkipKind::Node, {"mid", "head"}, {}, {}, {}, {}},
                        {SkipKind::Downstream, {}, "mid", {}, {}, {}},
                        {SkipKind::Block, {}, {}, {}, {}, {}, "head"}};
        config.rules[0].off = config.rules[1].off = true;
        const AdaptedConfig adapted = adaptConfig(config, match(before, now), *now);
        QCOMPARE(adapted.dropped, std::vector<std::string>{});
        QCOMPARE(adapted.config.rules.size(), std::size_t(3));
        QCOMPARE(adapted.config.rules[0].layers, (std::vector<std::string>{"mid", "classifier"}));
        QCOMPARE(adapted.config.rules[1].from, std::string("mid"));
        QCOMPARE(adapted.config.rules[2].like, std::string("classifier"));
    }

    void settingsOfLostLayersAreDroppedAndListed() {
        const GraphPtr before = named(model(kThree), {"stem", "stem_act", "mid", "mid_act", "head"});
        const GraphPtr now =
            named(model("S = Conv(X, A) T = Relu(S) Y = Conv(T, B)"), {"stem", "stem_act", "head"});
        QuantizationConfig config;
        config.layers["mid"].quantize = true;
        config.layers["head"].quantize = true;
        config.rules = {{SkipKind::Node, {"mid"}, {}, {}, {}, {}},
                        {SkipKind::Until, {}, "stem", {"mid", "head"}, {}, {}},
                        {SkipKind::Downstream, {}, "mid", {}, {}, {}}};
        config.transforms.equalization.off = {{"stem", "mid"}};
        const AdaptedConfig adapted = adaptConfig(config, match(before, now), *now);
        QVERIFY(resolveSkips(*now, adapted.config).skipped(NodeId(1)));
        QCOMPARE(adapted.config.rules.size(), std::size_t(1));
        QCOMPARE(adapted.config.rules[0].to, std::vector<std::string>{"head"});
        QVERIFY(adapted.config.layers.contains("head") && adapted.config.layers.size() == 1);
        QVERIFY(adapted.config.transforms.equalization.off.empty());
        const std::vector<std::string> expected = {
            "the equalization exclusion of layer 'mid'",
            "skipping layer 'mid'",
            "skipping until layer 'mid'",
            "the rule to skip mid and everything downstream: it starts at layer 'mid'",
            "the settings of layer 'mid'",
        };
        QCOMPARE(adapted.dropped, expected);
    }
};

QTEST_GUILESS_MAIN(LayerMatchTest)
#include "layer_match_test.moc"
