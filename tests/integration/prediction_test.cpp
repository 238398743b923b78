// SPDX-License-Identifier: Apache-2.0
// The predicted effect of an edit on the bundled demo: shown only once it has proved accurate.
#include <QtTest>
#include <random>
#include <set>

#include "analysis/rank_correlation.h"
#include "config/layer_choices.h"
#include "config/presets.h"
#include "session/studies/forecast.h"
#include "session/studies/leave_one_out.h"
#include "support/demo.h"
#include "support/random_seed.h"

using namespace quantloupe;

class PredictionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void aHundredRandomEdits() {
        const auto session = test::openDemo();
        QuantizationConfig base = presetConfig("w4a8");
        EvaluationPtr before = session->evaluate(base, Depth::Accuracy);
        session->measureInBackground(base);
        std::vector<std::string> names;
        for (const LayerResult& layer : before->layers)
            if (layer.state == LayerState::Quantized) names.push_back(layer.name);
        const EvaluationPtr studied = session->evaluate(base, Depth::Accuracy);
        for (const LayerResult& layer : studied->layers)
            QCOMPARE(layer.leaveOneOut.has_value(), layer.state == LayerState::Quantized);

        std::mt19937 random(test::randomSeed(20261121u));
        std::set<std::string> skipped;
        std::vector<double> foretold, measured;
        std::size_t covered = 0, ofSqnr = 0;
        for (int edit = 0; edit < 100; ++edit) {
            std::set<std::string> next = skipped;
            for (std::size_t i = 0, count = 1 + random() % 3; i < count; ++i) {
                const std::string& name = names[random() % names.size()];
                if (!next.insert(name).second) next.erase(name);
            }
            if (next.size() > 15) next.clear();
            const QuantizationConfig wanted = withLayersSkipped(base, {next.begin(), next.end()});
            const std::optional<ExpectedEffect> early = forecast(*session, wanted);
            const EvaluationPtr after = session->evaluate(wanted, Depth::Accuracy);
            // the preview and the edit show the same prediction
            QCOMPARE(early.has_value(), after->expected.has_value());
            if (early) QCOMPARE(early->median, after->expected->median);
            if (after->expected) {
                const double change = after->expected->ofSqnr
                                          ? *after->quantized->sqnrDb - *before->quantized->sqnrDb
                                          : taskMetric(*after->quantized) - taskMetric(*before->quantized);
                ofSqnr += after->expected->ofSqnr ? 1 : 0;
                foretold.push_back(after->expected->median);
                measured.push_back(change);
                if (change >= after->expected->low && change <= after->expected->high) ++covered;
            }
            before = after;
            skipped = next;
        }
        QVERIFY2(foretold.size() >= 50,
                 qPrintable(QString("only %1 predictions were shown").arg(foretold.size())));
        const double rank = spearman(foretold, measured).value_or(0);
        const double coverage = static_cast<double>(covered) / static_cast<double>(foretold.size());
        qInfo("%zu shown (%zu of the SQNR), Spearman %.3f, the interval covered %.0f %%", foretold.size(),
              ofSqnr, rank, 100 * coverage);
        QVERIFY(rank >= 0.8);
        QVERIFY(coverage >= 0.70);
    }

    /// The fitted model applies to every configuration that differs only in which layers are quantized.
    void locksCommentsAndExportOptionsForgetNothing() {
        const auto session = test::openDemo({2, 32, 0});
        const auto contextOf = [&](const QuantizationConfig& config) {
            session->evaluate(config, Depth::Accuracy);
            return forecastBasis(*session).context;
        };
        QuantizationConfig config = presetConfig("w4a8");
        const Version learned = contextOf(config);
        const std::string layer = "/features/features.3/conv/conv.0/conv.0.0/Conv";
        config.layers[layer].quantize = true;
        QCOMPARE(contextOf(config).hex(), learned.hex());
        config.layers[layer].comment = "the NPU has no float path";
        QCOMPARE(contextOf(config).hex(), learned.hex());
        config.layers[layer] = {};
        config.exports.floatWeights = true;
        config.preset = "default";
        QCOMPARE(contextOf(config).hex(), learned.hex());
        config.layers[layer].weightBits = 8;
        QVERIFY(contextOf(config).hex() != learned.hex());
    }
};

QTEST_GUILESS_MAIN(PredictionTest)
#include "prediction_test.moc"
