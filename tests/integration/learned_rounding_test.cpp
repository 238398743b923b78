// SPDX-License-Identifier: Apache-2.0
// Learned rounding in a session: determinism, cancelling, reuse after an edit, and notices.
#include <QtTest>
#include <random>

#include "config/layer_choices.h"
#include "data/numpy_file.h"
#include "quantize/plan.h"
#include "support/demo.h"
#include "support/small_graph.h"

using namespace quantloupe;
namespace fs = std::filesystem;

namespace {

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

class LearnedRoundingTest : public QObject {
    Q_OBJECT

    SmallNetwork m_small;

  private Q_SLOTS:
    void resultsDoNotDependOnThreads_data() {
        QTest::addColumn<int>("correction");
        QTest::newRow("rounding") << int(BiasCorrection::Off);
        QTest::newRow("and empirical bias correction") << int(BiasCorrection::Empirical);
    }
    void resultsDoNotDependOnThreads() {
        QFETCH(int, correction);
        const QuantizationConfig config = learned(static_cast<BiasCorrection>(correction));
        const auto one = m_small.open(1)->plan(config), two = m_small.open(2)->plan(config),
                   poor = m_small.open(2, std::size_t{0})->plan(config);
        std::size_t moved = 0;
        for (std::size_t u = 0; u < one->units.units.size(); ++u) {
            const auto& quantizers = one->quantizers[u];
            if (!quantizers.weight) continue;
            for (const auto& other : {two, poor}) {
                QVERIFY(quantizers.weight->codes.values() == other->quantizers[u].weight->codes.values());
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

    /// The evaluation data has another size: a constant of the network depends on it.
    void evaluationDataDoesNotMatter() {
        const std::string text = R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[N,2,H,W] X) => (float[N,3,1,1] Y)
            <float[4,2,1,1] w = {0.3, -0.7, 0.45, 0.21, -0.33, 0.9, 0.61, -0.12}, float[3,4,1,1] v = {0.31, -0.72, 0.43, 0.22, -0.35, 0.94, 0.61, -0.13, 0.55, 0.27, -0.81, 0.4}, int64[1] two = {2}> {
                a = Conv(X, w)
                shape = Shape(a)
                height = Gather<axis = 0>(shape, two)
                h = Cast<to = 1>(height)
                b = Div(a, h)
                r = Relu(b)
                c = Conv(r, v)
                Y = GlobalAveragePool(c)
            })";
        QTemporaryDir folder;
        const auto dataOf = [&](const Session& session, std::int64_t side) {
            std::mt19937 random(static_cast<unsigned>(side));
            std::vector<float> values(static_cast<std::size_t>(32 * 2 * side * side));
            for (float& value : values) value = std::normal_distribution<float>(0.2f)(random);
            const fs::path file = folder.path().toStdString() + fmt::format("/{}.npz", side);
            saveNpz({{"X", Constant::fromFloats({32, 2, side, side}, std::move(values))}}, file);
            return openDataset(file, inputSpecsOf(session.graph()), {});
        };
        const auto planFor = [&](std::int64_t evaluated) {
            Session session(test::textModel(text));
            session.setData(dataOf(session, evaluated), dataOf(session, 12));
            return session.plan(learned(BiasCorrection::Empirical));
        };
        const auto same = planFor(12), other = planFor(4);
        for (std::size_t u = 0; u < same->quantizers.size(); ++u) {
            const UnitQuantizers &a = same->quantizers[u], &b = other->quantizers[u];
            if (a.weight) QVERIFY(a.weight->codes.values() == b.weight->codes.values());
            if (a.correctedBias)
                QVERIFY(std::ranges::equal(a.correctedBias->floats(), b.correctedBias->floats()));
        }
    }

    /// Cancelled between layers: finished layers are not learned again.
    void learningCanBeCancelled() {
        const auto session = m_small.open(2);
        const QuantizationConfig config = learned();
        const auto refined = [&] { return session->workDone().refined; };
        const CancelToken cancel;
        EvaluationObserver observer;
        observer.progress = [&](const Progress& progress) {
            if (progress.stage == kRefining && refined() == 2) cancel.cancel();
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
    void resultsAreReused() {
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

    /// Without means from batch norms, the analytic correction changes nothing, so the codes must not rely on
    /// it.
    void analyticCorrectionWithoutBatchNormsChangesNothing() {
        const auto session = m_small.open(2);
        const auto sqnr = [&](BiasCorrection correction) {
            return *session->evaluate(learned(correction), Depth::Accuracy)->quantized->sqnrDb;
        };
        QCOMPARE(sqnr(BiasCorrection::Analytic), sqnr(BiasCorrection::Off));
        QVERIFY(sqnr(BiasCorrection::Empirical) != sqnr(BiasCorrection::Off));
    }

    /// Experiments begin with what the evaluated network has learned, not with what an earlier one had.
    void experimentsForgetEarlierNetworks() {
        const auto leftOut = [&](bool edited) {
            const auto session = m_small.open(2);
            QuantizationConfig config = learned(BiasCorrection::Empirical);
            config.transforms.equalization.profile = EqualizationProfile::Quantloupe;
            config.transforms.equalization.excludeSkipped = true;
            if (edited) {
                QuantizationConfig coarse = config;
                coarse.quantization.activation.bits = 2;
                session->evaluate(coarse, Depth::Accuracy);
                for (const char* layer : {"Conv_0", "Conv_2", "Conv_4", "Gemm_7"})
                    session->experiment(withLayersSkipped(coarse, {layer}), Depth::Accuracy);
            }
            session->evaluate(config, Depth::Accuracy);
            std::vector<double> found;
            for (const char* layer : {"Conv_0", "Conv_2", "Conv_4", "Gemm_7"})
                found.push_back(*session->experiment(withLayersSkipped(config, {layer}), Depth::Accuracy)
                                     ->quantized->sqnrDb);
            return found;
        };
        QCOMPARE(leftOut(true), leftOut(false));
    }

    /// The moments of its inputs would take more than 1 GiB.
    void wideLayersKeepTheNearestCodes() {
        QStringList values;
        for (int i = 0; i < 9000; ++i) values << QString::number(0.01 * (i % 97) - 0.5);
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,9000] x) => "
                            "(float[N,1] y) <float[9000,1] w = {" +
                            values.join(", ").toStdString() + "}> { y = MatMul(x, w) }"));
        session.useRandomInputs();
        const EvaluationPtr found = session.evaluate(learned(), Depth::Accuracy);
        QVERIFY(std::ranges::count(found->notices,
                                   std::string("learned rounding leaves out 1 layer: 'MatMul_0' has "
                                               "too many inputs")) == 1);
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
};

QTEST_GUILESS_MAIN(LearnedRoundingTest)
#include "learned_rounding_test.moc"
