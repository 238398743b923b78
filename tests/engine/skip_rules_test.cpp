// SPDX-License-Identifier: Apache-2.0
// The layers that each kind of rule keeps in float, and the messages about rules that cannot apply.

#include "config/skip_rules.h"

#include <QtTest>

#include "base/error.h"
#include "config/layer_choices.h"
#include "config/near_names.h"
#include "model/graph_builder.h"
#include "session/studies/skip_metrics.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

// stem -> left  -> join -> head -> relu
//      -> right ->
GraphPtr model() {
    const LoadedModel loaded = test::textModel(R"(
        <ir_version: 8, opset_import: ["" : 13]>
        net (float[1,2,4,4] X) => (float[1,2,4,4] Y)
        <float[2,2,1,1] A = {1,2,3,4}, float[2,2,1,1] B = {1,2,3,4}, float[2,2,1,1] C = {1,2,3,4}> {
            stem = Conv(X, A)
            left = Conv(stem, B)
            right = Relu(stem)
            join = Add(left, right)
            head = Conv(join, C)
            Y = Relu(head)
        })");
    GraphBuilder builder(*loaded.graph);
    // The text form has no node names.
    const char* const kNames[] = {"stem", "left", "right", "join", "head", "relu"};
    for (std::size_t n = 0; n < 6; ++n) builder.node(NodeId(n)).name = kNames[n];
    return builder.build();
}

SkipRule node(std::vector<std::string> layers) { return {SkipKind::Node, std::move(layers), {}, {}, {}, {}}; }
SkipRule until(std::string from, std::vector<std::string> to) {
    return {SkipKind::Until, {}, std::move(from), std::move(to), {}, {}};
}
SkipRule downstream(std::string from) { return {SkipKind::Downstream, {}, std::move(from), {}, {}, {}}; }
SkipRule type(std::string op) { return {SkipKind::Type, {}, {}, {}, std::move(op), {}}; }
SkipRule pattern(std::string regex) { return {SkipKind::Pattern, {}, {}, {}, {}, std::move(regex)}; }

SkipRule block(std::string like) { return {SkipKind::Block, {}, {}, {}, {}, {}, std::move(like)}; }
SkipRule threshold(std::vector<std::string> measured) {
    return {
        SkipKind::Threshold, std::move(measured), {}, {}, {}, {}, {}, SkipMetric::LocalCosine, 0.99, true};
}

QuantizationConfig config(std::vector<SkipRule> rules, bool tail = false) {
    QuantizationConfig result;
    result.rules = std::move(rules);
    result.skipTail = result.wholeTail = tail;
    return result;
}

std::string skipped(const Graph& graph, const QuantizationConfig& c) {
    const SkipDecisions decisions = resolveSkips(graph, c);
    std::string names;
    for (std::size_t n = 0; n < graph.nodeCount(); ++n)
        if (decisions.skipped(NodeId(n))) names += (names.empty() ? "" : " ") + graph.nodes()[n].name;
    return names;
}

std::string message(const Graph& graph, const QuantizationConfig& c) {
    try {
        return "skips " + skipped(graph, c);
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

class SkipRulesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void eachKind() {
        const GraphPtr g = model();
        QCOMPARE(skipped(*g, config({})), std::string());
        QCOMPARE(skipped(*g, config({}, true)), std::string("head relu"));
        QCOMPARE(skipped(*g, config({node({"stem", "join"})})), std::string("stem join"));
        QCOMPARE(skipped(*g, config({until("stem", {"join"})})), std::string("stem left right join"));
        QCOMPARE(skipped(*g, config({until("left", {"join"})})), std::string("left join"));
        QCOMPARE(skipped(*g, config({until("stem", {"left", "right"})})), std::string("stem left right"));
        QCOMPARE(skipped(*g, config({until("left", {"left"})})), std::string("left"));
        QCOMPARE(skipped(*g, config({downstream("join")})), std::string("join head relu"));
        QCOMPARE(skipped(*g, config({type("Conv")})), std::string("stem left head"));
        // One list of operators for several models.
        QCOMPARE(skipped(*g, config({type("Softmax"), type("depthwise"), type("Conv")})),
                 std::string("stem left head"));
        QCOMPARE(skipped(*g, config({pattern("^.e")})), std::string("left head relu"));
        // RE2 has no backreferences: they cannot be matched in linear time.
        QVERIFY(message(*g, config({pattern("(.)o\\1")})).find("is not valid: invalid escape sequence") !=
                std::string::npos);
        QCOMPARE(skipped(*g, config({threshold({})})), std::string());  // not measured yet
        QCOMPARE(skipped(*g, config({threshold({"join"})})), std::string("join"));
        QCOMPARE(resolveSkips(*g, config({threshold({"join"})})).reasons[3],
                 std::string("skipped by rule 1: local cosine similarity below 0.99"));
    }

    /// Rules keep their numbers, so that the reasons identify them in the list.
    void disabledRuleCoversNothing() {
        const GraphPtr g = model();
        QuantizationConfig c = config({type("Conv"), node({"not there"}), type("Add")});
        c.rules[0].off = c.rules[1].off = true;
        QCOMPARE(skipped(*g, c), std::string("join"));
        const SkipDecisions decisions = resolveSkips(*g, c);
        QCOMPARE(decisions.covered.size(), std::size_t{3});
        QCOMPARE(std::ranges::count(decisions.covered[0], true), std::ptrdiff_t{0});
        QCOMPARE(decisions.reasons[3], std::string("skipped by rule 3: all Add layers"));
        QCOMPARE(withoutOffRules(c).rules, std::vector{type("Add")});
        c.rules[0].off = false;
        QCOMPARE(skipped(*g, c), std::string("stem left join head"));
        c.rules[1].off = false;
        QVERIFY(message(*g, c).find("not there") != std::string::npos);
    }

    void thresholdsOfMetricsNeedSamples() {
        QuantizationConfig c = config({threshold({}), type("Conv"), threshold({})});
        const auto error = [&] { return test::errorOf([&] { requireSamplesForThresholds(c, "--data"); }); };
        QVERIFY2(error().startsWith("skip rule 1 (local cosine similarity below 0.99) matches no layers"),
                 qPrintable(error()));
        QVERIFY(error().contains("(--data)"));
        c.rules[0].off = true;
        QVERIFY(error().startsWith("skip rule 3 "));
        c.rules[2].metric = SkipMetric::WeightSqnr;
        QCOMPARE(error(), QString());
    }

    void reasonsAndPrecedence() {
        const GraphPtr g = model();
        QuantizationConfig c = config({type("Add"), until("stem", {"join"})}, true);
        c.layers["left"].quantize = true;
        c.layers["relu"].quantize = false;
        c.layers["relu"].comment = "looks better";
        c.layers["head"].weightBits = 4;
        const SkipDecisions decisions = resolveSkips(*g, c);
        const std::vector<std::string> expected = {
            "skipped by rule 2: from stem until join",
            "",
            "skipped by rule 2: from stem until join",
            "skipped by rule 1: all Add layers",
            "skipped as part of the tail: the last weighted layer and everything after it",
            "skipped by the layer's own setting: looks better",
        };
        QCOMPARE(decisions.reasons, expected);
        QCOMPARE(decisions.covered.size(), std::size_t(3));
        QVERIFY(decisions.covered[1][1]);  // the rule still covers the layer whose own setting overrides it
        QVERIFY((decisions.covered[2] == NodeSet{false, false, false, false, true, true}));
    }

    void errorsSuggestFixes_data() {
        QTest::addColumn<QString>("which");
        QTest::addColumn<QString>("expected");
        QTest::newRow("unknown")
            << "node"
            << "skip rule 1 (layer Stem1): the model has no layer 'Stem1' (did you mean 'stem'?)";
        QTest::newRow("swap")
            << "swap"
            << "there is no path from 'join' to 'left', but there is one from 'left' to 'join': "
               "swap them";
        QTest::newRow("branches") << "branches"
                                  << "there is no path from 'left' to 'right' or back";
        QTest::newRow("type") << "type"
                              << "the model has no layer of type 'Gemmm'; its types are: Add, Conv, Relu";
        QTest::newRow("nothing")
            << "nothing"
            << "no layer's name matches /xyz/; examples of names: stem, left, right and 3";
        QTest::newRow("regex") << "regex"
                               << "skip rule 2 (names matching /(/): the regular expression '(' is not valid";
        QTest::newRow("block")
            << "block"
            << "the model has no block 'heat': no layer has this name, and no module has this path";
        QTest::newRow("layer") << "layer"
                               << "settings of layers: the model has no layer 'heat' (did you mean 'head'";
    }
    void errorsSuggestFixes() {
        QFETCH(QString, which);
        QFETCH(QString, expected);
        const GraphPtr g = model();
        QuantizationConfig c;
        if (which == "node") c = config({node({"Stem1"})});
        if (which == "block") c = config({block("heat")});
        if (which == "swap") c = config({until("join", {"left"})});
        if (which == "branches") c = config({until("left", {"right"})});
        if (which == "type") c = config({type("Gemmm")});
        if (which == "nothing") c = config({pattern("xyz")});
        if (which == "regex") c = config({type("Add"), pattern("(")});
        if (which == "layer") c.layers["heat"].quantize = true;
        const QString found = QString::fromStdString(message(*g, c));
        QVERIFY2(found.contains(expected), qPrintable(found));
    }

    // Exponential time would exceed QtTest's limit for a function.
    void hostilePatternsTerminate() {
        GraphBuilder builder(*model());
        builder.node(NodeId(0)).name = std::string(200'000, 'a');
        const GraphPtr g = builder.build();
        QCOMPARE(message(*g, config({pattern("^(a+)+$"), type("Add")})).substr(0, 9),
                 std::string("skips aaa"));
    }

    void nearNamesAreRanked() {
        const std::vector<std::string> names = {"/features/conv", "Conv_12", "Conv_1", "conv_2", "Relu_7"};
        QCOMPARE(nearNames(names, "CONV_1", 2), (std::vector<std::string>{"Conv_1", "Conv_12"}));
        QCOMPARE(nearNames(names, "conv", 9),
                 (std::vector<std::string>{"Conv_1", "conv_2", "Conv_12", "/features/conv"}));
        QCOMPARE(nearNames(names, "Softmax", 3), std::vector<std::string>());
        // Two of six characters may differ; from "kitten" to "sitting", it is three.
        QCOMPARE(nearNames({"mitted", "sitting"}, "kitten", 2), std::vector<std::string>{"mitted"});
        QCOMPARE(didYouMean({"a", "b", "c"}), std::string(" (did you mean 'a', 'b' or 'c'?)"));
    }

    /// The unknown name and similar ones are data, whatever context is added to the message.
    void errorContainsTheUnknownName() {
        Error error = unknownLayer(*model(), "rightt");
        error.addContext("line 3");
        QCOMPARE(error.what(), "line 3: the model has no layer 'rightt' (did you mean 'right'?)");
        QCOMPARE(error.unknownName()->name, std::string("rightt"));
        QCOMPARE(error.unknownName()->similar, std::vector<std::string>{"right"});
        try {
            requireLayers(*model(), {"left", "haed"});
            QFAIL("an unknown layer was accepted");
        } catch (const Error& thrown) {
            QCOMPARE(thrown.unknownName()->name, std::string("haed"));
        }
        QVERIFY(!Error(ErrorKind::BadInput, "the model has no layer 'a'").unknownName());
    }
};

QTEST_GUILESS_MAIN(SkipRulesTest)
#include "skip_rules_test.moc"
