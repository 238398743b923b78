// SPDX-License-Identifier: Apache-2.0
// Quark's script and JSON: golden files, a syntax check by Python, and import of both.
#include <nlohmann/json.hpp>

#include "config/presets.h"
#include "config/skip_rules.h"
#include "model/graph_builder.h"
#include "support/export_support.h"
#include "support/python.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

QuantizationConfig seedConfig() {
    QuantizationConfig config = presetConfig("quark-seed");
    config.transforms.equalization.excludeSkipped = true;
    SkipRule rule;
    rule.layers = {"/stem/Conv", "/head/Gemm"};
    config.rules.push_back(rule);
    return config;
}

ExportResult exported(const QuantizationConfig& config) {
    return formatNamed("quark", false).write(exportSource(stageModel(), config, "net.quark.py"));
}

/// The lines of the documentation page, as they stand there.
const char* const kSeed = R"(
from quark.onnx import ModelQuantizer, PowerOfTwoMethod, QuantType
from quark.onnx.quantization.config.config import Config, QuantizationConfig
quant_config = QuantizationConfig(
quant_format=QuantFormat.QDQ,
calibrate_method=quark.onnx.PowerOfTwoMethod.MinMSE,
activation_type=QuantType.QUInt8,
weight_type=QuantType.QInt8,
enable_npu_cnn=True,
include_cle=True,
extra_options={
'ActivationSymmetric': True,
'ReplaceClip6Relu': True,
'CLESteps': 1,
'CLEScaleAppendBias': True,
},
)
config = Config(global_quant_config=quant_config)
quantizer = ModelQuantizer(config)
quantizer.quantize_model(input_model_path, output_model_path, calibration_data_reader=None)
)";

std::string qconfig(const std::string& change = {}, const std::string& to = {}) {
    std::string text = R"({
        "global_config": {
            "input_tensors": {"symmetric": true, "scale_type": "ScaleType.PowerOf2", "calibration_method": "CalibMethod.MinMSE",
                              "quant_granularity": "QuantGranularity.Tensor", "data_type": "UInt8"},
            "weight": {"symmetric": true, "scale_type": "ScaleType.PowerOf2", "calibration_method": "CalibMethod.MinMSE",
                       "quant_granularity": "QuantGranularity.Tensor", "data_type": "Int8"}},
        "specific_layer_config": [],
        "layer_type_config": [[null, ["Gemm"]]],
        "exclude": ["/stem/Conv", "a", "^/dw/.*"],
        "algo_config": [{"name": "cle", "cle_steps": 2}],
        "extra_options": {"ReplaceClip6Relu": true}})";
    if (!change.empty()) text.replace(text.find(change), change.size(), to);
    return text;
}

}  // namespace

class QuarkTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void biasAndNpuOptionsInBothFiles() {
        QuantizationConfig config = seedConfig();
        config.quantization.biasBits = 16;
        config.quantization.npuPositions.alignPool = false;
        config.transforms.npuOperators.leakyRelu = false;
        const ExportResult result = exported(config);
        for (const std::size_t file : {0, 2}) {
            const ImportResult read = readText("quark", stageModel(), result.files[file].text);
            QCOMPARE(read.config.quantization.biasBits, 16);
            QVERIFY(read.config.quantization.npuPositions == config.quantization.npuPositions);
            QVERIFY(read.config.transforms.npuOperators == config.transforms.npuOperators);
        }
    }

    void goldenFiles() {
        const ExportResult result = exported(seedConfig());
        QCOMPARE(result.files.size(), 3u);
        QVERIFY(matchesGolden(result.files[0].text, "quark.py"));
        QVERIFY(matchesGolden(result.files[2].text, "quark.qconfig.json"));
        QVERIFY(result.files[0].executable);
    }

    void pythonCompilesIt() {
        if (runPython({"-c", "pass"}) != 0) QSKIP("Python is not available");
        QVERIFY(compilesInPython(exported(seedConfig()).files[0].text));
        QVERIFY(compilesInPython(exported(presetConfig("quark-a8w8")).files[0].text));
        QuantizationConfig wide;
        wide.quantization.activation.bits = 16;
        wide.calibration.method = CalibrationMethod::Percentile;
        QVERIFY(compilesInPython(exported(wide).files[0].text));
        QVERIFY(!compilesInPython("def broken(:\n"));  // the check can fail
    }

    void quarksOwnTransformsStartFromTheSource() {
        const ExportResult own = exported(seedConfig());
        QCOMPARE(own.files[1].model->nodeCount(), 11u);
        QVERIFY(own.files[0].text.find("include_cle=True") != std::string::npos);
        // The name of the Conv, and that of the tensor whose name Quark gives it.
        QVERIFY(own.files[0].text.find("    \"/stem/Conv\",\n    \"a\",\n") != std::string::npos);
        // Anything else is done beforehand.
        QuantizationConfig config = seedConfig();
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        const ExportResult done = exported(config);
        QCOMPARE(done.files[1].model->nodeCount(), 9u);
        QVERIFY(done.files[0].text.find("include_cle=False") != std::string::npos);
        QVERIFY(says(done.notices, "already includes it, and include_cle is False"));
        config = seedConfig();
        config.refine.migration = 0.5;
        QVERIFY(exported(config).files[0].text.find("include_cle=False") != std::string::npos);
        // Quark leaves excluded layers out of its equalization; the preview did not.
        config = seedConfig();
        config.transforms.equalization.excludeSkipped = false;
        QVERIFY(exported(config).files[0].text.find("include_cle=False") != std::string::npos);
    }

    void theFormatOfTheModelIsReported() {
        std::string text = kSeed;
        QVERIFY(joined(readText("quark", stageModel(), text).left).find("quant_format") == std::string::npos);
        text.replace(text.find("QuantFormat.QDQ"), 15, "QuantFormat.QOperator");
        QVERIFY(says(readText("quark", stageModel(), text).left,
                     "quant_format QOperator: a configuration does not choose the format"));
        QVERIFY(formatNamed("quark", false).what.find("0.12") !=
                std::string::npos);  // older ones do not read the JSON
    }

    void unsupportedQuarkFeaturesAreReported() {
        QuantizationConfig config = presetConfig("quark-a8w8");
        config.calibration.method = CalibrationMethod::TfEnhanced;
        config.quantization.weight.bits = 4;
        config.layers["/dw/Conv"].weightBits = 8;
        SkipRule rule;
        rule.kind = SkipKind::Until;
        rule.from = "/stem/Conv";
        rule.to = {"/dw/Conv"};
        config.rules.push_back(rule);
        config.refine.rounding = Rounding::Adaround;
        const auto notices = exported(config).notices;
        QVERIFY(says(notices, "Quark has no calibration method tf_enhanced"));
        QVERIFY(says(notices, "weights of 4 bits are not supported by Quark's QuantType: they become 8"));
        QVERIFY(says(notices, "the settings of 1 layer are left out"));
        QVERIFY(says(notices, "Quark has no skip-until rule: resolved to 2 layers"));
        QVERIFY(says(notices, "learned rounding of the preview is not part of this export"));
    }

    void everythingRoundTrips() {
        const QuantizationConfig config = seedConfig();
        const ExportResult result = exported(config);
        for (const std::size_t file : {0u, 2u}) {
            const ImportResult back = readText("quark", stageModel(), result.files[file].text);
            QVERIFY2(back.left.empty(), joined(back.left).c_str());
            QVERIFY(back.config.quantization == config.quantization);
            QVERIFY(back.config.transforms.equalization == config.transforms.equalization);
            QVERIFY(back.config.transforms.replaceRelu6 == config.transforms.replaceRelu6);
            QVERIFY(back.config.calibration.method == config.calibration.method);
            const auto layers = [](const QuantizationConfig& c) {
                const SkipDecisions skips = resolveSkips(*stageModel(), c);
                return exportSource(stageModel(), c, "x").layers;
            };
            const auto before = layers(config), after = layers(back.config);
            for (std::size_t i = 0; i < before.size(); ++i) QCOMPARE(after[i].state, before[i].state);
        }
    }

    void scriptOfTheSeedEqualsThePreset() {
        const ImportResult result = readText("quark", stageModel(), kSeed);
        QuantizationConfig expected = presetConfig("quark-seed");
        QVERIFY2(result.left.empty(), joined(result.left).c_str());
        QVERIFY(result.config.quantization == expected.quantization);
        QVERIFY(result.config.calibration == expected.calibration);
        expected.transforms.equalization.excludeSkipped = true;
        QVERIFY(result.config.transforms == expected.transforms);
        QVERIFY(!result.config.skipTail);
    }

    void jsonWithEveryKindOfExclusion() {
        const ImportResult result = readText("quark", stageModel(), qconfig());
        QVERIFY2(result.left.empty(), joined(result.left).c_str());
        QCOMPARE(result.config.transforms.equalization.steps, 2);
        QCOMPARE(result.config.rules.size(), 3u);
        QCOMPARE(result.config.rules[0].regex, std::string("^/dw/.*"));
        // "a" is its output tensor
        QCOMPARE(result.config.rules[1].layers, std::vector<std::string>{"/stem/Conv"});
        QCOMPARE(result.config.rules[2].op, std::string("Gemm"));
        const ImportResult subgraph =
            readText("quark", stageModel(), qconfig("\"^/dw/.*\"", "[[\"/stem/Conv\"], [\"/dw/Conv\"]]"));
        QCOMPARE(subgraph.config.rules[0].from, std::string("/stem/Conv"));
        QVERIFY(says(subgraph.taken, "Quark itself ignores a list here"));
        const ImportResult mistyped = readText("quark", stageModel(), qconfig("\"a\"", "\"/dw/conv\""));
        QVERIFY(says(mistyped.left, "the model has no layer '/dw/conv' (did you mean '/dw/Conv'"));
    }

    /// Powers of two outside of the NPU mode.
    void bothFilesDescribeTheSame() {
        QuantizationConfig config = seedConfig();
        config.quantization.activation.symmetric = false;
        const ExportResult result = exported(config);
        const ImportResult script = readText("quark", stageModel(), result.files[0].text),
                           json = readText("quark", stageModel(), result.files[2].text);
        QCOMPARE(json.config.quantization.biasBits, script.config.quantization.biasBits);
        QVERIFY(json.config.quantization.npuPositions == script.config.quantization.npuPositions);
        QVERIFY(json.config.transforms.npuOperators == script.config.transforms.npuOperators);
    }

    void stepsUntilConverged() {
        const ImportResult result =
            readText("quark", stageModel(), qconfig("\"cle_steps\": 2", "\"cle_steps\": -1"));
        QCOMPARE(result.config.transforms.equalization.steps, -1);
        QVERIFY(says(result.taken, "cle: until converged"));
    }

    /// The output of a layer can have the name of another layer, which stays quantized.
    void exclusionsOfOneLayer() {
        for (const std::size_t file : {0u, 2u})
            QCOMPARE(floatLayersReadBack("quark", presetConfig("quark-a8w8"), {"first", "second"}, file),
                     std::vector<std::string>{"first"});
    }

    void keysThatAreNotReadAreReported() {
        const auto left = [](const char* part, const std::string& replacement) {
            return readText("quark", stageModel(), qconfig(part, replacement)).left;
        };
        const std::string steps = "\"cle_steps\": 2";
        QVERIFY(says(left(steps.c_str(), steps + ", \"cle_balance_method\": \"mean\""),
                     "algo_config[0].cle_balance_method has no counterpart here"));
        QVERIFY(left(steps.c_str(), steps + ", \"cle_balance_method\": \"max\"").empty());
        QVERIFY(says(left("\"input_tensors\"", "\"bias\": {}, \"input_tensors\""),
                     "global_config.bias has no counterpart here"));
        QVERIFY(says(left("\"symmetric\": true, ", "\"symmetric\": true, \"round\": 1, "),
                     "global_config.input_tensors.round has no counterpart here"));
    }

    void badFiles_data() {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char* name, std::string text, std::string message) {
            QTest::newRow(name) << text << message;
        };
        row("empty", " \n", "the file is empty");
        row("other JSON", "{\"version\": 1}", "the key global_config is missing");
        row("broken JSON", "{\"global_config\": ", "not valid JSON");
        row("twice", "{\"exclude\": [], \"exclude\": [], \"global_config\": {}}", "duplicate key 'exclude'");
        row("activation", qconfig("\"input_tensors\"", "\"activation\""),
            "activations are called input_tensors");
        row("no activations", qconfig("\"input_tensors\"", "\"output_tensors\""), "input_tensors is missing");
        row("key missing", qconfig("\"symmetric\": true, ", ""),
            "global_config.input_tensors.symmetric is missing");
        row("wrong type", qconfig("\"symmetric\": true", "\"symmetric\": 1"),
            "symmetric: must be true or false, not 1");
        row("exclude text", qconfig("[\"/stem/Conv\", \"a\", \"^/dw/.*\"]", "\"a\""),
            "exclude: must be a list");
        row("exclude number", qconfig("\"a\"", "7"), "exclude[1]: must be a name");
        row("steps", qconfig("\"cle_steps\": 2", "\"cle_steps\": -3"), "algo_config[0].cle_steps");
        row("operators", qconfig("[null, [\"Gemm\"]]", "[null, \"Gemm\"]"),
            "layer_type_config[0][1]: must be a list of names");
        row("other script", "print('hello')\n", "no QuantizationConfig");
        row("layers", qconfig("[[null, [\"Gemm\"]]]", "7"), "layer_type_config: must be a list, not 7");
        row("open bracket", "c = QuantizationConfig(\n  include_cle=True\n",
            "line 1: the '(' is never closed");
        row("flag", "QuantizationConfig(include_cle=1)\n",
            "line 1: include_cle must be True or False, not a number");
        row("names", "QuantizationConfig(nodes_to_exclude='a')\n",
            "line 1: nodes_to_exclude must be a list of node names, not a string");
        row("fraction", "QuantizationConfig(include_cle=True,\n extra_options={'CLESteps': 1.5})\n",
            "line 2: CLESteps must be a whole number from -1 to 1000");
    }
    void badFiles() {
        QFETCH(std::string, text);
        QFETCH(std::string, message);
        const std::string said = readFailure("quark", stageModel(), text);
        QVERIFY2(said.find(message) != std::string::npos, said.c_str());
    }
};

QTEST_GUILESS_MAIN(QuarkTest)
#include "quark_test.moc"
