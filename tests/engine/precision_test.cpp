// SPDX-License-Identifier: Apache-2.0
// Precisions of layers in the configuration: names, JSON, rules, precedence, edits.
#include <QtTest>

#include "config/config_json.h"
#include "config/layer_choices.h"
#include "config/precision_rules.h"
#include "config/skip_rules.h"
#include "data/random_dataset.h"
#include "session/session.h"
#include "support/errors.h"
#include "support/export_support.h"
#include "support/text_model.h"

using namespace quantloupe;
using test::errorOf;

namespace {

QString reading(const std::string& json) {
    return errorOf([&] { configFromJson(json); });
}

PrecisionRule rule(SkipKind kind, const std::string& value, const char* precision) {
    PrecisionRule result;
    result.covers.kind = kind;
    switch (kind) {
        case SkipKind::Type:
            result.covers.op = value;
            break;
        case SkipKind::Pattern:
            result.covers.regex = value;
            break;
        case SkipKind::Block:
            result.covers.like = value;
            break;
        case SkipKind::Downstream:
            result.covers.from = value;
            break;
        default:
            result.covers.layers = {value};
    }
    result.precision = precisionNamed(precision);
    return result;
}

/// Nothing is skipped by default.
QuantizationConfig config(std::vector<PrecisionRule> rules = {}) {
    QuantizationConfig result;
    result.skipTail = false;
    result.precisionRules = std::move(rules);
    return result;
}

std::string precision(const QuantizationConfig& config, const char* layer) {
    const GraphPtr graph = test::stageModel();
    return precisionName(precisionsOf(*graph, config)[graph->findNode(layer)->index()]);
}

}  // namespace

class PrecisionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void names() {
        for (const char* name : {"float32", "float16", "w8a8", "w4a16", "w16a16", "w2a2", "w10a12"})
            QCOMPARE(precisionName(precisionNamed(name)), std::string(name));
        for (const char* name :
             {"", "w", "w8", "w8a", "a8w8", "w8a17", "w1a8", "w08a8", "w8a8 ", "W8A8", "float", "w-4a8"})
            QVERIFY2(!parsePrecision(name), name);
        const QString unknown = errorOf([] { precisionNamed("W8A16"); });
        QVERIFY2(unknown.startsWith("unknown precision 'W8A16' (did you mean 'w8a16'"), qPrintable(unknown));
        QVERIFY2(
            unknown.endsWith("it must be float32, float16, or the bits of weights and activations (2 to 16), "
                             "as in w8a16"),
            qPrintable(unknown));
    }

    void json() {
        QuantizationConfig c =
            config({rule(SkipKind::Type, "Conv", "w8a16"), rule(SkipKind::Pattern, "^/out", "float16"),
                    rule(SkipKind::Block, "/dw", "w4a8"), rule(SkipKind::Node, "/pool", "float32"),
                    rule(SkipKind::Downstream, "/dw/Conv", "w16a16")});
        c.precisionRules[1].covers.off = true;
        c.layers["/stem/Conv"].precision = Precision::integer(4, 16);
        c.layers["/dw/Conv"].precision = Precision::float16();
        c.layers["/dw/Conv"].comment = "sensitive";
        QVERIFY(configFromJson(configToJson(c)) == c);
        QVERIFY(configToJson(QuantizationConfig{}).find("precision") == std::string::npos);

        QuantizationConfig set;
        setConfigKey(set, "layers./stem/Conv.precision", "w8a16");
        setConfigKey(set, "precision_rules",
                     R"([{"kind": "type", "op": "depthwise", "precision": "w8a16"}])");
        QVERIFY(set.layers.at("/stem/Conv").precision == Precision::integer(8, 16));
        QCOMPARE(set.precisionRules.size(), std::size_t(1));
        setConfigKey(set, "layers./stem/Conv.precision", "null");
        QVERIFY(set.layers.empty());
    }

    void wrongJson() {
        const QString own = reading(R"({"layers": {"a": {"precision": "w8a32"}}})");
        QVERIFY2(own.startsWith("layers.a.precision: unknown precision 'w8a32'; it must be float32, float16"),
                 qPrintable(own));
        const QString near = reading(R"({"layers": {"a": {"precision": "flaot16"}}})");
        QVERIFY2(near.contains("(did you mean 'float16'"), qPrintable(near));
        QCOMPARE(reading(R"({"layers": {"a": {"precision": 8}}})"),
                 QString("layers.a.precision: must be a string, not 8"));
        QCOMPARE(reading(R"({"layers": {"a": {"quantize": false, "precision": "w8a16"}}})"),
                 QString("layers.a: quantize is false, but precision is w8a16: remove one of them"));
        QCOMPARE(reading(R"({"layers": {"a": {"quantize": true, "precision": "float16"}}})"),
                 QString("layers.a: quantize is true, but precision is float16: remove one of them"));
        QCOMPARE(reading(R"({"layers": {"a": {"quantize": true, "precision": "w8a8"}}})"), QString());
        QCOMPARE(reading(R"({"precision_rules": [{"kind": "type", "op": "Conv"}]})"),
                 QString("precision_rules[0].precision: is missing; every precision rule needs it"));
        const QString ofRule =
            reading(R"({"precision_rules": [{"kind": "type", "op": "Conv", "precision": "int8"}]})");
        QVERIFY2(ofRule.startsWith("precision_rules[0].precision: unknown precision 'int8'"),
                 qPrintable(ofRule));
        QCOMPARE(
            reading(
                R"({"precision_rules": [{"kind": "threshold", "metric": "local.qs", "above": 1, "precision": "w8a8"}]})"),
            QString("precision_rules[0].kind: a precision rule cannot have the kind 'threshold'; name the "
                    "layers instead"));
        QVERIFY(reading(R"({"layers": {"a": {"precison": "w8a8"}}})").contains("precison"));
    }

    void rules() {
        QCOMPARE(precision(config(), "/dw/Conv"), std::string("w8a8"));
        QCOMPARE(precision(config({rule(SkipKind::Type, "Conv", "w8a16")}), "/dw/Conv"),
                 std::string("w8a16"));
        QCOMPARE(precision(config({rule(SkipKind::Type, "Conv", "w8a16")}), "/head/Gemm"),
                 std::string("w8a8"));
        const auto depthwise = config({rule(SkipKind::Type, "depthwise", "w8a16")});
        QCOMPARE(precision(depthwise, "/dw/Conv"), std::string("w8a16"));
        QCOMPARE(precision(depthwise, "/stem/Conv"), std::string("w8a8"));
        QCOMPARE(precision(config({rule(SkipKind::Pattern, "^/(dw|out)/", "float16")}), "/out/Add"),
                 std::string("float16"));
        QCOMPARE(precision(config({rule(SkipKind::Block, "/dw", "w4a8")}), "/dw/Conv"), std::string("w4a8"));
        const auto error = [](const PrecisionRule& bad) {
            return errorOf([&] { precisionsOf(*test::stageModel(), config({bad})); });
        };
        const QString name = error(rule(SkipKind::Node, "/stem/Conf", "w8a16"));
        QVERIFY2(name.startsWith("precision rule 1 (w8a16 for layer /stem/Conf): the model has no layer "
                                 "'/stem/Conf' (did you mean '/stem/Conv'"),
                 qPrintable(name));
        QVERIFY(
            error(rule(SkipKind::Pattern, "nothing", "w8a16")).contains("no layer's name matches /nothing/"));
    }

    /// A layer's own precision, its own bits, the last rule, the network.
    void precedence() {
        QuantizationConfig c =
            config({rule(SkipKind::Type, "Conv", "w8a16"), rule(SkipKind::Node, "/dw/Conv", "w4a8")});
        QCOMPARE(precision(c, "/dw/Conv"), std::string("w4a8"));
        std::swap(c.precisionRules[0], c.precisionRules[1]);
        QCOMPARE(precision(c, "/dw/Conv"), std::string("w8a16"));
        c.layers["/dw/Conv"].weightBits = 6;
        QCOMPARE(precision(c, "/dw/Conv"), std::string("w6a16"));
        c.layers["/dw/Conv"].precision = Precision::integer(16, 8);
        QCOMPARE(precision(c, "/dw/Conv"), std::string("w16a8"));
        c.layers["/dw/Conv"].precision.reset();
        c.layers["/dw/Conv"].quantize = false;
        QCOMPARE(precision(c, "/dw/Conv"), std::string("float32"));
        c.precisionRules = {rule(SkipKind::Type, "Conv", "float16")};
        QCOMPARE(precision(c, "/dw/Conv"), std::string("float32"));
        QCOMPARE(precision(c, "/stem/Conv"), std::string("float16"));
        c.precisionRules[0].covers.off = true;
        QCOMPARE(precision(c, "/stem/Conv"), std::string("w8a8"));
    }

    void skipRules() {
        QuantizationConfig c = config({rule(SkipKind::Type, "Conv", "w8a16")});
        SkipRule skip;
        skip.layers = {"/dw/Conv"};
        c.rules = {skip};
        QCOMPARE(precision(c, "/dw/Conv"), std::string("float32"));
        c.precisionRules[0].precision = Precision::float16();
        QCOMPARE(precision(c, "/dw/Conv"), std::string("float16"));
        c.layers["/dw/Conv"].precision = Precision::integer(8, 16);
        QCOMPARE(precision(c, "/dw/Conv"), std::string("w8a16"));
        const GraphPtr graph = test::stageModel();
        const SkipDecisions skips = resolveSkips(*graph, c);
        QCOMPARE(skips.reasons[graph->findNode("/stem/Conv")->index()],
                 std::string("computed in float16 by precision rule 1: all Conv layers"));
        c.layers["/stem/Conv"].precision = Precision::float32();
        c.layers["/stem/Conv"].comment = "first";
        QCOMPARE(resolveSkips(*graph, c).reasons[graph->findNode("/stem/Conv")->index()],
                 std::string("kept in float32 by the layer's own precision: first"));
    }

    /// Resolving gives every layer its own settings, and the same precisions and skipped layers.
    void resolving() {
        QuantizationConfig c =
            config({rule(SkipKind::Type, "Conv", "w4a16"), rule(SkipKind::Node, "/out/Conv", "float16")});
        SkipRule skip;
        skip.layers = {"/dw/Conv"};
        c.rules = {skip};
        c.layers["/head/Gemm"].precision = Precision::integer(8, 16);
        const GraphPtr graph = test::stageModel();
        const QuantizationConfig resolved = withPrecisionsResolved(*graph, c);
        QVERIFY(precisionsOf(*graph, resolved) == precisionsOf(*graph, c));
        QVERIFY(resolved.precisionRules.empty());
        QCOMPARE(resolved.layers.at("/head/Gemm").activationBits, std::optional(16));
        QCOMPARE(resolved.layers.at("/stem/Conv").weightBits, std::optional(4));
        QVERIFY(!resolved.layers.at("/dw/Conv").precision);  // skipped: only the bits it would have
        QCOMPARE(resolved.layers.at("/dw/Conv").weightBits, std::optional(4));
        QVERIFY(withPrecisionsResolved(*graph, resolved) == resolved);
    }

    /// Folded and fused layers have the precision of their hosts; operators that move values have the bits of
    /// their inputs.
    void resultsOfLayers() {
        LoadedModel model;
        model.graph = test::stageModel();
        Session session(std::move(model));
        QuantizationConfig c = withPrecision(config(), {"/stem/Conv"}, Precision::float32());
        c = withPrecision(c, {"/dw/Conv"}, Precision::integer(8, 16));
        c = withPrecision(c, {"/out/Conv"}, Precision::float16());
        c = withPrecision(c, {"/out/Add"}, Precision::integer(8, 12));
        c = withPrecision(c, {"/head/Gemm"}, Precision::integer(4, 8));
        std::string found;
        const EvaluationPtr result = session.evaluate(c, Depth::States);
        for (const LayerResult& layer : result->layers) found += precisionName(layer.precision) + " ";
        QCOMPARE(found,
                 std::string("float32 float32 float32 w8a16 w8a16 w8a16 float16 w8a12 w8a8 w8a8 w4a8 "));
        QCOMPARE(result->layers[6].state, LayerState::Skipped);
        QCOMPARE(result->layers[6].reason, std::string("computed in float16 by the layer's own precision"));
        // To 12 bits at an input of the Add, to half precision at /out/Conv, to 8 bits at the pool.
        QCOMPARE(session.prepare(c)->conversions.size(), std::size_t(3));
    }

    /// The output of a recurrent layer is not quantized by that layer, so its own bits do not decide on it.
    void readerDeterminesBitsOfRecurrentOutputs() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 14]> net (float[3,1,2] x) => (float[1,1,2] y) "
            "<float[1,4,2] w = {1, -2, 3, 4, 5, -6, 7, 8}, float[1,4,1] r = {1, 2, -3, 4}, float[1,2] v = "
            "{0.5, 2}> { all, last = LSTM<hidden_size = 1>(x, w, r) y = MatMul(last, v) }"));
        const DatasetPtr data = randomDataset(session.graph(), 8, 1);
        session.setData(data, data);
        const auto typeOf = [&](const QuantizationConfig& c) {
            const GraphPtr exported = session.quantizedModel(c);
            for (const TensorInfo& tensor : exported->tensors())
                if (tensor.name.starts_with("last_") && tensor.name.ends_with("zero_point"))
                    return tensor.constant->type();
            return DataType::Undefined;
        };
        const QuantizationConfig lstm = withPrecision(config(), {"LSTM_0"}, Precision::integer(8, 16));
        QCOMPARE(typeOf(lstm), DataType::Int8);
        QCOMPARE(typeOf(withPrecision(lstm, {"MatMul_1"}, Precision::integer(8, 16))), DataType::Int16);
        QCOMPARE(typeOf(withPrecision(lstm, {"MatMul_1"}, Precision::integer(8, 8))), DataType::Int8);
    }

    void edits() {
        const GraphPtr graph = test::stageModel();
        QuantizationConfig c = config();
        SkipRule skip;
        skip.layers = {"/dw/Conv", "/out/Conv"};
        c.rules = {skip};
        c.layers["/dw/Conv"].weightBits = 4;
        c = withPrecision(c, {"/dw/Conv"}, Precision::integer(8, 16));
        QCOMPARE(precision(c, "/dw/Conv"), std::string("w8a16"));
        QVERIFY(!c.layers.at("/dw/Conv").weightBits);
        QCOMPARE(c.rules.at(0).layers, std::vector<std::string>{"/out/Conv"});
        QVERIFY(withoutPrecision(c, {"/dw/Conv"}).layers.empty());

        c = withLayersSkipped(c, {"/dw/Conv"});
        QCOMPARE(precision(c, "/dw/Conv"), std::string("float32"));
        c = withPrecision(c, {"/dw/Conv"}, Precision::float16());
        c = withLayersQuantized(*graph, c, {"/dw/Conv"});
        QCOMPARE(precision(c, "/dw/Conv"), std::string("w8a8"));
        c.precisionRules = {rule(SkipKind::Type, "Conv", "float16")};
        c = withLayersQuantized(*graph, c, {"/stem/Conv"});
        QCOMPARE(precision(c, "/stem/Conv"), std::string("w8a8"));
        setLayerChoice(c, "/head/Gemm", false);
        c.layers["/head/Gemm"].precision = Precision::float32();
        setLayerChoice(c, "/head/Gemm", true);
        QVERIFY(!c.layers.at("/head/Gemm").precision);
    }
};

QTEST_APPLESS_MAIN(PrecisionTest)
#include "precision_test.moc"
