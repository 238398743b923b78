// SPDX-License-Identifier: Apache-2.0
// Presets that imitate a tool, compared with all available runs of that tool on the same images: ONNX
// Runtime's quantize_static, Quark and AIMET. Compares accuracy, classes, logits, and the scales of all
// tensors and weights that are found by name.
#include <QtTest>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "data/numpy_file.h"
#include "support/demo.h"
#include "support/signal_to_noise.h"
#include "support/text_model.h"

using namespace quantloupe;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

double firstOf(const json& value) { return value.is_array() ? value[0].get<double>() : value.get<double>(); }

std::string without(std::string name, std::initializer_list<const char*> suffixes) {
    for (const std::string suffix : suffixes)
        if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    return name;
}

struct Scales {
    double tolerance = 1e-6;
    int found = 0;
    QStringList missing, different;
    void compare(const std::string& name, double ours, double theirs) {
        ++found;
        if (!(std::abs(ours / theirs - 1) <= tolerance))
            different
                << QString("%1: %2, the tool's %3").arg(QString::fromStdString(name)).arg(ours).arg(theirs);
    }
};

}  // namespace

class PresetOracleTest : public QObject {
    Q_OBJECT

    fs::path m_assets = test::assets();
    std::map<QString, std::unique_ptr<Session>> m_sessions;
    DatasetPtr m_all;  ///< the tools' images
    /// Those that are compared: every second one, and the first 8, whose logits are stored.
    std::vector<std::size_t> m_images;

    json oracle(const QString& run) const {
        return json::parse(readFile(test::asset("oracles/" + run.toStdString() + ".json")));
    }

    /// Scale of each quantized tensor in the tool's model, by its name in the source.
    static std::map<std::string, float> activationScales(const Graph& written, const Graph& source) {
        std::map<std::string, float> scales;
        for (const Node& node : written.nodes()) {
            if (node.op != "QuantizeLinear") continue;
            scales[without(written.tensor(node.input(0)).name, {"_before_quantization", "_clipped"})] =
                written.constantOf(node.input(1))->floats()[0];
        }
        // After folding, the layer's output has the name of the batch norm's output; AIMET uses the layer's
        // original name.
        for (const Node& node : source.nodes()) {
            if (node.op != "BatchNormalization" || !node.input(0).valid()) continue;
            const auto made = scales.find(source.tensor(node.output()).name);
            if (made != scales.end()) scales.emplace(source.tensor(node.input(0)).name, made->second);
        }
        return scales;
    }

    /// Scales of each layer's weight, by the weight's name in the source.
    static std::map<std::string, ConstantPtr> weightScales(const Graph& written, const Graph& source) {
        std::map<std::string, ConstantPtr> scales;
        for (const Node& node : written.nodes()) {
            const auto original = source.findNode(node.name);
            if (!original || node.inputs.size() < 2 || !node.input(1).valid() ||
                source.node(*original).op != node.op)
                continue;
            const NodeId maker = written.tensor(node.input(1)).producer;
            if (!maker.valid() || written.node(maker).op != "DequantizeLinear") continue;
            if (written.constantOf(written.node(maker).input(0)) == nullptr) continue;
            scales[source.tensor(source.node(*original).input(1)).name] =
                written.tensor(written.node(maker).input(1)).constant;
        }
        return scales;
    }

    /// Shared by all runs on a network, so that common results are computed once.
    Session* sessionOf(const QString& model) {
        auto& session = m_sessions[model];
        if (!session) {
            SessionOptions options;
            options.arithmetic = Arithmetic::Simulation;
            options.memory = std::size_t{1} << 31;  // several are open at once
            const fs::path path = test::asset("models/" + model.toStdString() + ".onnx");
            session = std::make_unique<Session>(loadModel(path), options);
            const auto inputs = inputSpecsOf(session->graph());
            const Preprocess preprocess = loadPreprocess(*preprocessBeside(path));
            m_all = openDataset(m_assets / "data/cifar10/val", inputs, preprocess);
            m_images.clear();
            for (std::size_t i = 0; i < m_all->size(); ++i)
                if (i < 8 || i % 2 == 0) m_images.push_back(i);
            session->setData(subset(m_all, m_images),
                             openDataset(m_assets / "data/cifar10/calibration", inputs, preprocess));
        }
        return session.get();
    }

  private Q_SLOTS:
    void presetsEqualTheirTools_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QStringList>("settings");
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("run");
        QTest::addColumn<double>("same");      ///< part of the images that must get the tool's class
        QTest::addColumn<int>("activations");  ///< of the tool's, found here
        QTest::addColumn<int>("weights");
        const auto row = [](const char* preset, const char* model, const QString& run, double same,
                            int activations, int weights, const QStringList& settings = {}) {
            QTest::addRow("%s", qPrintable(run))
                << preset << settings << model << run << same << activations << weights;
        };
        const QString channels = "quantization.weight.per_channel=true",
                      symmetric = "quantization.activation.symmetric=true";
        const char *s8 = "onnxruntime-s8s8", *u8 = "onnxruntime-u8s8", *w4 = "onnxruntime-w4s8";
        struct Network {
            const char* name;
            double same;
            int activations, symmetric, weights;
        };
        for (const Network& n : {Network{"mobilenetv2_cifar10", 0.994, 66, 101, 53},
                                 Network{"mlperf_tiny_resnet8", 0.994, 17, 24, 10},
                                 Network{"vit_cifar10", 0.97, 184, 184, 20}}) {
            const QString run = QStringLiteral("ort_quant_%1_").arg(n.name);
            row(s8, n.name, run + "s8s8_pt", n.same, n.activations, n.weights);
            row(s8, n.name, run + "s8s8_pc", n.same, n.activations, n.weights, {channels});
            row(u8, n.name, run + "u8s8_pt", n.same, n.activations, n.weights);
            row(u8, n.name, run + "u8s8_pc", n.same, n.activations, n.weights, {channels});
            row(s8, n.name, run + "s8s8_pt_symact",
                n.same - (QByteArray(n.name).startsWith("vit") ? 0.01 : 0), n.symmetric, n.weights,
                {symmetric});
        }
        const QString cut = "ort_quant_vit_2_blocks_";
        row(s8, "vit_2_blocks", cut + "s8s8_pt", 0.997, 68, 18);
        row(s8, "vit_2_blocks", cut + "s8s8_pc", 0.997, 68, 18, {channels});
        row(s8, "vit_2_blocks", cut + "s8s8_pt_symact", 0.997, 68, 18, {symmetric});
        row(s8, "vit_2_blocks_opset20", "ort_quant_vit_2_blocks_opset20_s8s8_pt", 0.997, 60, 25);
        const char* mobile = "mobilenetv2_cifar10";
        const QString run = "ort_quant_mobilenetv2_cifar10_";
        row(s8, mobile, run + "s8s8_pt_nopre", 0.994, 118, 53, {"transforms.fold_batch_norm=false"});
        row(s8, mobile, run + "s8s8_pt_entropy", 0.994, 66, 53, {"calibration.method=entropy"});
        row(s8, mobile, run + "s8s8_pt_entropy2048", 0.994, 66, 53,
            {"calibration.method=entropy", "calibration.parameters.num_bins=2048"});
        row(s8, mobile, run + "s8s8_pt_percentile", 0.994, 66, 53, {"calibration.method=percentile"});
        row(w4, mobile, run + "w4s8_pt", 0.994, 66, 53);
        row(w4, mobile, run + "w4s8_pc", 0.994, 66, 53, {channels});
        row(s8, mobile, run + "w4s8_sym7_pt", 0.994, 66, 53, {"quantization.weight.bits=4"});
        row(s8, mobile, run + "w4s8_sym7_pc", 0.994, 66, 53, {"quantization.weight.bits=4", channels});
        row(s8, "mobilenetv2_cifar10_opset20", "ort_quant_mobilenetv2_cifar10_opset20_s8s8_pt", 0.994, 60,
            50);
        row(s8, "mobilenetv2_cifar10_opset20", "ort_quant_mobilenetv2_cifar10_opset20_s8s8_pc", 0.994, 60, 50,
            {channels});
        row(s8, "vit_cifar10_opset20", "ort_quant_vit_cifar10_opset20_s8s8_pt", 0.97, 150, 20);
        row(s8, "vit_cifar10_opset20", "ort_quant_vit_cifar10_opset20_s8s8_pc", 0.97, 150, 20, {channels});
        for (const char* model : {"mobilenetv2_cifar10", "mlperf_tiny_resnet8"}) {
            const int activations = QByteArray(model).startsWith("mobile") ? 66 : 17;
            const QString quark = QStringLiteral("quark_%1_").arg(model);
            row("quark-xint8", model, quark + "XINT8", 0.999, activations, 0);
            row("quark-seed", model, quark + "SEED", 0.999, activations, 0);
            row("quark-a8w8", model, quark + "A8W8", 0.999, activations, 0);
        }
        row("aimet-default", mobile, "aimet_mobilenetv2_cifar10_W8A8_minmax", 0.999, 82, 53);
        row("aimet-default", "mlperf_tiny_resnet8", "aimet_mlperf_tiny_resnet8_W8A8_minmax", 0.999, 15, 10);
        row("aimet-default", mobile, "aimet_mobilenetv2_cifar10_W8A8_minmax_pertensor", 0.999, 82, 53,
            {"quantization.weight.per_channel=false"});
        row("aimet-tf-enhanced", mobile, "aimet_mobilenetv2_cifar10_W8A8_tfenhanced", 0.97, 0, 0);
    }
    void presetsEqualTheirTools() {
        QFETCH(QString, preset);
        QFETCH(QStringList, settings);
        QFETCH(QString, model);
        QFETCH(QString, run);
        QFETCH(double, same);
        QFETCH(int, activations);
        QFETCH(int, weights);
        QUANTLOUPE_NEEDS("models/" + model.toStdString() + ".onnx");
        QUANTLOUPE_NEEDS("oracles/" + run.toStdString() + ".json");
        Session* session = sessionOf(model);
        QuantizationConfig config = presetConfig(preset.toStdString());
        for (const QString& setting : settings) {
            const QStringList parts = setting.split('=');
            setConfigKey(config, parts[0].toStdString(), parts[1].toStdString());
        }
        const json truth = oracle(run);
        const bool onnxRuntime = truth.contains("optimizations_off"), aimet = run.startsWith("aimet");

        const GraphPtr written = session->quantizedModel(config);
        const auto ours = activationScales(*written, session->graph());
        std::map<std::string, double> theirs;
        json encodings;
        if (aimet) {
            encodings = json::parse(readFile(test::asset("oracles/" + run.toStdString() + ".encodings")));
            for (const json& entry : encodings["activation_encodings"])
                theirs[entry["name"]] = firstOf(entry["scale"]);
        } else {
            for (const auto& [key, entry] : truth["activations"].items())
                theirs[without(key, {"_QuantizeLinear_Input"})] = firstOf(entry["scale"]);
        }
        Scales scales;
        // ViT's ranges depend on many float sums, which the tool computes in another order.
        if (model.startsWith("vit")) scales.tolerance = 4e-6;
        for (const auto& [name, scale] : theirs) {
            const auto own = ours.find(name);
            if (own == ours.end())
                scales.missing << QString::fromStdString(name);
            else
                scales.compare(name, double(own->second), scale);
        }
        const int foundActivations = scales.found;
        json all;
        if (onnxRuntime) all = truth["weights"];
        if (aimet)
            for (const json& entry : encodings["param_encodings"])
                all[entry["name"].get<std::string>()] = entry;
        if (onnxRuntime || aimet)
            for (const auto& [name, constant] : weightScales(*written, session->graph())) {
                const auto entry = all.contains(name) ? all.find(name) : all.find("ConvBnFusion_W_" + name);
                if (entry == all.end()) continue;
                json scale = (*entry)["scale"];
                if (scale.is_array() && scale.size() == 1) scale = scale[0];
                if (scale.is_array() && scale.size() != std::size_t(constant->size()))
                    QFAIL(qPrintable(QString::fromStdString(name) + ": another number of channels"));
                for (std::size_t c = 0; c < std::size_t(constant->size()); ++c)
                    scales.compare(name, double(constant->floats()[c]),
                                   scale.is_array() ? scale[c].get<double>() : scale.get<double>());
                --weights;
            }
        qInfo(
            "%d of %zu activations found, ours %zu; %d scales compared, %d differ; weights not found: "
            "%d\nmissing: %s\ndifferent: %s",
            foundActivations, theirs.size(), ours.size(), scales.found, int(scales.different.size()), weights,
            qPrintable(scales.missing.mid(0, 8).join(' ')),
            qPrintable(scales.different.mid(0, 12).join("\n")));

        const EvaluationPtr result = session->evaluate(config, Depth::Accuracy);
        const auto predictions =
            loadNpy(test::asset("oracles/" + run.toStdString() + "_predictions.npy"))->toInt64s();
        QCOMPARE(predictions.size(), m_all->size());
        const ConstantPtr outputs = session->outputs(config).at(0);
        const auto width = static_cast<std::size_t>(outputs->dims()[1]);
        std::size_t equal = 0, right = 0;
        for (std::size_t row = 0; row < m_images.size(); ++row) {
            const auto values = outputs->floats().subspan(row * width, width);
            const std::int64_t theirClass = predictions[m_images[row]];
            equal += std::ranges::max_element(values) - values.begin() == theirClass;
            right += m_all->label(m_images[row]) == static_cast<int>(theirClass);
        }
        const double share = double(equal) / double(m_images.size());
        const double expected = double(right) / double(m_images.size());
        double sqnr = 200;
        if (onnxRuntime) {
            std::vector<float> logits;
            for (const json& one : truth["first_8_logits"])
                for (const json& value : one) logits.push_back(value.get<float>());
            sqnr = test::sqnrDb(logits, outputs->floats().subspan(0, logits.size()));
        } else if (!run.contains("resnet8")) {  // whose Softmax hides the differences
            const ConstantPtr theirLogits =
                loadNpy(test::asset("oracles/" + run.toStdString() + "_logits.npy"));
            std::vector<float> logits;
            for (const std::size_t image : m_images) {
                const auto row = theirLogits->floats().subspan(image * width, width);
                logits.insert(logits.end(), row.begin(), row.end());
            }
            sqnr = test::sqnrDb(logits, outputs->floats());
        }
        qInfo("| %s | %.1f %% | %.1f %% | %.1f %% | %.1f dB |", qPrintable(run),
              100 * *result->quantized->top1, 100 * expected, 100 * share, sqnr);
        if (activations > 0) QVERIFY2(scales.different.isEmpty(), qPrintable(scales.different.join("\n")));
        QVERIFY(foundActivations >= activations);
        QVERIFY2(weights <= 0, "weights are missing");
        // ViT's runs were made on a processor with AVX-512, where sums are rounded in another order; it
        // differs from itself by 29 dB or less if biases change by a millionth. AIMET's tf_enhanced is for
        // weights, too, but not in the preset.
        const bool sensitive =
            activations == 0 || (run.startsWith("ort_quant_vit_cifar10") && run.endsWith("symact"));
        const double wanted = activations == 0                                 ? 26
                              : sensitive                                      ? 22
                              : onnxRuntime && model.startsWith("vit_cifar10") ? 25
                              : model.startsWith("vit_2_blocks")               ? 100
                                                                               : 35;
        QVERIFY(std::abs(*result->quantized->top1 - expected) <= (sensitive ? 0.01 : 0.005) + 1e-9);
        QVERIFY(share >= same);
        QVERIFY2(sqnr >= wanted, qPrintable(QString("%1 dB").arg(sqnr)));
    }
};

QTEST_GUILESS_MAIN(PresetOracleTest)
#include "preset_oracle_test.moc"
