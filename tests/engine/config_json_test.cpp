// SPDX-License-Identifier: Apache-2.0
// The JSON of the configuration: writing, reading, and setting single keys. (Invalid JSON:
// config_json_errors_test.)

#include "config/config_json.h"

#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "config/presets.h"
#include "support/errors.h"

using namespace quantloupe;
using test::errorOf;

namespace {

QuantizationConfig fullConfig() {
    QuantizationConfig c = presetConfig("w4a8");
    c.transforms.foldBatchNorm = false;
    c.transforms.skipFolding = {"Conv_1"};
    c.transforms.replaceRelu6 = ReplaceRelu6::Between;
    c.transforms.equalization = {
        EqualizationProfile::Aimet, 3, {{"Conv_3", "Conv_5"}, {"a", "b", "c"}}, true, 0.25, 1e-6, true};
    c.transforms.highBiasFold = true;
    c.quantization.activation = {8, false, true};
    c.quantization.weight = {3, false, true};
    c.calibration.samples = 17;
    c.skipTail = c.wholeTail = true;
    c.rules = {{SkipKind::Node, {"Conv_0", "Conv_2"}, {}, {}, {}, {}},
               {SkipKind::Until, {}, "a", {"b", "c"}, {}, {}},
               {SkipKind::Downstream, {}, "d", {}, {}, {}},
               {SkipKind::Type, {}, {}, {}, "Add", {}},
               {SkipKind::Pattern, {}, {}, {}, {}, "^/head/"},
               {SkipKind::Block, {}, {}, {}, {}, {}, "/features/features.3"},
               {SkipKind::Threshold, {}, {}, {}, {}, {}, {}, SkipMetric::CumulativeSqnr, 17.5, true},
               {SkipKind::Type, {}, {}, {}, "Mul", {}, {}, SkipMetric::LocalQs, 0, false, true}};
    c.quantization.biasBits = kFloatBias;
    c.calibration.method = CalibrationMethod::Percentile;
    c.calibration.parameters.percentile = 0.9999;
    c.calibration.parameters.bins = 1024;
    LayerSettings& layer = c.layers["/features/features.3/conv"];
    layer.quantize = true;
    layer.comment = std::string("the NPU has no \"float\" path ü");
    layer.weightBits = 8;
    layer.weightPerChannel = false;
    layer.weightSigned = false;
    layer.weightSymmetric = false;
    layer.weightRestricted = false;
    layer.weightPowerOfTwo = true;
    layer.weightMethod = WeightMethod::Mse;
    layer.biasBits = 16;
    layer.activationBits = 16;
    layer.activationSigned = false;
    layer.activationSymmetric = true;
    layer.activationPowerOfTwo = false;
    layer.calibrationMethod = CalibrationMethod::Ifmr;
    layer.calibrationParameters.maxPercentile = 0.99999;
    layer.calibrationParameters.searchRange = {0.7, 1.3};
    layer.calibrationParameters.searchStep = 0.6;  // as wide as the range, in decimal
    layer.calibrationParameters.mode = PowerOfTwoMode::MostCommon;
    c.calibration.quantizedWeights = true;
    c.layers["b"].quantize = false;
    c.transforms.npuOperators = {.averagePool = true, .leakyRelu = false, .sigmoid = true};
    c.quantization.operators = OperatorSet::Quark;
    c.quantization.npuPositions = {.alignConcat = true,
                                   .alignPad = true,
                                   .adjustShiftRead = true,
                                   .adjustShiftCut = true,
                                   .adjustHardSigmoid = true,
                                   .maxLoops = 3};
    c.exports = {.floatWeights = true, .fourBitTypes = false};
    c.layers["empty"] = {};
    return c;
}

const char* const kDefault = R"({
  "quantloupe": 1,
  "preset": "default",
  "transforms": {
    "simplify": false,
    "fold_batch_norm": true,
    "skip_folding": [],
    "replace_relu6": "none",
    "equalization": {
      "profile": "off",
      "steps": 1,
      "append_bias": false,
      "weight_threshold": 0.5,
      "total_layer_diff_threshold": 2e-07,
      "exclude_skipped": false,
      "off": []
    },
    "high_bias_fold": false,
    "npu_operators": {
      "average_pool": false,
      "leaky_relu": false,
      "sigmoid": false
    }
  },
  "quantization": {
    "placement": "inputs_and_outputs",
    "operators": "layers",
    "bias_bits": 32,
    "rounding": "half_even",
    "activation": {
      "bits": 8,
      "signed": true,
      "symmetric": false,
      "power_of_two": false
    },
    "weight": {
      "bits": 8,
      "signed": true,
      "symmetric": true,
      "restricted": true,
      "per_channel": false,
      "per_channel_products": true,
      "power_of_two": false,
      "method": "min_max"
    },
    "npu_positions": {
      "align_concat": false,
      "align_pool": false,
      "align_pad": false,
      "align_slice": false,
      "adjust_shift_read": false,
      "adjust_shift_write": false,
      "adjust_shift_cut": false,
      "adjust_shift_bias": false,
      "adjust_hard_sigmoid": false,
      "adjust_shift_swish": false,
      "max_loops": 5
    }
  },
  "calibration": {
    "method": "min_max",
    "samples": 256,
    "parameters": {},
    "quantized_weights": false
  },
  "refine": {
    "bias_correction": "off",
    "rounding": "nearest",
    "migration": 0.0
  },
  "export": {
    "float_weights": false,
    "four_bit_types": true
  },
  "skip": {
    "tail": true,
    "whole_tail": false,
    "rules": []
  },
  "layers": {}
}
)";

}  // namespace

class ConfigJsonTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// A preset sets a parameter that the configuration leaves to its default.
    void clearedParametersStayCleared() {
        QuantizationConfig config = presetConfig("tensorrt-int8");
        QVERIFY(config.calibration.parameters.bins.has_value());
        config.calibration.parameters.bins.reset();
        QVERIFY(configToJson(config).find("\"num_bins\": null") != std::string::npos);
        QVERIFY(configFromJson(configToJson(config)) == config);
        config.preset.clear();  // to compare configurations without it
        QVERIFY(configToJson(config).find("\"preset\": \"\"") != std::string::npos);
    }

    void writesEveryKeyInOrder() { QCOMPARE(configToJson(QuantizationConfig{}).c_str(), kDefault); }

    void roundTrips() {
        QVERIFY(configFromJson(configToJson(QuantizationConfig{})) == QuantizationConfig{});
        QVERIFY(configFromJson(configToJson(fullConfig())) == fullConfig());
        QVERIFY(!(configFromJson(configToJson(fullConfig())) == QuantizationConfig{}));
        QVERIFY(configFromJson("{}") == QuantizationConfig{});
    }

    void presetComesFirst() {
        const QuantizationConfig c = configFromJson(
            R"({"skip": {"tail": true}, "quantization": {"weight": {"per_channel": true}}, "preset": "w4a8"})");
        QCOMPARE(c.preset, std::string("w4a8"));
        QCOMPARE(c.quantization.weight.bits, 4);
        QVERIFY(c.quantization.weight.perChannel);
        QVERIFY(c.skipTail);
        QVERIFY(!presetConfig("w4a8").skipTail);
        for (const PresetInfo& preset : presets())
            QVERIFY(configFromJson(configToJson(presetConfig(preset.name))) == presetConfig(preset.name));
    }

    void acceptsNeutralValues() {
        QVERIFY(configFromJson(R"({"refine": {"migration": 0}, "quantization": {"weight": {"bits": 8.0}},
            "layers": {"a": {"quantize": null, "calibration": {"method": null, "parameters": {"percentile": null}}}}})")
                    .layers.at("a")
                    .empty());
    }

    void setsKeys() {
        QuantizationConfig c;
        setConfigKey(c, "quantization.weight.bits", "4");
        setConfigKey(c, "transforms.replace_relu6", "all");
        setConfigKey(c, "transforms.equalization.profile", "\"aimet\"");
        setConfigKey(c, "transforms.skip_folding", R"(["Conv_1"])");
        setConfigKey(c, "skip.rules", R"([{"kind": "type", "op": "Add"}])");
        setConfigKey(c, "layers.features.3/conv.weight.weight.bits", "5");
        setConfigKey(c, "layers.features.3/conv.weight.comment", "7");
        setConfigKey(c, "layers.b.comment", ".50");
        setConfigKey(c, "refine.migration", ".5");
        setConfigKey(c, "layers.b.quantize", "false");
        setConfigKey(c, "calibration.method", "ifmr");
        setConfigKey(c, "calibration.parameters.search_step", "0.02");
        setConfigKey(c, "calibration.parameters.search_range", "[0.5, 1.5]");
        setConfigKey(c, "calibration.parameters.search_step", "null");
        setConfigKey(c, "layers.b.calibration.parameters.max_percentile", "0.9999");
        setConfigKey(c, "layers.b.activation.bits", "16");
        setConfigKey(c, "quantization.bias_bits", "float");
        setConfigKey(c, "quantization.bias_bits", "16");
        QCOMPARE(c.quantization.biasBits, 16);
        QVERIFY(errorOf([&] { setConfigKey(c, "calibration.method", "7"); }).contains("calibration.method"));
        setConfigKey(c, "quantization.bias_bits", "float");
        setConfigKey(c, "layers.c", R"({"activation": {"symmetric": true}})");
        setConfigKey(c, "layers.enc.activation", R"({"quantize": false})");  // the name ends with a key
        QCOMPARE(c.layers["enc.activation"].quantize, std::optional(false));
        QuantizationConfig whole;
        setConfigKey(whole, "layers", R"({"enc.activation": {"quantize": false}})");
        QCOMPARE(whole.layers.size(), std::size_t(1));
        setConfigKey(c, "layers.enc.activation", "null");
        QVERIFY(!c.layers.contains("enc.activation"));
        QVERIFY(errorOf([&] {
                    setConfigKey(c, "layers.enc.activation", R"({"wrong": 1})");
                }).contains("activation.wrong"));

        QuantizationConfig expected;
        expected.quantization.weight.bits = 4;
        expected.transforms.replaceRelu6 = ReplaceRelu6::All;
        expected.transforms.equalization.profile = EqualizationProfile::Aimet;
        expected.transforms.skipFolding = {"Conv_1"};
        expected.rules = {{SkipKind::Type, {}, {}, {}, "Add", {}}};
        expected.layers["features.3/conv.weight"].weightBits = 5;
        expected.layers["features.3/conv.weight"].comment = std::string("7");
        expected.layers["b"].quantize = false;
        expected.layers["b"].comment = std::string(".50");
        expected.refine.migration = 0.5;
        expected.layers["c"].activationSymmetric = true;
        expected.calibration.method = CalibrationMethod::Ifmr;
        expected.calibration.parameters.searchRange = {0.5, 1.5};
        expected.layers["b"].calibrationParameters.maxPercentile = 0.9999;
        expected.layers["b"].activationBits = 16;
        expected.quantization.biasBits = kFloatBias;
        QCOMPARE(configToJson(c), configToJson(expected));
        QVERIFY(c == expected);

        setConfigKey(c, "layers.b", "null");
        setConfigKey(c, "layers.c", "null");
        QCOMPARE(c.layers.size(), std::size_t(1));
    }

    void presetKeepsWhatNamesLayers() {
        QuantizationConfig c = fullConfig();
        setConfigKey(c, "preset", "default");
        QCOMPARE(c.quantization.weight.bits, 8);
        QVERIFY(c.rules == fullConfig().rules);
        QVERIFY(c.layers == fullConfig().layers);
        QCOMPARE(errorOf([&] { setConfigKey(c, "preset", "w3"); }),
                 QString("there is no preset 'w3'; available: default, w4a8, onnxruntime-s8s8, "
                         "onnxruntime-u8s8, onnxruntime-w4s8, quark-xint8, "
                         "quark-seed, quark-a8w8, amct-default, clika, aimet-default, aimet-tf-enhanced, "
                         "tensorrt-int8"));
    }

    void refusesKeys_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* path, const char* value, const char* message) {
            QTest::newRow(path) << path << value << message;
        };
        row("", "1", "the key to set is empty");
        row("quantization.wieght.bits", "4",
            "unknown key 'quantization.wieght' (did you mean 'quantization.weight'?)");
        row("preset.x", "1", "unknown key 'preset.x': 'preset' is a single value");
        row("skip.rules.0", "1", "is inside a list");
        row("quantization.weight.bits", "many",
            "quantization.weight.bits: must be a whole number, not 'many'");
        row("quantization.weight.restricted", "null", "must be true or false, not null");
        row("layers.Conv_1", "true", "layers.NAME.KEY");
        row("layers.Conv_1.bits", "4", "layers.NAME.KEY");
        row("layers.quantize", "true", "layers.NAME.KEY");
        row("layers.x.weight.bits", "18", "layers.x.weight.bits: 18 is out of range");
        row("calibration.samples", "\xff", "UTF-8");
    }

    void longValuesAreShortenedBetweenCharacters() {
        std::string value = "a";
        for (int i = 0; i < 80; ++i) value += "\xc3\xa9";
        QuantizationConfig config;
        const QString found = errorOf([&] { setConfigKey(config, "calibration.samples", value); });
        QVERIFY2(found.contains("must be a whole number, not 'a\u00e9"), qPrintable(found));
        QVERIFY(!found.contains(QChar(QChar::ReplacementCharacter)));
    }

    void refusesKeys() {
        QFETCH(QString, path);
        QFETCH(QString, value);
        QFETCH(QString, message);
        QuantizationConfig config = fullConfig();
        const std::string bytes = path == "calibration.samples" ? std::string("\xff") : value.toStdString();
        const QString found = errorOf([&] { setConfigKey(config, path.toStdString(), bytes); });
        QVERIFY2(found.contains(message), qPrintable(found));
        QVERIFY(config == fullConfig());
    }

    void savesAndLoads() {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("c.json").toStdString();
        saveConfig(fullConfig(), path);
        QVERIFY(loadConfig(path) == fullConfig());
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList{"c.json"});
        QVERIFY_THROWS_EXCEPTION(Error, loadConfig(folder.filePath("missing.json").toStdString()));
        writeFileAtomically(path, R"({"x": 1})");
        const QString error = errorOf([&] { loadConfig(path); });
        QVERIFY2(error.startsWith("configuration 'c.json': unknown key 'x'"), qPrintable(error));
    }
};

QTEST_GUILESS_MAIN(ConfigJsonTest)
#include "config_json_test.moc"
