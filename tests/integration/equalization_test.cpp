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

/// A small network with all layers that learned rounding supports, and uneven random samples for it.
class SmallNetwork {
  public:
    SmallNetwork() {
        std::mt19937 random(7);
        const auto values = [&](int count) {
            QStringList texts;
            std::normal_distribution<double> normal(0, 0.5);
            for (int i = 0; i < count; ++i) texts << QString::number(normal(random), 'f', 6);
            return texts.join(", ");
        };
        graphText = "(float[N,3,8,8] x) => (float[N,5] y) <float[40,3,3,3] w1 = {" + values(40 * 27) +
                    "}, float[40] b1 = {" + values(40) + "}, float[40,1,3,3] w2 = {" + values(360) +
                    "}, float[40] b2 = {" + values(40) + "}, float[6,20,1,1] w3 = {" + values(120) +
                    "}, float[6] b3 = {" + values(6) + "}, float[6,5] w4 = {" + values(30) +
                    "}, float[5] b4 = {" + values(5) +
                    "}> { a = Conv<pads = [1,1,1,1]>(x, w1, b1)\n r = Relu(a)\n b = Conv<group = 40, strides "
                    "= [2,2]>(r, w2, b2)\n "
                    "s = Relu(b)\n c = Conv<group = 2>(s, w3, b3)\n g = GlobalAveragePool(c)\n f = "
                    "Flatten(g)\n y = Gemm(f, w4, b4) }";
        std::vector<float> samples(40 * 3 * 64);
        for (float& v : samples) v = std::normal_distribution<float>(0.3f)(random);
        m_file = m_folder.path().toStdString() + "/x.npz";
        saveNpz({{"x", Constant::fromFloats({40, 3, 8, 8}, std::move(samples))}}, m_file);
    }

    std::unique_ptr<Session> open(int threads, std::optional<std::size_t> memory = {}) const {
        SessionOptions options;
        options.threads = threads;
        options.memory = memory;
        const std::string text = "<ir_version: 8, opset_import: [\"\" : 13]> net " + graphText.toStdString();
        auto session = std::make_unique<Session>(test::textModel(text), options);
        const auto data = openDataset(m_file, inputSpecsOf(session->graph()), {});
        session->setData(data, data);
        return session;
    }

    QString graphText;

  private:
    QTemporaryDir m_folder;
    fs::path m_file;
};

QuantizationConfig learned(BiasCorrection correction = BiasCorrection::Off) {
    QuantizationConfig config;
    config.skipTail = false;
    config.quantization.weight.bits = 3;
    config.refine.rounding = Rounding::Adaround;
    config.refine.biasCorrection = correction;
    return config;
}

}  // namespace

class EqualizationTest : public QObject {
    Q_OBJECT

    fs::path m_assets = test::assets();
    SmallNetwork m_small;

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

    void learnedRoundingDoesNotDependOnThreads_data() {
        QTest::addColumn<int>("correction");
        QTest::newRow("rounding") << int(BiasCorrection::Off);
        QTest::newRow("and empirical bias correction") << int(BiasCorrection::Empirical);
    }
    void learnedRoundingDoesNotDependOnThreads() {
        QFETCH(int, correction);
        const QuantizationConfig config = learned(static_cast<BiasCorrection>(correction));
        const auto one = m_small.open(1)->plan(config), two = m_small.open(2)->plan(config),
                   poor = m_small.open(2, std::size_t{0})->plan(config);
        std::size_t moved = 0;
        for (std::size_t u = 0; u < one->units.units.size(); ++u) {
            const auto& quantizers = one->quantizers[u];
            if (!quantizers.weight) continue;
            for (const auto& other : {two, poor}) {
                QVERIFY(std::ranges::equal(quantizers.weight->codes, other->quantizers[u].weight->codes));
                if (quantizers.correctedBias)
                    QVERIFY(std::ranges::equal(quantizers.correctedBias->floats(),
                                               other->quantizers[u].correctedBias->floats()));
            }
            QuantizationConfig nearest = config;
            nearest.refine = {};
            const auto plain = m_small.open(1)->plan(nearest);
            for (std::size_t i = 0; i < quantizers.weight->codes.size(); ++i)
                moved += quantizers.weight->codes[i] != plain->quantizers[u].weight->codes[i];
        }
        QCOMPARE(one->version.hex(), two->version.hex());
        QVERIFY(moved > 50);  // rounding was learned
    }

    /// Cancelled between layers: finished layers are not learned again.
    void learnedRoundingCanBeCancelled() {
        const auto session = m_small.open(2);
        const QuantizationConfig config = learned();
        const auto refined = [&] { return session->workDone().refined; };
        const CancelToken cancel;
        EvaluationObserver observer;
        observer.progress = [&](const Progress& progress) {
            if (progress.stage == "refining layers" && refined() == 2) cancel.cancel();
        };
        QVERIFY_EXCEPTION_THROWN(session->evaluate(config, Depth::Accuracy, observer, cancel), Cancelled);
        QCOMPARE(refined(), std::size_t(2));
        const EvaluationPtr after = session->evaluate(config, Depth::Accuracy);
        QCOMPARE(refined(), std::size_t(4));
        const EvaluationPtr cold = m_small.open(1)->evaluate(config, Depth::Accuracy);
        QCOMPARE(*after->quantized->sqnrDb, *cold->quantized->sqnrDb);
        QuantizationConfig nearest = config;
        nearest.refine = {};
        QVERIFY(*cold->quantized->sqnrDb >
                *m_small.open(1)->evaluate(nearest, Depth::Accuracy)->quantized->sqnrDb);
    }

    /// An edit repeats learned rounding only for the layers after it, undo for none.
    void learnedRoundingIsReused() {
        const auto session = m_small.open(2);
        const auto refined = [&] { return session->workDone().refined; };
        QuantizationConfig config = learned();
        const double first = *session->evaluate(config, Depth::Accuracy)->quantized->sqnrDb;
        QCOMPARE(refined(), std::size_t(4));
        QuantizationConfig edited = config;
        edited.layers["Conv_4"].weightBits = 5;
        session->evaluate(edited, Depth::Accuracy);
        QCOMPARE(refined(), std::size_t(6));  // itself, and the Gemm that reads its output
        edited = config;
        edited.layers["Gemm_7"].quantize = false;
        session->evaluate(edited, Depth::Accuracy);
        QCOMPARE(refined(), std::size_t(6));
        QCOMPARE(*session->evaluate(config, Depth::Accuracy)->quantized->sqnrDb, first);
        QCOMPARE(refined(), std::size_t(6));
    }

    /// Layers without learned rounding are named in every evaluation, also when the others come from the
    /// cache.
    void layersThatAreLeftOutStayInTheNotices() {
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,1,4,4] x) => "
                            "(float[N,1,5,5] y) <float[1,1,2,2] w = {0.1, -0.2, 0.3, 0.4}> "
                            "{ y = ConvTranspose(x, w) }"));
        session.useRandomInputs();
        QuantizationConfig config = learned();
        const auto says = [&] {
            const std::vector<std::string> notices = session.evaluate(config, Depth::Accuracy)->notices;
            return std::ranges::any_of(notices, [](const std::string& text) {
                return text.starts_with("learned rounding leaves out 1 layer: 'ConvTranspose_0'");
            });
        };
        QVERIFY(says());
        config.layers["ConvTranspose_0"].activationBits = 7;
        QVERIFY(says());
        config.layers.clear();
        QVERIFY(says());
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
