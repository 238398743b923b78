// SPDX-License-Identifier: Apache-2.0
// Equalization and related transforms on whole networks and real samples: the required accuracy gain, the
// notices, and which results are computed again after an edit.
#include <QtTest>
#include <random>

#include "config/presets.h"
#include "data/numpy_file.h"
#include "model/reachability.h"
#include "quantize/plan.h"
#include "support/demo.h"
#include "support/small_graph.h"

using namespace quantloupe;
namespace fs = std::filesystem;

namespace {

QuantizationConfig equalized(EqualizationProfile profile, int steps = 1) {
    QuantizationConfig config;
    config.skipTail = false;
    config.transforms.equalization.profile = profile;
    config.transforms.equalization.steps = steps;
    return config;
}

}  // namespace

class EqualizationTest : public QObject {
    Q_OBJECT

    fs::path m_assets = test::assets();

    std::unique_ptr<Session> open(const char* model, SessionOptions options = {}) const {
        return test::openSession(test::asset(std::string("models/") + model + ".onnx"),
                                 m_assets / "data/cifar10/val", m_assets / "data/cifar10/calibration",
                                 options);
    }

  private Q_SLOTS:
    /// The same function as the original's, its channels rescaled over four decades: per-tensor INT8 ruins
    /// it, equalization restores it.
    void anUnequalizedNetwork() {
        const auto sqnr = [](Session& session, const QuantizationConfig& config) {
            const EvaluationPtr result = session.evaluate(config, Depth::Accuracy);
            return *result->quantized->sqnrDb;
        };
        const double original = sqnr(*open("mlperf_tiny_vww_mobilenet"), equalized(EqualizationProfile::Off));
        const auto unequalized = open("vww_mobilenet_unequalized");
        const double ruined = sqnr(*unequalized, equalized(EqualizationProfile::Off));
        const double quark = sqnr(*unequalized, equalized(EqualizationProfile::Quark));
        const double everywhere = sqnr(*unequalized, equalized(EqualizationProfile::Quantloupe, -1));
        qInfo(
            "SQNR of the outputs at W8A8 per tensor: original %.1f dB, unequalized %.1f; equalized as Quark "
            "does %.1f, everywhere %.1f",
            original, ruined, quark, everywhere);
        QVERIFY(ruined < 5);
        QVERIFY(quark >= original - 1);
        QVERIFY(everywhere >= original - 1);
    }

    /// MobileNetV2 with 4-bit weights per tensor and every layer quantized: the accuracy gain without data
    /// and with calibration data.
    void fourBitsPerTensor_data() {
        QTest::addColumn<int>("correction");
        QTest::addColumn<double>("least");
        QTest::newRow("without data") << int(BiasCorrection::Analytic) << 0.85;
        QTest::newRow("with calibration data") << int(BiasCorrection::Empirical) << 0.91;
    }
    void fourBitsPerTensor() {
        QFETCH(int, correction);
        QFETCH(double, least);
        QuantizationConfig config = presetConfig("w4a8");
        config.skipTail = false;
        config.calibration.samples = 64;  // enough for means
        config.transforms.replaceRelu6 = ReplaceRelu6::Between;
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        config.transforms.highBiasFold = true;
        config.refine.biasCorrection = static_cast<BiasCorrection>(correction);
        const EvaluationPtr result = open("mobilenetv2_cifar10")->evaluate(config, Depth::Accuracy);
        qInfo("%.1f %%, float %.1f %%", 100 * *result->quantized->top1, 100 * *result->floating->top1);
        QCOMPARE(result->samples, std::size_t(1000));
        QVERIFY(*result->quantized->top1 >= least);
    }

    /// Inputs up to 30 through weights of 1: every fifth activation is cut by the Clip, and not by the Relu.
    void saturatingReluSix() {
        QTemporaryDir folder;
        const fs::path file = folder.path().toStdString() + "/x.npz";
        std::vector<float> samples;
        for (int i = 0; i < 32 * 16; ++i)
            samples.push_back(static_cast<float>(i % 31) * (i % 5 == 0 ? 1.0f : 0.19f));
        saveNpz({{"x", Constant::fromFloats({32, 1, 4, 4}, samples)}}, file);
        const auto model = [](const char* high) {
            return test::textModel(
                std::string(
                    "<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,1,4,4] x) => (float[N,1,4,4] y) "
                    "<float[2,1,1,1] w1 = {1, 0.25}, float[1,2,1,1] w2 = {1, 4}, float lo = {0}, float hi = "
                    "{") +
                high + "}> { a = Conv(x, w1)\n c = Clip(a, lo, hi)\n y = Conv(c, w2) }");
        };
        QuantizationConfig config = equalized(EqualizationProfile::Aimet);
        const auto evaluated = [&](QuantizationConfig now) {
            Session session(model("6"));
            const auto data = openDataset(file, inputSpecsOf(session.graph()), {});
            session.setData(data, data);
            return session.evaluate(now);
        };
        const auto said = [](const EvaluationPtr& result) {
            return test::lines(result->notices)
                .contains("Relu only equals Clip(0, 6) if no value exceeds 6 (1 were replaced)");
        };
        const EvaluationPtr kept = evaluated(config);
        QCOMPARE(kept->replacedClips, std::size_t(0));
        QVERIFY(*kept->prepared->maxAbsDiff < 1e-5);
        QVERIFY(!said(kept));

        config.transforms.replaceRelu6 = ReplaceRelu6::Between;
        const EvaluationPtr replaced = evaluated(config);
        // By hand: y = min(x, 6) + 4 min(x / 4, 6), and without the Clip 2 x.
        double worst = 0, signal = 0, noise = 0;
        for (const float x : samples) {
            const double clipped = std::min(double(x), 6.0) + 4 * std::min(double(x) / 4, 6.0),
                         free = 2 * double(x);
            worst = std::max(worst, free - clipped);
            signal += clipped * clipped;
            noise += (free - clipped) * (free - clipped);
        }
        QVERIFY(std::abs(*replaced->prepared->maxAbsDiff - worst) < 1e-4);
        QVERIFY(std::abs(*replaced->prepared->sqnrDb - 10 * std::log10(signal / noise)) < 0.01);
        QVERIFY(worst > 20);
        QVERIFY2(said(replaced), qPrintable(test::lines(replaced->notices)));
    }

    /// Exact ones are not flagged.
    void exactTransformsAreNotReported() {
        const auto session = open("mlperf_tiny_resnet8", {0, 64, 32});
        const auto result = session->evaluate(equalized(EqualizationProfile::Quantloupe, -1));
        QVERIFY(!test::lines(result->notices).contains("reduce the SQNR of the float network"));
    }

    /// With a junction disabled, everything before it comes from the cache, from ranges to metrics.
    void disabledJunctionChangesOnlyDownstreamLayers() {
        const auto session = test::openDemo({0, 64, 16});
        QuantizationConfig config = test::demoConfig();
        config.transforms.replaceRelu6 = ReplaceRelu6::Between;
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        const EvaluationPtr all = session->evaluate(config);
        const WorkDone cold = session->workDone();
        const auto prepared = session->prepare(config);
        const EqualizationSet& last = prepared->sets.back();
        auto& off = config.transforms.equalization.off.emplace_back();
        for (const NodeId id : last.layers) off.push_back(session->graph().node(id).name);
        const EvaluationPtr without = session->evaluate(config);
        const WorkDone warm = session->workDone() - cold;
        QVERIFY(*without->quantized->sqnrDb != *all->quantized->sqnrDb);

        // Units from the set's first layer on, by the prepared graph.
        const NodeSet behind = downstreamOf(session->graph(), std::vector<NodeId>{last.layers.front()});
        std::size_t units = 0, behindUnits = 0;
        for (std::size_t l = 0; l < without->layers.size(); ++l) {
            if (!without->layers[l].local) continue;
            ++units;
            if (behind[l]) ++behindUnits;
        }
        qInfo(
            "%zu of %zu units are after the junction; evaluated again: %zu alone, %zu in the network; %zu of "
            "%zu tensors calibrated; %zu of %zu "
            "tensors computed",
            behindUnits, units, warm.local, warm.cumulative, warm.calibrated, cold.calibrated, warm.computed,
            cold.computed);
        QVERIFY(behindUnits > 0 && behindUnits < units / 3);
        QVERIFY(warm.local > 0 && warm.local <= behindUnits);
        QVERIFY(warm.cumulative > 0 && warm.cumulative <= behindUnits);
        QVERIFY(warm.calibrated > 0 && warm.calibrated <= behindUnits);
        QVERIFY(warm.computed < cold.computed / 3);

        // The cached results equal those of a new session.
        const auto other = test::openDemo({1, 64, 16});
        const EvaluationPtr fresh = other->evaluate(config);
        QCOMPARE(*without->quantized->sqnrDb, *fresh->quantized->sqnrDb);
        for (std::size_t l = 0; l < fresh->layers.size(); ++l) {
            QCOMPARE(without->layers[l].local.has_value(), fresh->layers[l].local.has_value());
            if (fresh->layers[l].local) QCOMPARE(without->layers[l].local->qs, fresh->layers[l].local->qs);
            if (fresh->layers[l].cumulative)
                QCOMPARE(without->layers[l].cumulative->qs, fresh->layers[l].cumulative->qs);
        }
    }

    /// A LayerNormalization with two channels sixty times as wide as the others, which small weights read, as
    /// in large transformers.
    void migrationOfOutliers() {
        std::mt19937 random(11);
        std::normal_distribution<double> normal;
        QStringList gamma, weight;
        for (int c = 0; c < 16; ++c) {
            const bool outlier = c == 3 || c == 9;
            gamma << (outlier ? "60" : "1");
            for (int o = 0; o < 8; ++o)
                weight << QString::number(normal(random) * (outlier ? 1.0 / 60 : 1.0), 'f', 6);
        }
        QTemporaryDir folder;
        const fs::path file = folder.path().toStdString() + "/x.npz";
        std::vector<float> samples(64 * 4 * 16);
        for (float& v : samples) v = static_cast<float>(normal(random));
        saveNpz({{"x", Constant::fromFloats({64, 4, 16}, std::move(samples))}}, file);
        const QString text =
            "<ir_version: 8, opset_import: [\"\" : 17]> net (float[N,4,16] x) => (float[N,4,8] y) <float[16] "
            "g = {" +
            gamma.join(", ") + "}, float[16,8] w = {" + weight.join(", ") +
            "}> { n = LayerNormalization(x, g)\n y = MatMul(n, w) }";
        Session session(test::textModel(text.toStdString()));
        const auto data = openDataset(file, inputSpecsOf(session.graph()), {});
        session.setData(data, data);
        QuantizationConfig config;
        config.skipTail = false;
        const double plain = *session.evaluate(config)->quantized->sqnrDb;
        config.refine.migration = 0.5;
        const EvaluationPtr migrated = session.evaluate(config);
        qInfo("SQNR %.1f dB, with migration %.1f dB; float drift %.2g", plain, *migrated->quantized->sqnrDb,
              *migrated->prepared->maxAbsDiff);
        QCOMPARE(migrated->migratedInputs, std::size_t(1));
        QVERIFY(*migrated->prepared->sqnrDb > 100);
        QVERIFY(*migrated->quantized->sqnrDb > plain + 10);
    }

    /// The float function of real transformers does not change. All inputs of matrix products take part: four
    /// per block, and the head's.
    void migrationKeepsTheFunction_data() {
        QTest::addColumn<int>("inputs");
        QTest::newRow("vit_2_blocks") << 9;
        QTest::newRow("vit_2_blocks_opset20") << 9;
        QTest::newRow("vit_cifar10") << 25;
        QTest::newRow("vit_cifar10_opset20") << 25;
    }
    void migrationKeepsTheFunction() {
        QUANTLOUPE_NEEDS(std::string("models/") + QTest::currentDataTag() + ".onnx");
        const auto session = open(QTest::currentDataTag(), {0, 16, 16});
        QuantizationConfig config;
        config.calibration.samples = 16;
        config.refine.migration = 0.5;
        const auto migrated = session->evaluate(config);
        QTEST(int(migrated->migratedInputs), "inputs");
        QVERIFY(*migrated->prepared->sqnrDb > 90);
    }

    void migrationWithoutDataIsReported() {
        Session session(loadModel(m_assets / "models/vit_2_blocks.onnx"));
        QuantizationConfig config;
        config.refine.migration = 0.5;
        const auto result = session.evaluate(config, Depth::States);
        QCOMPARE(result->migratedInputs, std::size_t(0));
        QVERIFY(test::lines(result->notices).contains("measuring the channel ranges needs calibration data"));
    }
};

QTEST_GUILESS_MAIN(EqualizationTest)
#include "equalization_test.moc"
