// SPDX-License-Identifier: Apache-2.0
// CLIKA's settings as Python and YAML: golden files, import of the CLIKA guide's own examples, and round
// trips of rules.
#include <yaml-cpp/yaml.h>

#include "config/skip_rules.h"
#include "support/export_support.h"
#include "support/python.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

SkipRule until(const char* from, std::vector<std::string> to) {
    SkipRule rule;
    rule.kind = SkipKind::Until;
    rule.from = from;
    rule.to = std::move(to);
    return rule;
}

QuantizationConfig tuned() {
    QuantizationConfig config;
    SkipRule single, downstream, type;
    single.layers = {"/stem/Conv"};
    downstream.kind = SkipKind::Downstream;
    downstream.from = "/pool";
    type.kind = SkipKind::Type;
    type.op = "Add";
    config.rules = {single, until("/dw/Conv", {"/out/Conv", "/out/Add"}), downstream, type};
    config.layers["/out/Conv"].weightBits = 4;
    config.wholeTail = true;
    return config;
}

ExportResult exported(const QuantizationConfig& config) {
    return formatNamed("clika", false).write(exportSource(stageModel(), config, "net.clika.py"));
}

/// Two pools and six linear layers.
GraphPtr guideModel() {
    return textModel(R"(
        <ir_version: 8, opset_import: ["" : 13]>
        net (float[1,2,4,4] X) => (float[1,2] Y) <float[2,2] W = {1,2,3,4}> {
            a = GlobalAveragePool(X)
            b = GlobalAveragePool(a)
            c = Flatten(b)
            d = MatMul(c, W)
            e = MatMul(d, W)
            f = MatMul(e, W)
            g = MatMul(f, W)
            h = MatMul(g, W)
            Y = MatMul(h, W)
        })")
        .graph;
}

const char* const kUntil = R"(from clika_compression import LayerQuantizationSettings, Settings

settings = Settings() # Default settings
settings.set_quantization_settings_for_layer(
"adaptive_avg_pool_1",
LayerQuantizationSettings(skip_quantization=True, skip_quantization_until=["linear_5"])
)
)";

const char* const kDownstream = R"(from clika_compression import LayerQuantizationSettings, Settings

settings = Settings() # Default settings
settings.set_quantization_settings_for_layer(
"adaptive_avg_pool_1",
LayerQuantizationSettings(skip_quantization=True, skip_quantization_downstream=True)
)
)";

}  // namespace

class ClikaTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void goldenFiles() {
        const ExportResult result = exported(tuned());
        QVERIFY(matchesGolden(result.files[0].text, "clika.py"));
        QVERIFY(matchesGolden(result.files[1].text, "clika.yaml"));
        QVERIFY(says(result.notices, "CLIKA has no operator-type rule: resolved to 1 layer"));
        QVERIFY(joined(result.notices).find("skip-until") == std::string::npos);
        QVERIFY(joined(result.notices).find("tail") == std::string::npos);
        const YAML::Node yaml = YAML::Load(result.files[1].text);
        QCOMPARE(yaml["layer_settings"]["conv_1"]["quantization_settings"]["skip_quantization_until"].size(),
                 2u);
        if (runPython({"-c", "pass"}) == 0) QVERIFY(compilesInPython(result.files[0].text));
        QVERIFY(YAML::Load(exported({}).files[1].text)["layer_settings"].IsMap());
    }

    void examplesOfTheGuide() {
        const GraphPtr graph = guideModel();
        const ImportResult one = readText("clika", graph, kUntil);
        QVERIFY2(one.left.empty(), joined(one.left).c_str());
        QCOMPARE(one.config.rules.size(), 1u);
        QVERIFY(one.config.rules[0] == until(graph->nodes()[1].name.c_str(), {graph->nodes()[8].name}));
        QVERIFY(one.config.skipTail);
        const ImportResult two = readText("clika", graph, kDownstream);
        QVERIFY2(two.left.empty(), joined(two.left).c_str());
        QCOMPARE(two.config.rules[0].from, graph->nodes()[1].name);
        QVERIFY(two.config.rules[0].kind == SkipKind::Downstream);
    }

    void rulesRoundTrip() {
        const QuantizationConfig config = tuned();
        const ExportResult result = exported(config);
        for (const ExportedFile& file : {result.files[0], result.files[1]}) {
            const ImportResult back = readText("clika", stageModel(), file.text);
            QVERIFY2(back.left.empty(), joined(back.left).c_str());
            QVERIFY(back.config.skipTail);
            QCOMPARE(*back.config.layers.at("/out/Conv").weightBits, 4);
            const auto before = resolveSkips(*stageModel(), config),
                       after = resolveSkips(*stageModel(), back.config);
            for (std::size_t n = 0; n < stageModel()->nodeCount(); ++n)
                QCOMPARE(after.skipped(NodeId(n)), before.skipped(NodeId(n)));
            const auto kept = std::find_if(back.config.rules.begin(), back.config.rules.end(),
                                           [](const SkipRule& rule) { return rule.kind == SkipKind::Until; });
            QVERIFY(kept != back.config.rules.end());
            QVERIFY(*kept == config.rules[1]);
        }
    }

    /// CLIKA reads only the bits that it has.
    void otherBitsAreWrittenAsTheNext() {
        QuantizationConfig config;
        config.quantization.weight.bits = 6;
        config.quantization.activation.bits = 16;
        config.layers["/out/Conv"].weightBits = 3;
        config.layers["/out/Conv"].activationBits = 16;
        const ExportResult result = exported(config);
        for (const ExportedFile& file : {result.files[0], result.files[1]}) {
            const ImportResult back = readText("clika", stageModel(), file.text);
            QVERIFY2(back.left.empty(), joined(back.left).c_str());
            QCOMPARE(back.config.quantization.weight.bits, 8);
            QCOMPARE(back.config.quantization.activation.bits, 8);
            QCOMPARE(*back.config.layers.at("/out/Conv").weightBits, 4);
        }
    }

    void theAbsoluteThresholdIsAutomaticSkipping() {
        QuantizationConfig config;
        SkipRule rule;
        rule.kind = SkipKind::Threshold;
        rule.metric = SkipMetric::LocalAbsoluteL2;
        rule.threshold = 10000;
        config.rules = {rule};
        const ExportResult result = exported(config);
        QVERIFY(result.files[0].text.find("automatic_skip_quantization = True\n") != std::string::npos);
        QVERIFY(result.files[0].text.find("quantization_sensitivity_threshold = 10000.0\n") !=
                std::string::npos);
        QVERIFY(result.files[1].text.find(
                    "  automatic_skip_quantization: true\n  quantization_sensitivity_threshold: 10000.0\n") !=
                std::string::npos);
        QVERIFY(joined(result.notices).find("threshold rule") == std::string::npos);
        QVERIFY(says(result.notices, "skips layers above 10000 by CLIKA's own metric"));
        for (const std::size_t file : {0u, 1u}) {
            const ImportResult back = readText("clika", stageModel(), result.files[file].text);
            QVERIFY2(back.left.empty(), joined(back.left).c_str());
            QCOMPARE(back.config.rules.size(), 1u);
            QVERIFY(back.config.rules[0] == rule);
        }
        // One limit covers two rules; a relative threshold becomes a list of layers.
        rule.threshold = 5000;
        config.rules.push_back(rule);
        rule.metric = SkipMetric::LocalQs;
        config.rules.push_back(rule);
        const ExportResult several = exported(config);
        QVERIFY(several.files[0].text.find("quantization_sensitivity_threshold = 5000.0\n") !=
                std::string::npos);
        QVERIFY(says(several.notices, "CLIKA has no threshold rule"));
        const ImportResult alone =
            readText("clika", stageModel(),
                     "global_quantization_settings:\n  quantization_sensitivity_threshold: 7\n");
        QVERIFY(alone.config.rules.empty());
        QVERIFY(
            says(alone.left,
                 "quantization_sensitivity_threshold 7 has no effect without automatic_skip_quantization"));
        QVERIFY(readFailure("clika", stageModel(),
                            "global_quantization_settings:\n  quantization_sensitivity_threshold: many\n")
                    .find("line 2") != std::string::npos);
    }

    void allNamesAreListed() {
        const ExportResult result = exported(tuned());
        QCOMPARE(result.files[2].ending, std::string(".layers.txt"));
        const QStringList lines =
            QString::fromStdString(result.files[2].text).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 12);  // including the heading
        QCOMPARE(lines[4].simplified(), QStringLiteral("4 conv_1 Conv /dw/Conv"));
        QCOMPARE(lines[11].simplified(), QStringLiteral("11 linear Gemm /head/Gemm"));
    }

    void layerSettingIsWritten() {
        QuantizationConfig config;
        config.skipTail = false;
        config.rules = {until("/stem/Conv", {"/out/Conv"})};
        config.layers["/dw/Conv"].quantize = true;
        const ExportResult result = exported(config);
        QVERIFY(result.files[0].text.find("skip_quantization=False") != std::string::npos);
        QVERIFY(result.files[0].text.find("skip_tail_quantization = False") != std::string::npos);
        QVERIFY(says(result.notices, "'/dw/Conv' is quantized here although a rule skips it"));
        const ImportResult back = readText("clika", stageModel(), result.files[0].text);
        QCOMPARE(*back.config.layers.at("/dw/Conv").quantize, true);
        QVERIFY(!back.config.skipTail);
    }

    /// A layer can have the name that CLIKA gives to another one.
    void namesOfClikaHavePriority() {
        QCOMPARE(floatLayersReadBack("clika", {}, {"conv_1", "conv"}, 0), std::vector<std::string>{"conv_1"});
    }

    /// CLIKA ignores a rule of a layer that is itself quantized.
    void ruleOfAQuantizedLayerIsWrittenAsItsLayers() {
        QuantizationConfig config;
        config.skipTail = false;
        config.rules = {until("/stem/Conv", {"/out/Conv"})};
        config.layers["/stem/Conv"].quantize = true;
        const ExportResult result = exported(config);
        QVERIFY(result.files[0].text.find("skip_quantization_until") == std::string::npos);
        QVERIFY(says(result.notices, "the rule that begins at '/stem/Conv' is written as a list of layers"));
        QVERIFY(!says(result.notices, "is quantized here although a rule skips it"));
        const QuantizationConfig back = readText("clika", stageModel(), result.files[0].text).config;
        const auto before = exportSource(stageModel(), config, "x").layers;
        const auto after = exportSource(stageModel(), back, "x").layers;
        for (std::size_t i = 0; i < before.size(); ++i) QCOMPARE(after[i].state, before[i].state);
    }

    void oddFiles() {
        const ImportResult loop =
            readText("clika", stageModel(), std::string(kUntil) + "for name in names:\n    skip(name)\n");
        QVERIFY(says(loop.left, "line 8: ignored, because it is not a plain call or assignment"));
        const ImportResult variable = readText(
            "clika", stageModel(),
            "from clika_compression import *\nskip = LayerQuantizationSettings(skip_quantization=True)\n"
            "settings.set_quantization_settings_for_layer('conv_2', skip)\n");
        QCOMPARE(variable.config.rules[0].layers, std::vector<std::string>{"/out/Conv"});
        const ImportResult near =
            readText("clika", stageModel(),
                     "layer_settings:\n  conv_7:\n    quantization_settings: {skip_quantization: true}\n");
        QVERIFY(says(near.left, "line 3: the model has no layer 'conv_7' (did you mean 'conv"));
        const ImportResult alone = readText(
            "clika", stageModel(),
            "layer_settings:\n  conv:\n    quantization_settings: {skip_quantization_downstream: true}\n");
        QVERIFY(says(alone.left, "without skip_quantization=True the rule has no effect"));
        const ImportResult automatic =
            readText("clika", stageModel(),
                     "global_quantization_settings:\n  automatic_skip_quantization: true\n"
                     "  skip_tail_quantization: null\ntraining_settings:\n  stats_steps: 20\n");
        QVERIFY(says(automatic.left, "line 2: automatic_skip_quantization"));
        QVERIFY(says(automatic.left, "training_settings has no counterpart here"));
    }

    void badFiles_data() {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char* name, std::string text, std::string message) {
            QTest::newRow(name) << text << message;
        };
        row("empty", "", "neither global_quantization_settings nor layer_settings");
        row("a list", "- 1\n- 2\n", "expected CLIKA's YAML");
        row("broken YAML", "layer_settings:\n  a: [1, 2\n", "this is not valid YAML");
        row("twice", "layer_settings:\n  conv: ~\n  conv: ~\n", "line 3: duplicate key 'conv'");
        row("text for a flag",
            "layer_settings:\n  conv:\n    quantization_settings:\n      skip_quantization: perhaps\n",
            "line 4: skip_quantization must be true or false");
        row("bits", "global_quantization_settings:\n  weights_num_bits: 5\n",
            "line 2: weights_num_bits must be 8 or 4");
        row("until",
            "layer_settings:\n  conv:\n    quantization_settings:\n      skip_quantization_until: {a: 1}\n",
            "skip_quantization_until must be a list of layer names");
        row("no call", "import clika_compression\n", "no call of set_quantization_settings_for_layer");
        row("no settings", "set_quantization_settings_for_layer('conv')\n",
            "line 1: the second argument must be LayerQuantizationSettings");
        row("no name", "set_quantization_settings_for_layer(3, LayerQuantizationSettings())\n",
            "line 1: the first argument");
        row("number",
            "\nset_quantization_settings_for_layer('conv', LayerQuantizationSettings(skip_quantization=1))\n",
            "line 2: skip_quantization must be True or False, not a number");
        row("open text", "set_quantization_settings_for_layer('conv\n", "line 1: the string is never closed");
    }
    void badFiles() {
        QFETCH(std::string, text);
        QFETCH(std::string, message);
        const std::string said = readFailure("clika", stageModel(), text);
        QVERIFY2(said.find(message) != std::string::npos, said.c_str());
    }
};

QTEST_GUILESS_MAIN(ClikaTest)
#include "clika_test.moc"
