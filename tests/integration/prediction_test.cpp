// SPDX-License-Identifier: Apache-2.0
// The predicted effect of an edit on the bundled demo: shown only once it has proved accurate.
#include <QtTest>

#include "config/presets.h"
#include "support/demo.h"
#include "support/prediction_trial.h"
#include "support/random_seed.h"

using namespace quantloupe;

class PredictionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void aHundredRandomEdits() {
        const auto session = test::openDemo();
        const QuantizationConfig base = presetConfig("w4a8");
        const test::PredictionTrial trial =
            test::predictRandomEdits(*session, base, 100, test::randomSeed(20261121u));
        const EvaluationPtr studied = session->evaluate(base, Depth::Accuracy);
        for (const LayerResult& layer : studied->layers)
            QCOMPARE(layer.leaveOneOut.has_value(), layer.state == LayerState::Quantized);
        qInfo("%zu shown (%zu of the SQNR), Spearman %.3f, the interval covered %.0f %%",
              trial.predicted.size(), trial.ofSqnr, trial.rank(), 100 * trial.coverage());
        QVERIFY2(trial.predicted.size() >= 50,
                 qPrintable(QString("only %1 predictions were shown").arg(trial.predicted.size())));
        QVERIFY(trial.rank() >= 0.8);
        QVERIFY(trial.coverage() >= 0.70);
    }

    /// The fitted model applies to every configuration that differs only in which layers are quantized.
    void locksCommentsAndExportOptionsKeepTheModel() {
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
