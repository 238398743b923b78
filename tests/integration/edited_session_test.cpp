// SPDX-License-Identifier: Apache-2.0
// After edits, a session has the same results as a new one: no cached result ignores a setting that it
// depends on.
#include <QtTest>
#include <random>

#include "data/random_dataset.h"
#include "session/session.h"
#include "session/studies/range_overview.h"
#include "support/text_model.h"

using namespace quantloupe;

class EditedSessionTest : public QObject {
    Q_OBJECT

    static std::unique_ptr<Session> open(const QString& network) {
        auto session = std::make_unique<Session>(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net " + network.toStdString()));
        session->setData(randomDataset(session->graph(), 64, 3), randomDataset(session->graph(), 32, 4));
        return session;
    }

    /// Evaluates the configurations one after the other, and the last one in a new session.
    static void compare(const QString& network, const std::vector<QuantizationConfig>& configs) {
        const auto edited = open(network);
        EvaluationPtr last;
        for (const QuantizationConfig& config : configs) last = edited->evaluate(config);
        const EvaluationPtr fresh = open(network)->evaluate(configs.back());
        QCOMPARE(last->counts.quantized, fresh->counts.quantized);
        QCOMPARE(last->quantized->sqnrDb.value(), fresh->quantized->sqnrDb.value());
        QVERIFY(fresh->quantized->sqnrDb.value() > 10);
        for (std::size_t i = 0; i < fresh->layers.size(); ++i)
            QCOMPARE(last->layers[i].state, fresh->layers[i].state);
    }

    static QuantizationConfig allLayers() {
        QuantizationConfig config;
        config.skipTail = false;
        return config;
    }

    /// Two Gemm with random weights.
    static QString randomLayers() {
        std::mt19937 random(5);
        const auto values = [&](int count) {
            QStringList texts;
            std::normal_distribution<double> normal(0, 0.5);
            for (int i = 0; i < count; ++i) texts << QString::number(normal(random), 'f', 6);
            return texts.join(QStringLiteral(", "));
        };
        return "(float[N,8] x) => (float[N,4] y) <float[8,8] w = {" + values(64) + "}, float[8] b = {" +
               values(8) + "}, float[8,4] v = {" + values(32) + "}, float[4] c = {" + values(4) +
               "}> { a = Gemm(x, w, b)\n r = Relu(a)\n y = Gemm(r, v, c) }";
    }

  private Q_SLOTS:
    /// Weights of -1, 0 and 1 have the same values with 8 and with 4 bits, but other codes.
    void learnedRoundingDependsOnTheScales() {
        QuantizationConfig eight = allLayers(), four;
        eight.refine.rounding = Rounding::Adaround;
        four = eight;
        four.quantization.weight.bits = 4;
        compare(
            "(float[N,4] x) => (float[N,2] y) <float[4,4] w = {1, -1, 0, 1, 0, 1, 1, -1, 1, 1, -1, 0, 0, 1, "
            "-1, 1}, "
            "float[4] b = {0.5, 0, 0.25, 0}, float[4,2] v = {1, -1, 0, 1, 1, 1, -1, 0}, float[2] c = {0.125, "
            "0}> "
            "{ a = Gemm(x, w, b)\n r = Relu(a)\n y = Gemm(r, v, c) }",
            {eight, four});
    }

    /// Of another configuration with the same weights, rounding was learned for other inputs.
    void thresholdRulesDoNotUseOlderRounding() {
        QuantizationConfig coarse = allLayers(), fine;
        coarse.quantization.weight.bits = 3;
        coarse.quantization.activation.bits = 2;
        coarse.refine.rounding = Rounding::Adaround;
        SkipRule rule;
        rule.kind = SkipKind::Threshold;
        rule.metric = SkipMetric::LocalSqnr;
        rule.below = true;
        rule.threshold = 14;
        coarse.rules = {rule};
        fine = coarse;
        fine.quantization.activation.bits = 8;
        const QString network = randomLayers();
        const auto edited = open(network);
        edited->evaluate(coarse);
        const auto skipped = [](const Evaluation& evaluation) {
            std::vector<double> values;
            for (const LayerResult& layer : evaluation.layers)
                values.push_back(layer.state == LayerState::Skipped ? 1 : 0);
            values.push_back(*evaluation.quantized->sqnrDb);
            return values;
        };
        for (int threshold = 6; threshold < 24; threshold += 2) {
            fine.rules[0].threshold = threshold;
            const auto fresh = open(network);
            QCOMPARE(skipped(*edited->evaluate(fine)), skipped(*fresh->evaluate(fine)));
        }
    }

    /// The layer that is closest to the threshold tells how far off it is.
    void aThresholdBeyondAllLayersIsReported() {
        QuantizationConfig config = allLayers();
        SkipRule rule;
        rule.kind = SkipKind::Threshold;
        rule.metric = SkipMetric::LocalSqnr;
        const auto session = open(randomLayers());
        const EvaluationPtr plain = session->evaluate(config);
        const auto sqnrOf = [&](std::size_t layer) { return plain->layers[layer].local->sqnrDb; };
        const std::size_t first = 0, second = plain->layers.size() - 1;
        for (const bool below : {true, false}) {
            rule.below = below;
            rule.threshold = below ? 1 : 1000;
            config.rules = {rule};
            const LayerResult& closest =
                plain->layers[(sqnrOf(first) < sqnrOf(second)) == below ? first : second];
            const std::string expected = fmt::format(
                "skip rule 1 (local SQNR (dB) {} {:g}) matches no layers: the {} value is {:.4g} ({})",
                below ? "below" : "above", rule.threshold, below ? "smallest" : "largest",
                closest.local->sqnrDb, closest.name);
            const std::vector<std::string> notices = session->evaluate(config)->notices;
            QVERIFY2(std::ranges::count(notices, expected) == 1,
                     fmt::format("{}", fmt::join(notices, "\n")).c_str());
        }
    }

    /// For example because of an edit: the float network does not depend on it.
    void aCancelledPassContinues() {
        SessionOptions options;
        options.threads = 1;
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net " + randomLayers().toStdString()),
            options);
        session.setData(randomDataset(session.graph(), 2000, 3), randomDataset(session.graph(), 32, 4));
        CancelToken cancel;
        EvaluationObserver observer;
        std::size_t total = 0;
        observer.progress = [&](const Progress& progress) {
            if (progress.stage != "float network" || progress.total < 1000) return;
            total = progress.total;
            if (progress.done > total / 2) cancel.cancel();
        };
        try {
            session.evaluate(allLayers(), Depth::Accuracy, observer, cancel);
            QFAIL("it was not cancelled");
        } catch (const Cancelled&) {
        }
        std::size_t rest = 0;
        observer.progress = [&](const Progress& progress) {
            if (progress.stage == "float network") rest = progress.total;
        };
        const EvaluationPtr continued = session.evaluate(allLayers(), Depth::Accuracy, observer);
        QVERIFY(rest > 0 && rest < total * 3 / 5);
        Session fresh(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net " + randomLayers().toStdString()),
            options);
        fresh.setData(randomDataset(fresh.graph(), 2000, 3), randomDataset(fresh.graph(), 32, 4));
        QCOMPARE(*continued->quantized->sqnrDb,
                 *fresh.evaluate(allLayers(), Depth::Accuracy)->quantized->sqnrDb);
    }

    void otherCalibrationDataIsAnotherEvaluation() {
        const auto session = open(randomLayers());
        const EvaluationPtr before = session->evaluate(allLayers());
        session->setData(randomDataset(session->graph(), 64, 3), randomDataset(session->graph(), 32, 5));
        const EvaluationPtr after = session->evaluate(allLayers());
        QVERIFY(*before->quantized->sqnrDb != *after->quantized->sqnrDb);
        QVERIFY(before->version.hex() != after->version.hex());
    }

    /// The ranges of a network with quantized weights depend on their bits, wherever these are set.
    void rangesOfPrecisionRules() {
        QuantizationConfig network = allLayers(), rules;
        network.calibration.quantizedWeights = true;
        rules = network;
        network.quantization.weight.bits = 2;
        PrecisionRule two;
        two.covers.kind = SkipKind::Type;
        two.covers.op = "Gemm";
        two.precision = Precision::integer(2, 8);
        rules.precisionRules = {two};
        const auto a = rangeOverview(*open(randomLayers()), network),
                   b = rangeOverview(*open(randomLayers()), rules);
        QCOMPARE(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            QCOMPARE(a[i].outputMin, b[i].outputMin);
            QCOMPARE(a[i].outputMax, b[i].outputMax);
        }
    }

    /// With a precision, the network also has conversions.
    void operatorsChangeANetworkWithPrecisions() {
        QuantizationConfig aimet = allLayers(), quark;
        aimet.layers["Gemm_3"].precision = Precision::integer(8, 16);
        aimet.quantization.operators = OperatorSet::Aimet;
        quark = aimet;
        quark.quantization.operators = OperatorSet::Quark;
        const QString network =
            "(float[N,4] x) => (float[N,4] t, float[N,2] y) <float[4,4] w = {1, -1, 0.5, 1, 0, 1, 1, -1, 1, "
            "1, "
            "-1, 0.25, 0, 1, -1, 1}, float[4,2] v = {1, -1, 0.5, 1, 1, 1, -1, 0.25}> "
            "{ a = Gemm(x, w)\n t = Tanh(a)\n b = Gemm(x, w)\n y = Gemm(b, v) }";
        compare(network, {aimet, quark});
        compare(network, {quark, aimet});
    }

    void symmetryChangesANetworkWithPrecisions() {
        QuantizationConfig affine = allLayers(), symmetric;
        affine.layers["Gemm_2"].precision = Precision::integer(8, 16);
        affine.quantization.operators = OperatorSet::OnnxRuntime;
        symmetric = affine;
        symmetric.quantization.activation.symmetric = symmetric.quantization.activation.isSigned = true;
        compare(
            "(float[N,4] x) => (float[N,2] y) <float[4,4] w = {1, -1, 0.5, 1, 0, 1, 1, -1, 1, 1, -1, 0.25, "
            "0, 1, -1, 1}, float[4,2] v = {1, -1, 0.5, 1, 1, 1, -1, 0.25}> "
            "{ a = Gemm(x, w)\n r = Relu(a)\n y = Gemm(r, v) }",
            {affine, symmetric});
    }
};

QTEST_GUILESS_MAIN(EditedSessionTest)
#include "edited_session_test.moc"
