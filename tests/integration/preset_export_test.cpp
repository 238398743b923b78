// SPDX-License-Identifier: Apache-2.0
// Presets on three networks: compares the simulation with ONNX Runtime on the exported model, and ONNX
// Runtime with itself at other optimization levels, which shows how much of a difference is rounding. Needs
// Python with onnxruntime and numpy; skipped without it. QUANTLOUPE_EXPORT_IMAGES: number of images (default
// 48).
#include <QTemporaryDir>
#include <QtTest>

#include "config/presets.h"
#include "data/numpy_file.h"
#include "support/demo.h"
#include "support/python.h"
#include "support/signal_to_noise.h"
#include "support/text_model.h"

using namespace quantloupe;
namespace fs = std::filesystem;

namespace {

std::size_t differing(const Constant& a, const Constant& b) {
    const auto width = static_cast<std::size_t>(a.dims()[1]);
    const auto best = [&](const Constant& values, std::size_t row) {
        const auto r = values.floats().subspan(row * width, width);
        return std::ranges::max_element(r) - r.begin();
    };
    std::size_t count = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.dims()[0]); ++row)
        count += best(a, row) != best(b, row);
    return count;
}

}  // namespace

class PresetExportTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    fs::path m_assets = test::assets();

  private Q_SLOTS:
    void initTestCase() { QUANTLOUPE_NEEDS_ONNXRUNTIME; }

    void onnxRuntimeMatchesTheSimulation_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("preset");
        const auto row = [](const char* model, const std::string& preset) {
            QTest::addRow("%s, %s", model, preset.c_str()) << model << QString::fromStdString(preset);
        };
        for (const char* model :
             {"mlperf_tiny_resnet8", "mobilenetv2_cifar10", "vit_2_blocks", "vit_cifar10"})
            for (const PresetInfo& preset : presets()) row(model, preset.name);
    }
    void onnxRuntimeMatchesTheSimulation() {
        QFETCH(QString, model);
        QFETCH(QString, preset);
        const auto images =
            static_cast<std::size_t>(qEnvironmentVariable("QUANTLOUPE_EXPORT_IMAGES", "48").toInt());
        SessionOptions options;
        options.samples = images;
        options.arithmetic = Arithmetic::Simulation;
        QUANTLOUPE_ASSET(file, "models/" + model.toStdString() + ".onnx");
        const auto session = test::openSession(file, m_assets / "data/cifar10/val",
                                               m_assets / "data/cifar10/calibration", options);
        QuantizationConfig config = presetConfig(preset.toStdString());
        config.quantization.rounding = TieRounding::HalfEven;  // Q/DQ pairs cannot round as AIMET does
        config.calibration.samples = std::min(config.calibration.samples, 32);
        const fs::path folder = m_folder.path().toStdString();
        saveModel(*session->quantizedModel(config), folder / "model.onnx");
        const ConstantPtr ours = session->outputs(config).at(0);

        const auto data = openDataset(m_assets / "data/cifar10/val", inputSpecsOf(session->graph()),
                                      loadPreprocess(*preprocessBeside(file)));
        std::vector<float> values;
        Dims dims{0};
        for (const std::size_t index : spreadEvenly(data->size(), images)) {
            const SampleTensor tensor = data->sample(index).at(0);
            dims = tensor.dims;
            const auto* first = reinterpret_cast<const float*>(tensor.bytes.data());
            values.insert(values.end(), first, first + tensor.bytes.size() / sizeof(float));
        }
        dims.insert(dims.begin(), static_cast<std::int64_t>(images));
        saveNpz({{"x", Constant::fromFloats(dims, values)}}, folder / "x.npz");
        const auto path = [&](const char* name) { return QString::fromStdString((folder / name).string()); };
        QVERIFY(test::runsInPython(
            {QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/run_onnxruntime_levels.py"),
             path("model.onnx"), path("x.npz"), path("y.npz")}));
        const auto theirs = loadNpz(folder / "y.npz");
        const Constant &off = *theirs.at("off"), &basic = *theirs.at("basic"), &all = *theirs.at("all");
        const double sqnr = test::sqnrDb(off.floats(), ours->floats());
        const std::size_t apart = differing(off, *ours),
                          own = std::max(differing(off, basic), differing(off, all));
        qInfo("| `%s` | %s | %.1f | %.1f | %.1f | %zu | %zu |", qPrintable(preset), qPrintable(model), sqnr,
              test::sqnrDb(off.floats(), basic.floats()), test::sqnrDb(off.floats(), all.floats()), apart,
              own);
        QVERIFY2(apart <= own + 3,
                 qPrintable(QString("%1 classes differ, ONNX Runtime's own: %2").arg(apart).arg(own)));
        QVERIFY2(sqnr >= 40, qPrintable(QString("%1 dB").arg(sqnr)));
    }
};

QTEST_GUILESS_MAIN(PresetExportTest)
#include "preset_export_test.moc"
