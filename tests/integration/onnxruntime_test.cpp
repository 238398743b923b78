// SPDX-License-Identifier: Apache-2.0
// Exported models in ONNX Runtime predict the same classes as the simulation. Needs Python with onnxruntime,
// numpy and Pillow (packaging/test creates an environment); skipped without it.
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "config/presets.h"
#include "data/numpy_file.h"
#include "support/demo.h"
#include "support/text_model.h"

using namespace quantloupe;
namespace fs = std::filesystem;

namespace {

std::vector<std::size_t> argmaxRows(const Constant& values) {
    const auto width = static_cast<std::size_t>(values.dims()[1]);
    const auto all = values.floats();
    std::vector<std::size_t> rows;
    for (std::size_t at = 0; at < all.size(); at += width) {
        const auto row = all.subspan(at, width);
        rows.push_back(static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin()));
    }
    return rows;
}

}  // namespace

class OnnxRuntimeTest : public QObject {
    Q_OBJECT

  private:
    QString m_python = qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3");
    QTemporaryDir m_folder;
    fs::path m_model, m_images, m_calibration;

    ConstantPtr runOnnxRuntime(const fs::path& model) {
        const fs::path output = m_folder.path().toStdString() + "/outputs.npz";
        QProcess process;
        process.setProcessChannelMode(QProcess::MergedChannels);
        const QString script = QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/run_onnxruntime.py");
        process.start(m_python,
                      {script, QString::fromStdString(model.string()),
                       QString::fromStdString(preprocessBeside(m_model)->string()),
                       QString::fromStdString(m_images.string()), QString::fromStdString(output.string())});
        if (!process.waitForFinished(200000) || process.exitCode() != 0) {
            qWarning("%s", process.readAll().constData());
            return nullptr;
        }
        return loadNpz(output).at("outputs");
    }

  private Q_SLOTS:
    void initTestCase() {
        QProcess process;
        process.start(m_python, {"-c", "import onnxruntime, numpy, PIL"});
        if (!process.waitForFinished(60000) || process.exitCode() != 0)
            QSKIP("Python with onnxruntime, numpy and Pillow is not available (QUANTLOUPE_PYTHON)");
        const fs::path demo = test::demoFolder();
        m_model = demo / "mobilenetv2_cifar10.onnx";
        m_images = test::assets() / "data/cifar10/val";
        m_calibration = test::assets() / "data/cifar10/calibration";
    }

    void quantizedModels_data() {
        QTest::addColumn<int>("bits");
        QTest::addColumn<bool>("perChannel");
        QTest::addColumn<bool>("tuned");
        QTest::newRow("W8A8 per tensor") << 8 << false << false;
        QTest::newRow("W8A8 per channel") << 8 << true << false;
        QTest::newRow("W4A8 per tensor") << 4 << false << false;
        QTest::newRow("W4A8 per channel") << 4 << true << false;
        QTest::newRow("W4A8 equalized, with skips") << 4 << false << true;
    }
    void quantizedModels() {
        QFETCH(int, bits);
        QFETCH(bool, perChannel);
        QFETCH(bool, tuned);
        QuantizationConfig config = presetConfig("w4a8");
        config.quantization.weight.bits = bits;
        config.quantization.weight.perChannel = perChannel;
        if (tuned) {
            config.transforms.replaceRelu6 = ReplaceRelu6::Between;
            config.transforms.equalization.profile = EqualizationProfile::Aimet;
            config.skipTail = config.wholeTail = true;
            SkipRule rule;
            rule.layers = {"/features/features.17/conv/conv.2/Conv", "/features/features.3/Add"};
            config.rules = {rule};
        }
        const auto session = test::openSession(m_model, m_images, m_calibration);
        const fs::path file = m_folder.path().toStdString() + "/quantized.onnx";
        saveModel(*session->quantizedModel(config), file);
        const ConstantPtr theirs = runOnnxRuntime(file);
        QVERIFY(theirs);
        const ConstantPtr ours = session->outputs(config).at(0);
        QCOMPARE(toString(ours->dims()), toString(theirs->dims()));
        const auto a = argmaxRows(*ours), b = argmaxRows(*theirs);
        std::size_t same = 0;
        for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
        const double agreement = double(same) / double(a.size());
        qInfo("ONNX Runtime agrees on %zu of %zu images", same, a.size());
        QVERIFY(agreement >= 0.995);
    }

    void theEqualizedFloatModel() {
        QuantizationConfig config;
        config.transforms.replaceRelu6 = ReplaceRelu6::Between;
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        const auto session = test::openSession(m_model, m_images, m_calibration);
        const fs::path file = m_folder.path().toStdString() + "/equalized.onnx";
        saveModel(*session->prepare(config)->graph, file);
        const ConstantPtr theirs = runOnnxRuntime(file);
        QVERIFY(theirs);
        const ConstantPtr ours = session->outputs(std::nullopt).at(0);
        const std::span<const float> reference = ours->floats();
        float worst = 0;
        for (std::size_t i = 0; i < reference.size(); ++i)
            worst = std::max(worst, std::abs(reference[i] - theirs->floats()[i]));
        QVERIFY2(worst < 1e-3f, qPrintable(QString::number(double(worst))));
    }
};

QTEST_GUILESS_MAIN(OnnxRuntimeTest)
#include "onnxruntime_test.moc"
