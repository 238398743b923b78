// SPDX-License-Identifier: Apache-2.0
// Float outputs, pixels, quantized accuracy and equalization compared with ONNX Runtime's results on the same
// models.
#include <QtTest>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "config/presets.h"
#include "data/numpy_file.h"
#include "support/demo.h"
#include "support/text_model.h"

using namespace quantloupe;
namespace fs = std::filesystem;

namespace {

double relativeError(std::span<const float> reference, std::span<const float> found) {
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        largest = std::max(largest, double(std::abs(reference[i])));
        worst = std::max(worst, double(std::abs(reference[i] - found[i])));
    }
    return worst / largest;
}

std::vector<std::int64_t> argmaxRows(const Constant& values) {
    const auto width = static_cast<std::size_t>(values.dims()[1]);
    const auto all = values.floats();
    std::vector<std::int64_t> rows;
    for (std::size_t at = 0; at < all.size(); at += width)
        rows.push_back(
            std::max_element(all.begin() + std::ptrdiff_t(at), all.begin() + std::ptrdiff_t(at + width)) -
            all.begin() - std::ptrdiff_t(at));
    return rows;
}

std::size_t differing(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
    std::size_t count = a.size() == b.size() ? 0 : a.size() + b.size();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] != b[i];
    return count;
}

QuantizationConfig scheme(int weightBits, bool perChannel) {
    QuantizationConfig config = presetConfig("w4a8");
    config.quantization.weight.bits = weightBits;
    config.quantization.weight.perChannel = perChannel;
    return config;
}

}  // namespace

class OracleTest : public QObject {
    Q_OBJECT

  private:
    fs::path m_assets = test::assets();
    std::unique_ptr<Session> open(const std::string& model) const {
        return test::openSession(test::asset("models/" + model + ".onnx"), m_assets / "data/cifar10/val",
                                 m_assets / "data/cifar10/calibration");
    }
    fs::path oracle(const std::string& name) const { return test::asset("oracles/" + name); }

  private Q_SLOTS:

    void floatOutputs_data() {
        QTest::addColumn<QString>("model");
        for (const char* model :
             {"mobilenetv2_cifar10", "mobilenetv2_cifar10_opset20", "mlperf_tiny_resnet8", "vit_2_blocks",
              "vit_2_blocks_opset20", "vit_cifar10", "vit_cifar10_opset20"})
            QTest::newRow(model) << model;
    }
    void floatOutputs() {
        QFETCH(QString, model);
        QUANTLOUPE_NEEDS("models/" + model.toStdString() + ".onnx");
        const auto session = open(model.toStdString());
        const ConstantPtr found = session->outputs(std::nullopt).at(0);
        auto truth = loadNpz(oracle("float_" + model.toStdString() + ".npz"));
        const ConstantPtr logits = truth.at("logits");
        const double error = relativeError(logits->floats(), found->floats().first(logits->floats().size()));
        qInfo("relative error of 64 logits: %.2g", error);
        QVERIFY2(error <= 1e-4, qPrintable(QString::number(error)));
        const std::size_t flips = differing(truth.at("predictions")->toInt64s(), argmaxRows(*found));
        QVERIFY2(flips <= 1, qPrintable(QString("%1 of 1000 predictions differ").arg(flips)));
    }

    void imagesThroughAnAntialiasedResize() {
        const fs::path model = m_assets / "models/mlperf_tiny_vww_mobilenet.onnx";
        Session session(loadModel(model));
        const auto inputs = inputSpecsOf(session.graph());
        const auto photos =
            openDataset(m_assets / "data/collages", inputs, loadPreprocess(*preprocessBeside(model)));
        session.setData(photos, photos);
        const ConstantPtr truth = loadNpz(oracle("float_mlperf_tiny_vww_mobilenet.npz")).at("logits");
        const double error = relativeError(truth->floats(), session.outputs(std::nullopt).at(0)->floats());
        QVERIFY2(error <= 1e-4, qPrintable(QString::number(error)));
    }

    void arraysAsInputs() {
        Session session(loadModel(m_assets / "models/mlperf_tiny_ad01_autoencoder.onnx"));
        auto truth = loadNpz(oracle("float_mlperf_tiny_ad01_autoencoder.npz"));
        QTemporaryDir folder;
        const fs::path file = folder.path().toStdString() + "/input.npz";
        saveNpz({{"input_1", truth.at("input")}}, file);
        const auto data = openDataset(file, inputSpecsOf(session.graph()), {});
        session.setData(data, data);
        const double error =
            relativeError(truth.at("logits")->floats(), session.outputs(std::nullopt).at(0)->floats());
        QVERIFY2(error <= 1e-4, qPrintable(QString::number(error)));
    }

    /// The simulation against ONNX Runtime's own quantizer with the same scheme: nearly the same verdict on
    /// every image.
    void quantizedAccuracy_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("preset");
        QTest::addColumn<int>("bits");
        QTest::addColumn<bool>("perChannel");
        QTest::addColumn<double>("agreement");
        QTest::newRow("W8A8 per tensor") << "mobilenetv2_cifar10"
                                         << "s8s8_pt" << 8 << false << 0.995;
        QTest::newRow("W8A8 per channel") << "mobilenetv2_cifar10"
                                          << "s8s8_pc" << 8 << true << 0.995;
        QTest::newRow("W4A8 per tensor") << "mobilenetv2_cifar10"
                                         << "w4s8_sym7_pt" << 4 << false << 0.995;
        QTest::newRow("W4A8 per channel") << "mobilenetv2_cifar10"
                                          << "w4s8_sym7_pc" << 4 << true << 0.995;
        QTest::newRow("resnet8 W8A8") << "mlperf_tiny_resnet8"
                                      << "s8s8_pt" << 8 << false << 0.995;
    }
    void quantizedAccuracy() {
        QFETCH(QString, model);
        QFETCH(QString, preset);
        QFETCH(int, bits);
        QFETCH(bool, perChannel);
        QFETCH(double, agreement);
        const auto session = open(model.toStdString());
        const auto result = session->evaluate(scheme(bits, perChannel), Depth::Accuracy);
        const std::string stem = "ort_quant_" + model.toStdString() + "_" + preset.toStdString();
        const auto truth = nlohmann::json::parse(readFile(oracle(stem + ".json")));
        const double expected = truth["optimizations_off"]["top1"];
        qInfo("top-1 %.3f, ONNX Runtime's quantizer %.3f", *result->quantized->top1, expected);
        QVERIFY(std::abs(*result->quantized->top1 - expected) <= 0.005 + 1e-9);
        const auto outputs = session->outputs(scheme(bits, perChannel)).at(0);
        const auto predictions = loadNpy(oracle(stem + "_predictions.npy"))->toInt64s();
        const double same =
            1 - double(differing(predictions, argmaxRows(*outputs))) / double(predictions.size());
        qInfo("same prediction on %.1f %%", 100 * same);
        QVERIFY(same >= agreement);
    }

    void equalizationRecoversHalfOfTheLoss() {
        const auto session = open("mobilenetv2_cifar10");
        const auto plain = session->evaluate(scheme(4, false), Depth::Accuracy);
        QuantizationConfig config = scheme(4, false);
        config.transforms.replaceRelu6 = ReplaceRelu6::Between;
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        const auto equalized = session->evaluate(config, Depth::Metrics);
        const double lost = *plain->floating->top1 - *plain->quantized->top1;
        const double regained = *equalized->quantized->top1 - *plain->quantized->top1;
        qInfo("float %.3f, plain %.3f, equalized %.3f; float drift of the transforms: %.3g",
              *plain->floating->top1, *plain->quantized->top1, *equalized->quantized->top1,
              *equalized->prepared->maxAbsDiff);
        QVERIFY(regained >= lost / 2);
        QVERIFY(*equalized->prepared->maxAbsDiff < 1e-3);
        QCOMPARE(equalized->equalizationSets, 19u);
    }

    void transformsKeepTheFunction_data() {
        QTest::addColumn<QString>("model");
        for (const char* model :
             {"mobilenetv2_cifar10", "mobilenetv2_cifar10_opset20", "mlperf_tiny_resnet8"})
            QTest::newRow(model) << model;
    }
    void transformsKeepTheFunction() {
        QFETCH(QString, model);
        QUANTLOUPE_ASSET(file, "models/" + model.toStdString() + ".onnx");
        auto session = test::openSession(file, m_assets / "data/cifar10/val",
                                         m_assets / "data/cifar10/calibration", {0, 64, 32});
        QuantizationConfig config;
        config.transforms.replaceRelu6 = ReplaceRelu6::Between;
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        const auto result = session->evaluate(config);
        QVERIFY2(*result->prepared->sqnrDb > 90, qPrintable(QString::number(*result->prepared->sqnrDb)));
    }
};

QTEST_GUILESS_MAIN(OracleTest)
#include "oracle_test.moc"
