// SPDX-License-Identifier: Apache-2.0
// Tuning compared with the best of all subsets on small random networks, and its behavior with locked layers,
// limits and unreachable targets.
#include "search/tune.h"

#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

#include "config/layer_choices.h"
#include "search/resumable_sweep.h"
#include "search/tune_numbers.h"
#include "session/studies/forecast.h"
#include "session/studies/leave_one_out.h"
#include "session/studies/skip_groups.h"
#include "support/errors.h"
#include "support/tune_network.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

struct Subset {
    std::vector<std::string> layers;
    FloatShare cost;
    double drop = 0;
};

std::vector<Subset> allSubsets(Session& session, const QuantizationConfig& config) {
    const std::vector<SkipGroup> groups = skipGroups(session, config);
    const EvaluationPtr base = session.evaluate(config, Depth::States);
    std::vector<Subset> subsets;
    for (unsigned mask = 0; mask < 1U << groups.size(); ++mask) {
        Subset subset;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if ((mask >> g & 1) == 0) continue;
            subset.layers.insert(subset.layers.end(), groups[g].layers.begin(), groups[g].layers.end());
            for (const NodeId node : groups[g].nodes)
                subset.cost += {1, base->layers[node.index()].macs, base->layers[node.index()].parameters};
        }
        const EvaluationPtr measured =
            session.experiment(withLayersSkipped(config, subset.layers), Depth::Accuracy);
        subset.drop = dropOf(*measured->floating, *measured->quantized);
        subsets.push_back(std::move(subset));
    }
    return subsets;
}

std::uint64_t amountOf(const FloatShare& share, TuneCost cost) {
    return cost == TuneCost::Macs ? share.macs : cost == TuneCost::Layers ? share.layers : share.parameters;
}

std::string curveText(const TuneResult& result) {
    std::string text;
    for (const TunePoint& point : result.curve)
        text +=
            fmt::format("{} | {:.6f} | {}\n", fmt::join(point.layers, " "), point.drop, point.transitions);
    return text;
}

}  // namespace

class TuneTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void asCheapAsTheBestOfAllSubsets_data() {
        QTest::addColumn<TaskMetric>("metric");
        for (const TaskMetric metric : {TaskMetric::Top1, TaskMetric::Agreement, TaskMetric::Sqnr})
            QTest::newRow(traitsOf(metric).name) << metric;
    }
    /// Six networks per metric, with three targets and three costs each: four of five results are optimal,
    /// and none costs over 25 % more.
    void asCheapAsTheBestOfAllSubsets() {
        QFETCH(TaskMetric, metric);
        const bool classes = metric != TaskMetric::Sqnr;
        int searches = 0, best = 0;
        double worst = 1;
        for (unsigned seed = 1; seed <= 6; ++seed) {
            const auto session = sessionOf(network(seed, classes), metric == TaskMetric::Top1);
            const std::vector<Subset> subsets = allSubsets(*session, coarse());
            for (const TuneCost cost : {TuneCost::Macs, TuneCost::Parameters, TuneCost::Layers})
                for (const double share : {0.6, 0.3, 0.12}) {
                    TuneOptions options;
                    options.maxDrop = share * subsets.front().drop;
                    options.cost = cost;
                    std::optional<std::uint64_t> least;
                    for (const Subset& subset : subsets)
                        if (withinDrop(subset.drop, options.maxDrop) &&
                            (!least || amountOf(subset.cost, cost) < *least))
                            least = amountOf(subset.cost, cost);
                    const TuneResult found = tune(*session, coarse(), options);
                    QCOMPARE(found.metric, metric);
                    QCOMPARE(found.reached, least.has_value());
                    for (std::size_t i = 1; i < found.curve.size(); ++i) {
                        QVERIFY(found.curve[i].amount > found.curve[i - 1].amount);
                        QVERIFY(found.curve[i].drop < found.curve[i - 1].drop);
                    }
                    if (!least || *least == 0) continue;
                    const double ratio =
                        double(amountOf(found.curve[found.chosen].cost, cost)) / double(*least);
                    ++searches;
                    best += ratio <= 1;
                    worst = std::max(worst, ratio);
                }
        }
        qInfo("%d searches, %d found the best of all subsets, the worst costs %.2f times as much", searches,
              best, worst);
        QVERIFY(searches >= 30);
        QVERIFY2(worst <= 1.25, qPrintable(QString::number(worst)));
        QVERIFY2(best >= 0.8 * searches, qPrintable(QString::number(best)));
    }

    void theCurveMatchesTheSession() {
        const auto session = sessionOf(network(2, true), true);
        TuneOptions options;
        options.maxDrop = 0.02;
        const TuneResult found = tune(*session, coarse(), options);
        QVERIFY(found.reached && found.curve.size() >= 3);
        session->clearCache();
        const TunePoint* before = nullptr;
        for (const TunePoint& point : found.curve) {
            const EvaluationPtr measured = session->evaluate(point.config, Depth::Accuracy);
            QCOMPARE(measured->quantized->top1, point.accuracy.top1);
            QCOMPARE(measured->quantized->sqnrDb, point.accuracy.sqnrDb);
            QVERIFY(point.config == withLayersSkipped(coarse(), point.layers));
            QCOMPARE(point.cost.layers, point.layers.size());
            QVERIFY(point.dropInterval && point.dropInterval->low <= point.drop &&
                    point.drop <= point.dropInterval->high);
            std::size_t skipped = 0;
            for (const LayerResult& layer : measured->layers) skipped += layer.state == LayerState::Skipped;
            QCOMPARE(skipped, point.layers.size());
            if (before != nullptr) QVERIFY(before->drop > point.drop && before->cost.macs <= point.cost.macs);
            before = &point;
        }
        QVERIFY(found.curve.front().layers.empty());
        QVERIFY(found.chosen == 0 || found.curve[found.chosen - 1].drop > options.maxDrop);
    }

    void lockedLayersStayQuantized() {
        const auto session = sessionOf(network(1, true));
        TuneOptions options;
        options.maxDrop = 0.02;
        const TuneResult free = tune(*session, coarse(), options);
        QVERIFY(free.reached && !free.curve[free.chosen].layers.empty());
        const std::string locked = free.curve[free.chosen].layers.front();
        QuantizationConfig config = coarse();
        config.layers[locked].quantize = true;
        const TuneResult found = tune(*session, config, options);
        for (const TunePoint& point : found.curve) {
            QVERIFY(std::ranges::count(point.layers, locked) == 0);
            QVERIFY(point.config.layers.at(locked).quantize == true);
        }
        QVERIFY(found.locked == std::vector<std::string>{locked});
    }

    void unreachableTargetGivesTheClosestResult() {
        const auto session = sessionOf(network(1, false));
        QuantizationConfig config = coarse();
        config.layers["Conv_0"].quantize = true;
        TuneOptions options;
        options.maxDrop = 0.001;
        const TuneResult found = tune(*session, config, options);
        QVERIFY(!found.reached);
        QCOMPARE(found.ended, TuneEnd::Finished);
        QCOMPARE(found.chosen, found.curve.size() - 1);
        double least = 1e9;
        for (const Subset& subset : allSubsets(*session, config))
            if (std::ranges::count(subset.layers, "Conv_0") == 0) least = std::min(least, subset.drop);
        QCOMPARE(found.curve.back().drop, least);
        const std::string text = describe(found);
        QVERIFY2(text.starts_with("not reached") &&
                     text.find("not reached by any choice") != std::string::npos &&
                     text.find("the configuration fixes the precision of Conv_0") != std::string::npos,
                 text.c_str());
    }

    void networkWithinTheTargetIsUnchanged() {
        const auto session = sessionOf(network(1, true));
        TuneOptions options;
        options.maxDrop = 1;
        const TuneResult found = tune(*session, coarse(), options);
        QVERIFY(found.reached);
        QCOMPARE(found.evaluations, std::size_t(1));
        QVERIFY(found.curve.front().config == coarse());
        QVERIFY(found.certain);
    }

    void limitsEndTheSearch() {
        const auto session = sessionOf(network(1, false));
        TuneOptions options;
        options.maxDrop = 0.02;
        const TuneResult whole = tune(*session, coarse(), options);
        QVERIFY(whole.steps > 1);
        options.maxSteps = 1;
        const TuneResult one = tune(*session, coarse(), options);
        QCOMPARE(one.ended, TuneEnd::Steps);
        QCOMPARE(one.steps, std::size_t(1));
        QVERIFY(describe(one).find("the step limit") != std::string::npos || one.reached);
        options.maxSeconds = 1e-9;
        const TuneResult none = tune(*session, coarse(), options);
        QCOMPARE(none.ended, TuneEnd::Seconds);
        QVERIFY(!none.reached);
        QCOMPARE(none.curve.size(), std::size_t(1));
    }

    void returnsItsBestResultWhenCancelled() {
        const auto session = sessionOf(network(2, true));
        const CancelToken cancel;
        TuneOptions options;
        options.maxDrop = 0;
        std::size_t steps = 0;
        options.progress = [&](const TuneProgress& progress) {
            steps = progress.step;
            if (progress.step == 2) cancel.cancel();
        };
        TuneResult last;
        options.improved = [&](const TuneResult& found) { last = found; };
        const TuneResult found = tune(*session, coarse(), options, cancel);
        QCOMPARE(found.ended, TuneEnd::Cancelled);
        QCOMPARE(steps, std::size_t(2));
        QVERIFY(found.curve.size() > 1);
        QCOMPARE(QString::fromStdString(curveText(found)), QString::fromStdString(curveText(last)));
        QVERIFY_EXCEPTION_THROWN(tune(*session, coarse(), options, cancel), Cancelled);
    }

    void resultIsReproducible() {
        TuneOptions options;
        options.maxDrop = 0.03;
        QStringList curves;
        for (int i = 0; i < 2; ++i)
            curves << QString::fromStdString(
                curveText(tune(*sessionOf(network(5, true)), coarse(), options)));
        QVERIFY(curves[0].count(QLatin1Char('\n')) > 2);
        QCOMPARE(curves[0], curves[1]);
    }

    /// The predicted effect of an edit starts from the user's configuration, not from that of a search.
    void predictionsStartFromTheUsersConfiguration() {
        const auto session = sessionOf(network(2, true));
        session->evaluate(coarse(), Depth::Accuracy);
        const ForecastBasis before = forecastBasis(*session);
        TuneOptions options;
        options.maxDrop = 0.02;
        QVERIFY(tune(*session, coarse(), options).steps > 0);
        const ForecastBasis after = forecastBasis(*session);
        QVERIFY(after.context == before.context);
        QVERIFY(after.quantized == before.quantized);
        QCOMPARE(after.observations, std::size_t(0));
    }

    void thresholdRulesStayFixed() {
        const auto session = sessionOf(network(4, true));
        QuantizationConfig config = coarse();
        SkipRule rule;
        rule.kind = SkipKind::Threshold;
        rule.metric = SkipMetric::CumulativeQs;
        const EvaluationPtr measured = session->evaluate(config, Depth::Metrics);
        double worst = 0;
        for (const LayerResult& layer : measured->layers)
            if (layer.cumulative) worst = std::max(worst, layer.cumulative->qs);
        rule.threshold = 0.999 * worst;
        config.rules.push_back(rule);
        TuneOptions options;
        options.maxDrop = 0.02;
        const TuneResult found = tune(*session, config, options);
        QVERIFY(found.notices.back().find("threshold rules") == 0);
        const TunePoint& point = found.curve[found.chosen];
        for (const SkipRule& one : point.config.rules) QVERIFY(one.kind == SkipKind::Node);
        QCOMPARE(session->evaluate(point.config, Depth::Accuracy)->quantized->agreement,
                 point.accuracy.agreement);
    }

    /// Channels with very different ranges, which equalization balances: no layer needs to stay in float.
    void transformsCanBeSufficient() {
        const auto session =
            sessionOf(test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2,6,6] X) => "
                                      "(float[N,2,6,6] Y) <float[3,2,1,1] V = {100, 90, 1, -0.9, "
                                      "0.011, 0.008}, float[2,3,1,1] W = {0.01, 0.9, 80, -0.009, 1.1, -95}> "
                                      "{ A = Conv(X, V) B = Relu(A) Y = Conv(B, W) }"));
        TuneOptions options;
        options.maxDrop = 0.05;
        const TuneResult plain = tune(*session, coarse(8), options);
        QVERIFY(!plain.curve[plain.chosen].layers.empty());
        options.transforms = true;
        const TuneResult found = tune(*session, coarse(8), options);
        const TunePoint& point = found.curve[found.chosen];
        QVERIFY(found.reached);
        QVERIFY2(point.layers.empty() && point.transforms.starts_with("AIMET equalization"),
                 point.transforms.c_str());
        QVERIFY(point.config.transforms.equalization.profile == EqualizationProfile::Aimet);
        QCOMPARE(session->evaluate(point.config, Depth::Accuracy)->quantized->sqnrDb, point.accuracy.sqnrDb);

        // A budget alone has no target that could make transforms unnecessary.
        TuneOptions within;
        within.maxDrop = std::numeric_limits<double>::infinity();
        within.budget = 0;
        within.transforms = true;
        const TuneResult limited = tune(*session, coarse(8), within);
        QVERIFY(limited.reached);
        QVERIFY(limited.curve[limited.chosen].transforms.starts_with("AIMET equalization"));
    }

    /// The weight exceeds float16, so the outputs are NaN with the second layer in float16.
    void overflowDoesNotEndTheSearch() {
        QTemporaryDir folder;
        const auto session = sessionOf(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2,2,2] X) => "
            "(float[N,2,2,2] Y) <float[2,2,1,1] V = {0.3, 0.9, 0.8, -0.2}, "
            "float[2,2,1,1] W = {100000, 70000, 90000, -80000}> { A = Conv(X, V) Y = Conv(A, W) }"));
        TuneOptions options;
        options.cost = TuneCost::Bytes;
        options.precisions = {Precision::integer(8, 8), Precision::float16()};
        options.allowFloat = false;
        options.maxDrop = 0;
        options.measurements = folder.filePath("found.tune.json").toStdString();
        const TuneResult found = tune(*session, coarse(8), options);
        QVERIFY(!found.reached);
        QCOMPARE(found.ended, TuneEnd::Finished);
        QVERIFY(found.curve.back().drop < 0.1);
        // The first layer can be in float16.
        QVERIFY(found.curve.size() >= 2);
        QCOMPARE(found.curve.back().layers, std::vector<std::string>{"Conv_0"});
        const TuneResult again = tune(*session, coarse(8), options);
        QCOMPARE(curveText(again), curveText(found));
        QVERIFY(again.reused > 0);
        options.precisions = {Precision::float16()};
        options.measurements.clear();
        QVERIFY_EXCEPTION_THROWN(tune(*session, coarse(8), options), Error);
    }

    void measurementsThatCannotBeSavedDoNotLoseTheResult() {
        QTemporaryDir folder;
        const auto session = sessionOf(network(1, false));
        TuneOptions options;
        options.measurements = folder.filePath("missing/found.tune.json").toStdString();
        const TuneResult found = tune(*session, coarse(8), options);
        QCOMPARE(found.ended, TuneEnd::Finished);
        QVERIFY2(found.notices.back().starts_with("the evaluations were not saved: "),
                 found.notices.back().c_str());
        SweepFile file{options.measurements};
        QVERIFY(!resumableLeaveOneOut(*session, coarse(8), file).layers.empty());
        QCOMPARE(file.notices.size(), std::size_t(1));
    }

    void aFailureKeepsTheBestResult() {
        const auto session = sessionOf(network(1, false));
        int calls = 0;
        UserMetric metric;
        metric.measure = [&](const MetricInput&, const CancelToken&) -> double {
            if (++calls > 8) failInput("the metric failed");
            return calls == 1 ? 1.0 : 0.5;
        };
        session->setMetric(metric);
        TuneOptions options;
        options.maxDrop = 0;
        const TuneResult found = tune(*session, coarse(), options);
        QCOMPARE(found.ended, TuneEnd::Failed);
        QVERIFY(!found.curve.empty());
        QVERIFY(found.notices.back().find("the metric failed") != std::string::npos);
        QVERIFY(describe(found).find("before an evaluation failed") != std::string::npos);
    }

    void changesBetweenFloatAndIntegersAreCounted() {
        const auto session = sessionOf(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2,6,6] X) => "
                            "(float[N,2,6,6] Y) <float[2,2,1,1] U = {1, 2, 3, 4}, "
                            "float[2,2,1,1] V = {1, 3, 2, 4}, float[2,2,1,1] W = {4, 3, 2, 1}> { A = Conv(X, "
                            "U) B = Relu(A) C = Conv(B, V) D = Conv(C, W) E = Relu(D) Y = Add(E, B) }"));
        const auto count = [&](const std::vector<std::string>& skipped) {
            return transitionsOf(
                session->graph(),
                session->evaluate(withLayersSkipped(coarse(), skipped), Depth::States)->layers);
        };
        QCOMPARE(count({}), std::size_t(2));                   // in and out
        QCOMPARE(count({"Conv_0"}), std::size_t(2));           // in later
        QCOMPARE(count({"Conv_2"}), std::size_t(4));           // B and C
        QCOMPARE(count({"Conv_3", "Add_5"}), std::size_t(3));  // X, B once for two readers, C
        QCOMPARE(count({"Conv_0", "Conv_2", "Conv_3", "Add_5"}), std::size_t(0));
    }

    void unusableDataAndLimitsAreReported() {
        Session bare(network(1, true));
        const QString missing = test::errorOf([&] { tune(bare, coarse(), {}); });
        QVERIFY2(missing.contains("needs data"), qPrintable(missing));
        bare.useRandomInputs(8);
        const QString noise = test::errorOf([&] { tune(bare, coarse(), {}); });
        QVERIFY2(noise.contains("random inputs"), qPrintable(noise));
        TuneOptions options;
        options.budget = -1;
        const auto session = sessionOf(network(1, true));
        QVERIFY(test::errorOf([&] { tune(*session, coarse(), options); }).contains("budget must be"));
    }
};

QTEST_GUILESS_MAIN(TuneTest)
#include "tune_test.moc"
