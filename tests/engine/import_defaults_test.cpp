// SPDX-License-Identifier: Apache-2.0
// Importing a file gives the same result whatever the starting configuration is: what the file does not
// contain becomes what its tool does. What a tool has survives export and import.
#include "config/config_json.h"
#include "config/presets.h"
#include "support/export_support.h"

using namespace quantloupe;
using namespace quantloupe::test;

class ImportDefaultsTest : public QObject {
    Q_OBJECT

    GraphPtr m_model = stageModel();

    ExportResult exported(const char* format, const QuantizationConfig& config) const {
        return formatNamed(format, false).write(exportSource(m_model, config, "net"));
    }

  private Q_SLOTS:
    void startDoesNotMatter_data() {
        QTest::addColumn<QString>("preset");
        QTest::newRow("quark") << "quark-a8w8";
        QTest::addRow("quark") << "quark-xint8";
        QTest::newRow("amct") << "amct-default";
        QTest::newRow("onnxruntime") << "onnxruntime-s8s8";
    }
    void startDoesNotMatter() {
        QFETCH(QString, preset);
        const QuantizationConfig own = presetConfig(preset.toStdString());
        for (const ExportedFile& file : exported(QTest::currentDataTag(), own).files) {
            if (file.text.empty()) continue;
            const ImportResult same = readText(QTest::currentDataTag(), m_model, file.text, own);
            for (const PresetInfo& other : presets()) {
                QuantizationConfig start = presetConfig(other.name);
                start.quantization.rounding = TieRounding::Aimet;
                start.quantization.weight.perChannelProducts = false;
                const ImportResult read = readText(QTest::currentDataTag(), m_model, file.text, start);
                QVERIFY2(read.config.quantization == same.config.quantization, other.name.c_str());
                QCOMPARE(read.config.calibration.method, same.config.calibration.method);
                QVERIFY(!read.config.calibration.quantizedWeights);
            }
        }
    }

    void aimetsSchemeIsRead() {
        const auto read = [&](const char* scheme, const char* preset) {
            return readText("aimet", m_model,
                            fmt::format(R"({{"version": "1.0.0", "activation_encodings": [],
                                "param_encodings": [], "quantizer_args": {{"quant_scheme": "{}"}}}})",
                                        scheme),
                            presetConfig(preset));
        };
        for (const char* preset : {"default", "amct-default", "quark-xint8"}) {
            const QuantizationConfig found = read("post_training_tf_enhanced", preset).config;
            QCOMPARE(found.calibration.method, CalibrationMethod::TfEnhanced);
            QVERIFY(found.calibration.parameters == CalibrationParameters{});
            QVERIFY(found.calibration.quantizedWeights);
            QVERIFY(found.quantization.placement == Placement::InputsAndOutputs);
            QVERIFY(found.quantization.weight.method == WeightMethod::MinMax);
            QVERIFY(found.quantization.npuPositions == NpuPositions{});
            QCOMPARE(read("min_max", preset).config.calibration.method, CalibrationMethod::MinMax);
        }
        const ImportResult unknown = read("post_training_best", "default");
        QVERIFY(says(unknown.left, "quantizer_args.quant_scheme: "));
    }

    void quarksParametersSurvive_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("option");
        const auto row = [](const char* preset, const char* method, const char* key, const char* value,
                            const char* option) {
            QTest::addRow("%s %s", method, key)
                << preset << method << QStringLiteral("calibration.parameters.") + key << value << option;
        };
        row("quark-xint8", "power_of_two_min_mse", "mode", "most_common", "MinMSEModePof2Scale");
        row("quark-a8w8", "percentile", "num_bins", "512", "NumBins");
        row("quark-a8w8", "entropy", "num_bins", "512", "NumBins");
        row("quark-a8w8", "entropy", "num_quantized_bins", "64", "NumQuantizedBins");
        row("quark-a8w8", "moving_average", "averaging_constant", "0", "CalibMovingAverage");
    }
    void quarksParametersSurvive() {
        QFETCH(QString, preset);
        QFETCH(QString, option);
        QuantizationConfig config = presetConfig(preset.toStdString());
        QFETCH(QString, method);
        QFETCH(QString, key);
        QFETCH(QString, value);
        setConfigKey(config, "calibration.method", method.toStdString());
        setConfigKey(config, key.toStdString(), value.toStdString());
        const ExportResult result = exported("quark", config);
        for (const std::size_t file : {std::size_t{0}, result.files.size() - 1}) {
            const std::string& text = result.files[file].text;
            QVERIFY2(text.find("\"" + option.toStdString() + "\"") != std::string::npos, text.c_str());
            const ImportResult read = readText("quark", m_model, text);
            QVERIFY2(read.left.empty(), joined(read.left).c_str());
            QCOMPARE(read.config.calibration.method, config.calibration.method);
            QVERIFY(read.config.calibration.parameters.bins == config.calibration.parameters.bins);
            QVERIFY(read.config.calibration.parameters.mode == config.calibration.parameters.mode);
            QVERIFY(read.config.calibration.parameters.quantizedBins ==
                    config.calibration.parameters.quantizedBins);
            QVERIFY(read.config.calibration.parameters.averagingConstant ==
                    config.calibration.parameters.averagingConstant);
        }
    }

    void quarkWithoutAnEquivalentIsReported() {
        QuantizationConfig config = presetConfig("quark-xint8");
        config.calibration.parameters.bins = 512;
        QVERIFY(says(exported("quark", config).notices, "calibration.parameters.num_bins"));
        config = presetConfig("quark-a8w8");
        config.calibration.method = CalibrationMethod::MovingAverage;
        QVERIFY(says(exported("quark", config).notices, "no calibration method moving_average"));
        QVERIFY(
            says(readText("quark", m_model,
                          "QuantizationConfig(include_cle=False, calibrate_method=CalibrationMethod.Entropy, "
                          "extra_options={'NumBins': 'many'})\n")
                     .left,
                 "NumBins"));
        // A layer in float is no setting that is left out.
        config = presetConfig("quark-a8w8");
        config.layers["/stem/Conv"].precision = Precision::float32();
        QVERIFY(!says(exported("quark", config).notices, "are left out"));
    }

    void overridesOfOnnxRuntimeKeepTheCalibration() {
        QuantizationConfig start = presetConfig("onnxruntime-s8s8");
        start.calibration.method = CalibrationMethod::Mse;
        start.calibration.parameters.searchStep = 0.02;
        const auto read = [&](const char* arguments) {
            return readText("onnxruntime", m_model, fmt::format("quantize_static(a, b, c, {})\n", arguments),
                            start);
        };
        const QuantizationConfig kept =
            read(
                "calibrate_method=CalibrationMethod.MinMax, extra_options={'TensorQuantOverrides': T, "
                "'CalibMovingAverage': True}")
                .config;
        QVERIFY(kept.calibration == start.calibration);
        // ONNX Runtime's other methods ignore the moving average.
        QCOMPARE(
            read("calibrate_method=CalibrationMethod.Percentile, extra_options={'CalibMovingAverage': True}")
                .config.calibration.method,
            CalibrationMethod::Percentile);
        QCOMPARE(read("extra_options={'CalibMovingAverage': True}").config.calibration.method,
                 CalibrationMethod::MovingAverage);
        QVERIFY(says(read("quant_format=QuantFormat.QOperator").left, "line 1: quant_format QOperator"));
    }
};

QTEST_GUILESS_MAIN(ImportDefaultsTest)
#include "import_defaults_test.moc"
