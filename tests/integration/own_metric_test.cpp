// SPDX-License-Identifier: Apache-2.0
// A user's metric in a session: evaluations, leave-one-out and tuning.
#include <QTemporaryDir>
#include <QtTest>

#include "config/presets.h"
#include "data/numpy_file.h"
#include "search/tune.h"
#include "session/studies/compare_configs.h"
#include "session/studies/leave_one_out.h"
#include "support/demo.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

double top1(const MetricInput& input) {
    const auto& [name, logits] = *input.outputs.begin();
    const std::size_t classes = static_cast<std::size_t>(logits->dims()[1]);
    const std::span<const float> values = logits->floats();
    const std::vector<std::int64_t> labels = input.labels->toInt64s();
    std::size_t right = 0;
    for (std::size_t s = 0; s < labels.size(); ++s) {
        const auto row = values.subspan(s * classes, classes);
        right += std::ranges::max_element(row) - row.begin() == labels[s];
    }
    return static_cast<double>(right) / static_cast<double>(labels.size());
}

UserMetric metricOf(double (*function)(const MetricInput&), bool lowerIsBetter = false) {
    return {[function](const MetricInput& input, const CancelToken&) { return function(input); },
            lowerIsBetter};
}

double errorRate(const MetricInput& input) { return 1 - top1(input); }

}  // namespace

class OwnMetricTest : public QObject {
    Q_OBJECT

    std::unique_ptr<Session> m_session = test::openDemo({.samples = 40});
    const QuantizationConfig m_config = presetConfig("w4a8");

  private Q_SLOTS:
    void cleanup() { m_session->setMetric(std::nullopt); }

    /// Predictions are in points or dB.
    void effectsOnTheMetricAreNotPredicted() {
        for (const bool own : {true, false}) {
            m_session->setMetric(own ? std::optional(metricOf(errorRate, true)) : std::nullopt);
            bool predicts = false;
            EvaluationObserver observer;
            observer.progress = [&](const Progress& progress) {
                predicts = predicts || progress.stage == "improving predictions";
            };
            m_session->measureInBackground(m_config, 2, observer);
            QCOMPARE(predicts, !own);
            const EvaluationPtr result = m_session->evaluate(m_config);
            for (const LayerResult& layer : result->layers)
                if (layer.state == LayerState::Quantized) QVERIFY(layer.leaveOneOut);
        }
    }

    void evaluationsComputeTheMetric() {
        QVERIFY(!m_session->evaluate(m_config)->quantized->userMetric);
        m_session->setMetric(metricOf(top1));
        for (const Depth depth : {Depth::Rough, Depth::Accuracy, Depth::Metrics}) {
            const EvaluationPtr result = m_session->evaluate(m_config, depth);
            QCOMPARE(*result->floating->userMetric, *result->floating->top1);
            QCOMPARE(*result->quantized->userMetric, *result->quantized->top1);
        }
        m_session->setMetric(std::nullopt);
        QVERIFY(!m_session->evaluate(m_config)->quantized->userMetric);
    }

    /// The outputs are those of Session::outputs(), and the samples are in the order of the data.
    void metricGetsTheOutputsInTheOrderOfTheData() {
        std::vector<MetricInput> seen;
        m_session->setMetric(UserMetric{[&](const MetricInput& input, const CancelToken&) {
                                            seen.push_back(input);
                                            return 0.0;
                                        },
                                        false});
        m_session->evaluate(m_config, Depth::Accuracy);
        QCOMPARE(seen.size(), std::size_t{2});
        const std::vector<ConstantPtr> expected[] = {m_session->outputs(std::nullopt),
                                                     m_session->outputs(m_config)};
        for (std::size_t network = 0; network < 2; ++network) {
            const ConstantPtr& found = seen[network].outputs.at("logits");
            QCOMPARE(found->dims(), expected[network].front()->dims());
            QVERIFY(std::ranges::equal(found->bytes(), expected[network].front()->bytes()));
            QCOMPARE(seen[network].samples.size(), std::size_t{40});
            for (std::size_t s = 0; s < 40; ++s) QCOMPARE(seen[network].samples[s], s);
        }
    }

    void metricGetsTargets() {
        QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath(QStringLiteral("data.npz")).toStdString();
        const std::vector<float> targets{0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f};
        saveNpz({{"x", Constant::fromFloats({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7})},
                 {"labels", Constant::fromFloats({4, 2}, targets)}},
                file);
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 17]> g (float[N,2] x) => "
                            "(float[N,2] y) <float[2,2] w = {1, 0, 0, 1}> { y = MatMul(x, w) }"));
        const DatasetPtr data = openDataset(file, inputSpecsOf(session.graph()), {});
        session.setData(subset(data, {0, 1, 2}), data);
        std::vector<ConstantPtr> seen;
        session.setMetric(UserMetric{[&](const MetricInput& input, const CancelToken&) {
                                         seen.push_back(input.labels);
                                         return 0.0;
                                     },
                                     false});
        session.evaluate(m_config, Depth::Accuracy);
        QCOMPARE(seen.size(), std::size_t{2});
        QCOMPARE(seen[0]->dims(), (Dims{3, 2}));
        QVERIFY(std::ranges::equal(seen[0]->floats(), std::span(targets).first(6)));
    }

    /// The metric runs once per network and number of samples, until it is set again.
    void metricIsCached() {
        int calls = 0;
        const UserMetric metric{[&](const MetricInput& input, const CancelToken&) {
                                    ++calls;
                                    return top1(input);
                                },
                                false};
        m_session->setMetric(metric);
        m_session->evaluate(m_config, Depth::Accuracy);
        m_session->evaluate(m_config, Depth::Metrics);
        QCOMPARE(calls, 2);
        m_session->setMetric(metric);
        m_session->evaluate(m_config, Depth::Metrics);
        QCOMPARE(calls, 4);
    }

    void leaveOneOutMeasuresItsGain() {
        const LayerSweep plain = leaveOneOut(*m_session, m_config, {0, {}});
        m_session->setMetric(metricOf(top1));
        const LayerSweep higher = leaveOneOut(*m_session, m_config, {0, {}});
        m_session->setMetric(metricOf(errorRate, true));
        const LayerSweep lower = leaveOneOut(*m_session, m_config, {0, {}});
        QCOMPARE(lower.metric, TaskMetric::User);
        bool any = false;
        for (std::size_t l = 0; l < plain.layers.size(); ++l) {
            QCOMPARE(higher.layers[l].change, plain.layers[l].change);
            QVERIFY(std::abs(lower.layers[l].change - plain.layers[l].change) < 1e-12);
            QVERIFY(!lower.layers[l].paired);
            any = any || plain.layers[l].change != 0;
        }
        QVERIFY(any);
    }

    void tuningReachesItsTarget() {
        TuneOptions options;
        options.maxDrop = 0.1;
        options.maxSteps = 3;
        m_session->setMetric(metricOf(errorRate, true));
        const TuneResult result = tune(*m_session, m_config, options);
        const double floating = *result.floating.userMetric;
        for (const TunePoint& point : result.curve) {
            QVERIFY(std::abs(point.drop - (point.metric - floating)) < 1e-12);
            QVERIFY(!point.dropInterval);
        }
        QCOMPARE(result.reached, result.curve[result.chosen].drop <= 0.1 + 1e-9);
        QVERIFY(describe(result).find(": metric ") != std::string::npos);
        QVERIFY(describe(result).find("than float") != std::string::npos);
    }

    void comparisonsStateIt() {
        QuantizationConfig other = m_config;
        other.quantization.weight.bits = 2;
        QVERIFY(compareConfigs(*m_session, m_config, other).text.find("metric") == std::string::npos);
        m_session->setMetric(metricOf(errorRate, true));
        const std::string text = compareConfigs(*m_session, m_config, other).text;
        QVERIFY2(text.starts_with("metric ") && text.find("(worse by ") != std::string::npos, text.c_str());
        QVERIFY(compareConfigs(*m_session, other, m_config).text.find("(better by ") != std::string::npos);
        QVERIFY(compareConfigs(*m_session, other, other).text.find("(the same); ") != std::string::npos);
    }

    void nonFiniteMetricIsAnError() {
        m_session->setMetric(metricOf([](const MetricInput&) { return std::nan(""); }));
        const QString error = test::errorOf([&] { m_session->evaluate(m_config); });
        QVERIFY2(error.contains("must return a finite number"), qPrintable(error));
    }
};

QTEST_GUILESS_MAIN(OwnMetricTest)
#include "own_metric_test.moc"
