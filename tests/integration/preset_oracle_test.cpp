// SPDX-License-Identifier: Apache-2.0
// The presets that imitate a tool against that tool's own run on the same images: its accuracy, its logits, its scales.
#include <QtTest>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "config/presets.h"
#include "data/numpy_file.h"
#include "support/demo.h"
#include "support/text_model.h"

using namespace quantloupe;
namespace fs = std::filesystem;

class PresetOracleTest : public QObject {
    Q_OBJECT

    fs::path m_assets = test::assets();

  private Q_SLOTS:
    void initTestCase() {
        if (m_assets.empty()) QSKIP("the folder of models, data and oracles is not there");
    }

    void presetsGiveTheToolsAccuracy_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("run");
        QTest::addColumn<double>("agreement");
        const auto row = [](const char* preset, const char* model, const char* run, double agreement) {
            QTest::addRow("%s on %s", preset, model) << preset << model << run << agreement;
        };
        row("onnxruntime-s8s8", "mobilenetv2_cifar10", "ort_quant_mobilenetv2_cifar10_s8s8_pt", 0.995);
        row("onnxruntime-u8s8", "mobilenetv2_cifar10", "ort_quant_mobilenetv2_cifar10_u8s8_pt", 0.995);
        row("onnxruntime-u8s8", "mlperf_tiny_resnet8", "ort_quant_mlperf_tiny_resnet8_u8s8_pt", 0.99);
        row("onnxruntime-w4s8", "mobilenetv2_cifar10", "ort_quant_mobilenetv2_cifar10_w4s8_pt", 0.99);
        row("quark-a8w8", "mlperf_tiny_resnet8", "quark_mlperf_tiny_resnet8_A8W8", 0.999);
        row("quark-xint8", "mobilenetv2_cifar10", "quark_mobilenetv2_cifar10_XINT8", 0.995);
        row("quark-a8w8", "mobilenetv2_cifar10", "quark_mobilenetv2_cifar10_A8W8", 0.995);
        row("quark-xint8", "mlperf_tiny_resnet8", "quark_mlperf_tiny_resnet8_XINT8", 0.995);
        row("quark-seed", "mobilenetv2_cifar10", "quark_mobilenetv2_cifar10_SEED", 0.995);
        row("quark-seed", "mlperf_tiny_resnet8", "quark_mlperf_tiny_resnet8_SEED", 0.995);
        row("aimet-default", "mobilenetv2_cifar10", "aimet_mobilenetv2_cifar10_W8A8_minmax", 0.97);
        row("aimet-tf-enhanced", "mobilenetv2_cifar10", "aimet_mobilenetv2_cifar10_W8A8_tfenhanced", 0.97);
    }
    void presetsGiveTheToolsAccuracy() {
        QFETCH(QString, preset);
        QFETCH(QString, model);
        QFETCH(QString, run);
        QFETCH(double, agreement);
        const auto session = test::openSession(m_assets / "models" / (model.toStdString() + ".onnx"), m_assets / "data/cifar10/val",
                                               m_assets / "data/cifar10/calibration");
        const QuantizationConfig config = presetConfig(preset.toStdString());
        const EvaluationPtr result = session->evaluate(config, Depth::Accuracy);
        const auto truth = nlohmann::json::parse(readFile(m_assets / "oracles" / (run.toStdString() + ".json")));
        // ONNX Runtime's runs hold fractions, the others percent.
        const double expected = truth.contains("optimizations_off") ? truth["optimizations_off"]["top1"].get<double>()
                                                                    : truth["quantized"]["top1"].get<double>() / 100;
        const auto predictions = loadNpy(m_assets / "oracles" / (run.toStdString() + "_predictions.npy"))->toInt64s();
        const ConstantPtr outputs = session->outputs(config).at(0);
        const auto width = static_cast<std::size_t>(outputs->dims()[1]);
        std::size_t same = 0;
        for (std::size_t row = 0; row < predictions.size(); ++row) {
            const auto values = outputs->floats().subspan(row * width, width);
            same += std::ranges::max_element(values) - values.begin() == predictions[row];
        }
        const double share = double(same) / double(predictions.size());
        qInfo("top-1 %.3f, the tool's %.3f; same class on %.1f %%", *result->quantized->top1, expected, 100 * share);
        QVERIFY(std::abs(*result->quantized->top1 - expected) <= 0.005 + 1e-9);
        QVERIFY(share >= agreement);
        const fs::path logits = m_assets / "oracles" / (run.toStdString() + "_logits.npy");
        // Softmax hides them in ResNet-8; AIMET calibrates otherwise.
        if (!fs::exists(logits) || run.contains("resnet8") || run.startsWith("aimet")) return;
        const ConstantPtr loaded = loadNpy(logits);
        const auto theirs = loaded->floats();
        double signal = 0, noise = 0;
        for (std::size_t i = 0; i < theirs.size(); ++i) {
            const double d = double(theirs[i]) - double(outputs->floats()[i]);
            signal += double(theirs[i]) * double(theirs[i]);
            noise += d * d;
        }
        const double sqnr = 10 * std::log10(signal / noise);
        qInfo("logits %.1f dB", sqnr);
        QVERIFY(sqnr >= 35);
    }

    /// Every tensor that the tool gives a scale, found by name, has the same here.
    void presetsGiveTheToolsScales_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("run");
        QTest::addColumn<int>("tensors");
        const auto row = [](const char* preset, const char* model, const char* run, int tensors) {
            QTest::addRow("%s on %s", preset, model) << preset << model << run << tensors;
        };
        row("quark-a8w8", "mlperf_tiny_resnet8", "quark_mlperf_tiny_resnet8_A8W8", 16);
        row("quark-xint8", "mlperf_tiny_resnet8", "quark_mlperf_tiny_resnet8_XINT8", 16);
        row("quark-xint8", "mobilenetv2_cifar10", "quark_mobilenetv2_cifar10_XINT8", 65);
        row("quark-seed", "mobilenetv2_cifar10", "quark_mobilenetv2_cifar10_SEED", 65);
        row("quark-a8w8", "mobilenetv2_cifar10", "quark_mobilenetv2_cifar10_A8W8", 65);
        row("onnxruntime-s8s8", "vit_cifar10", "ort_quant_vit_cifar10_s8s8_pt", 150);
        row("onnxruntime-u8s8", "mlperf_tiny_resnet8", "ort_quant_mlperf_tiny_resnet8_u8s8_pt", 16);
        row("onnxruntime-s8s8", "mobilenetv2_cifar10", "ort_quant_mobilenetv2_cifar10_s8s8_pt", 65);
    }
    void presetsGiveTheToolsScales() {
        QFETCH(QString, preset);
        QFETCH(QString, model);
        QFETCH(QString, run);
        QFETCH(int, tensors);
        const auto session = test::openSession(m_assets / "models" / (model.toStdString() + ".onnx"), m_assets / "data/cifar10/val",
                                               m_assets / "data/cifar10/calibration");
        const GraphPtr written = session->quantizedModel(presetConfig(preset.toStdString()));
        std::map<std::string, float> ours;
        for (const Node& node : written->nodes())
            if (node.op == "QuantizeLinear") {
                std::string name = written->tensor(node.input(0)).name;
                for (const std::string suffix : {"_before_quantization", "_clipped"})
                    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
                ours[name] = written->constantOf(node.input(1))->floats()[0];
            }
        const auto truth = nlohmann::json::parse(readFile(m_assets / "oracles" / (run.toStdString() + ".json")));
        int found = 0;
        QStringList missing, different;
        for (const auto& [key, entry] : truth["activations"].items()) {
            std::string name = key;
            if (name.ends_with("_QuantizeLinear_Input")) name.resize(name.size() - std::string("_QuantizeLinear_Input").size());
            const auto own = ours.find(name);
            if (own == ours.end()) {
                missing << QString::fromStdString(name);
                continue;
            }
            ++found;
            const double theirs = entry["scale"].is_array() ? entry["scale"][0].get<double>() : entry["scale"].get<double>();
            if (std::abs(double(own->second) / theirs - 1) > 1e-6)
                different << QString("%1: %2, the tool's %3").arg(QString::fromStdString(name)).arg(double(own->second)).arg(theirs);
        }
        qInfo("%d of %d found, %d differ, ours %d\nmissing: %s\ndifferent: %s", found, int(truth["activations"].size()), int(different.size()),
              int(ours.size()), qPrintable(missing.join(' ')), qPrintable(different.join("\n")));
        QVERIFY(different.isEmpty());
        QVERIFY(found >= tensors);
    }
};

QTEST_GUILESS_MAIN(PresetOracleTest)
#include "preset_oracle_test.moc"
