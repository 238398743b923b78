// SPDX-License-Identifier: Apache-2.0
// Searches over precisions: compared with all choices on small networks and with ranked prefixes, within a
// budget, and resumed from a file. (Samples that the search did not use: held_out_test.)
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "config/layer_choices.h"
#include "search/tune.h"
#include "search/tune_numbers.h"
#include "session/studies/layer_work.h"
#include "session/studies/leave_one_out.h"
#include "session/studies/search_context.h"
#include "support/tune_network.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

const Precision kW3 = Precision::integer(3, 8), kW8 = Precision::integer(8, 8), kFloat = Precision::float32();

const CostKind kKinds[] = {CostKind::Bytes, CostKind::BitOperations};

struct Measured {
    double costs[2] = {};
    double drop = 0;
};

double dropOf(Session& session, const QuantizationConfig& config) {
    const EvaluationPtr measured = session.experiment(config, Depth::Accuracy);
    return dropOf(*measured->floating, *measured->quantized);
}

QuantizationConfig chosen(QuantizationConfig config, const std::string& layer, const Precision& precision) {
    if (!precision.isInteger()) return withLayersSkipped(config, {layer});
    config.layers[layer].weightBits = precision.weightBits;
    config.layers[layer].activationBits = precision.activationBits;
    return config;
}

/// Costs and drops of every choice of w3a8, w8a8 and float for every layer that can be quantized.
std::vector<Measured> allChoices(Session& session) {
    const EvaluationPtr base = session.evaluate(coarse(), Depth::Accuracy);
    const NetworkWork work = networkWork(session, *base);
    const CostModel costs[] = {{kKinds[0], work}, {kKinds[1], work}};
    std::vector<std::size_t> layers;
    for (const LayerResult& layer : base->layers)
        if (layer.state == LayerState::Quantized) layers.push_back(layer.node.index());
    std::vector<Precision> precisions;
    for (const LayerWork& layer : work) precisions.push_back(layer.precision);
    std::vector<Measured> all;
    const std::function<void(std::size_t, const QuantizationConfig&)> choose =
        [&](std::size_t i, const QuantizationConfig& config) {
            if (i == layers.size()) {
                all.push_back(
                    {{costs[0].total(precisions), costs[1].total(precisions)}, dropOf(session, config)});
                return;
            }
            const std::size_t layer = layers[i];
            for (const Precision& precision : {kW3, kW8, kFloat}) {
                if (work[layer].weights == 0 && precision == kW3) continue;  // the same as w8a8
                precisions[layer] = precision;
                choose(i + 1, chosen(config, work[layer].name, precision));
            }
        };
    choose(0, coarse());
    return all;
}

TuneOptions optionsFor(CostKind kind) {
    TuneOptions options;
    options.cost = kind;
    options.precisions = {kW8, kW3};
    return options;
}

std::string textOf(const TuneResult& result) {
    std::string text;
    for (const TunePoint& point : result.curve) {
        text += fmt::format("{:.6f} {:.9f}", point.amount, point.drop);
        for (const auto& [name, precision] : point.precisions)
            text += fmt::format(" {}={}", name, precisionName(precision));
        text += "\n";
    }
    return text;
}

}  // namespace

class TunePrecisionsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Three targets and three budgets for two costs on two networks.
    void comparedWithAllChoices() {
        int searches = 0, best = 0;
        double worstCost = 1, worstDrop = 1;
        for (const unsigned seed : {1U, 2U}) {
            const auto session = sessionOf(network(seed, false));
            const std::vector<Measured> all = allChoices(*session);
            for (const int k : {0, 1}) {
                const CostKind kind = kKinds[k];
                const double most = all.front().drop, cheapest = all.front().costs[k],
                             dearest = all.back().costs[k];
                for (const double share : {0.6, 0.3, 0.12}) {
                    TuneOptions options = optionsFor(kind);
                    options.maxDrop = share * most;
                    double least = 1e300;
                    for (const Measured& one : all)
                        if (withinDrop(one.drop, options.maxDrop)) least = std::min(least, one.costs[k]);
                    const TuneResult found = tune(*session, coarse(), options);
                    QVERIFY(found.reached);
                    const double ratio = found.curve[found.chosen].amount / least;
                    QVERIFY2(ratio > 1 - 1e-9, qPrintable(QString::number(ratio)));
                    worstCost = std::max(worstCost, ratio);
                    best += ratio < 1 + 1e-9;

                    TuneOptions within = optionsFor(kind);
                    within.maxDrop = std::numeric_limits<double>::infinity();
                    within.budget = cheapest + share * (dearest - cheapest);
                    double smallest = 1e300;
                    for (const Measured& one : all)
                        if (one.costs[k] <= *within.budget) smallest = std::min(smallest, one.drop);
                    const TuneResult limited = tune(*session, coarse(), within);
                    const TunePoint& point = limited.curve[limited.chosen];
                    QVERIFY(limited.reached && point.amount <= *within.budget);
                    QVERIFY(point.drop >= smallest - 1e-12);
                    worstDrop = std::max(worstDrop, point.drop / smallest);
                    best += point.drop <= smallest * (1 + 1e-9);
                    searches += 2;
                }
            }
        }
        qInfo(
            "%d searches, %d found the best of all choices; the worst costs %.3f times as much, the worst "
            "drop within a budget is %.3f times as large",
            searches, best, worstCost, worstDrop);
        QVERIFY2(worstCost <= 1.25 && worstDrop <= 1.25, "too far from the best of all choices");
        QVERIFY(best >= 0.8 * searches);
    }

    /// Keeping the most sensitive layers in float, as many as needed, never costs less.
    void neverWorseThanRankedPrefixes() {
        for (const unsigned seed : {3U, 4U, 5U})
            for (const CostKind kind : {CostKind::Macs, CostKind::Bytes}) {
                const auto session = sessionOf(network(seed, true));
                const EvaluationPtr base = session->evaluate(coarse(), Depth::Metrics);
                const CostModel costs(kind, networkWork(*session, *base));
                std::vector<const LayerResult*> ranked;
                for (const LayerResult& layer : base->layers)
                    if (layer.state == LayerState::Quantized && layer.local) ranked.push_back(&layer);
                std::ranges::stable_sort(ranked, std::greater<>(),
                                         [](const LayerResult* layer) { return layer->local->qs; });
                TuneOptions options;
                options.cost = kind;
                options.maxDrop = 0.3 * dropOf(*session, coarse());
                const TuneResult found = tune(*session, coarse(), options);
                QVERIFY(found.reached);
                std::vector<Precision> precisions;
                for (const LayerWork& work : costs.work()) precisions.push_back(work.precision);
                std::vector<std::string> floating;
                for (const LayerResult* layer : ranked) {
                    floating.push_back(layer->name);
                    precisions[layer->node.index()] = kFloat;
                    if (!withinDrop(dropOf(*session, withLayersSkipped(coarse(), floating)), options.maxDrop))
                        continue;
                    QVERIFY(found.curve[found.chosen].amount <= costs.total(precisions) + 1e-6);
                }
            }
    }

    /// The session protocol and the Python module rely on the search for this.
    void contradictingChoicesAreRefused() {
        const auto session = sessionOf(network(1, true));
        TuneOptions options = optionsFor(CostKind::Bytes);
        options.allowFloat = false;
        for (const auto& precisions :
             {std::vector<Precision>{}, {Precision::integer(8, 8), Precision::float32()}}) {
            options.precisions = precisions;
            QVERIFY_EXCEPTION_THROWN(tune(*session, coarse(), options), Error);
        }
    }

    void resultHasTheReportedPrecisions() {
        const auto session = sessionOf(network(2, true), true);
        TuneOptions options = optionsFor(CostKind::Bytes);
        options.maxDrop = 0.02;
        options.allowFloat = false;
        const TuneResult found = tune(*session, coarse(4), options);
        for (const TunePoint& point : found.curve) {
            QVERIFY(point.layers.empty());
            const EvaluationPtr measured = session->evaluate(point.config, Depth::Accuracy);
            QCOMPARE(measured->quantized->top1, point.accuracy.top1);
            std::size_t p = 0;
            for (const LayerResult& layer : measured->layers) {
                if (!layer.quantizable) continue;
                QCOMPARE(layer.name, point.precisions[p].first);
                if (layer.weightBits > 0) QCOMPARE(layer.weightBits, point.precisions[p].second.weightBits);
                ++p;
            }
            QCOMPARE(p, point.precisions.size());
            const CostModel costs(CostKind::Bytes, networkWork(*session, *measured));
            QCOMPARE(point.amount, costs.total());
        }
    }

    void lockedLayersKeepTheirPrecision() {
        const auto session = sessionOf(network(1, true));
        QuantizationConfig config = coarse();
        config.layers["Conv_0"].quantize = true;
        TuneOptions options = optionsFor(CostKind::Bytes);
        options.maxDrop = 0.02;
        const TuneResult found = tune(*session, config, options);
        QCOMPARE(found.locked, std::vector<std::string>{"Conv_0"});
        for (const TunePoint& point : found.curve)
            for (const auto& [name, precision] : point.precisions)
                if (name == "Conv_0") QVERIFY(precision == kW3);

        // A layer's own precision fixes it, too.
        QuantizationConfig own = withPrecision(coarse(), {"Conv_0"}, kW3);
        const TuneResult other = tune(*session, own, options);
        QCOMPARE(other.locked, found.locked);
        QCOMPARE(QString::fromStdString(textOf(other)), QString::fromStdString(textOf(found)));
        own = withPrecision(coarse(), {"Conv_0"}, Precision::float16());
        QVERIFY(tune(*session, own, options).locked.empty());
    }

    void theOrderOfThePrecisionsDoesNotMatter() {
        const auto session = sessionOf(network(2, true));
        TuneOptions options;
        options.cost = CostKind::Bytes;
        options.allowFloat = false;
        options.maxDrop = 0;
        std::vector<Precision> list = {Precision::integer(8, 16), Precision::integer(16, 8),
                                       Precision::integer(4, 8), Precision::float16(),
                                       Precision::integer(16, 16)};
        options.precisions = list;
        const std::string found = textOf(tune(*session, coarse(), options));
        std::ranges::reverse(list);
        options.precisions = list;
        QCOMPARE(QString::fromStdString(textOf(tune(*session, coarse(), options))),
                 QString::fromStdString(found));
    }

    /// In layers without weights, more bits for activations cost no bit operations, but they can make the
    /// result worse.
    void costsNoMoreThanAConfigurationThatReachesTheTarget() {
        TuneOptions options;
        options.cost = CostKind::BitOperations;
        options.allowFloat = false;
        options.precisions = {kW3, Precision::integer(8, 16)};
        for (const unsigned seed : {241U, 286U}) {  // for which they do
            const auto session = sessionOf(network(seed, true), true);
            options.maxDrop = std::max(0.0, dropOf(*session, coarse()));
            const TuneResult found = tune(*session, coarse(), options);
            QVERIFY(found.reached);
            QVERIFY(found.curve[found.chosen].amount <= found.startAmount);
        }
    }

    /// float16 has fewer bytes, but not the steps of 16-bit integers.
    void float16DoesNotReplace16Bits() {
        const auto session = sessionOf(network(2, false));
        TuneOptions options;
        options.cost = CostKind::Bytes;
        options.allowFloat = false;
        options.maxDrop = 0;
        options.precisions = {Precision::float16(), Precision::integer(4, 8), Precision::integer(16, 16)};
        QVERIFY(textOf(tune(*session, coarse(), options)).find("w16a16") != std::string::npos);
    }

    void aBudgetBelowTheCheapestChoiceIsNotReached() {
        const auto session = sessionOf(network(1, true));
        TuneOptions options = optionsFor(CostKind::Bytes);
        options.budget = 1;
        const TuneResult found = tune(*session, coarse(), options);
        QVERIFY(!found.reached);
        QCOMPARE(found.chosen, std::size_t(0));
        QVERIFY(describe(found).find("the cheapest choice costs more") != std::string::npos);
    }

    /// In bit operations, w4a16 costs as much as w8a8.
    void optionsOfEqualCostEndTheSearch() {
        const auto session = sessionOf(network(1, true));
        TuneOptions options;
        options.cost = CostKind::BitOperations;
        options.allowFloat = false;
        options.precisions = {Precision::integer(4, 8), Precision::integer(4, 16), kW8,
                              Precision::integer(8, 16)};
        const double cheapest = tune(*session, coarse(), options).curve.front().amount;
        options.maxDrop = INFINITY;
        // With little more than the cheapest choice costs, the search meets layers with these options only.
        for (const double factor : {1.02, 1.1, 1.3, 1.6}) {
            options.budget = factor * cheapest;
            const TuneResult found = tune(*session, coarse(), options);
            QVERIFY(found.reached && found.curve[found.chosen].amount <= *options.budget);
        }
    }

    void aSearchIsResumed() {
        QTemporaryDir folder;
        TuneOptions options = optionsFor(CostKind::Bytes);
        options.maxDrop = 0.02;
        options.measurements = folder.filePath("found.tune.json").toStdString();
        const TuneResult first = tune(*sessionOf(network(2, true)), coarse(), options);
        QVERIFY(first.evaluations > 10 && first.reused == 0);
        const TuneResult second = tune(*sessionOf(network(2, true)), coarse(), options);
        QVERIFY2(second.evaluations <= 2, qPrintable(QString::number(second.evaluations)));
        QVERIFY(second.reused > 10);
        QCOMPARE(QString::fromStdString(textOf(second)), QString::fromStdString(textOf(first)));

        // Measurements on other samples are not used.
        const TuneResult other = tune(*sessionOf(network(2, true), false, 150), coarse(), options);
        QCOMPARE(other.reused, std::size_t(0));
        QVERIFY(other.notices.back().find("belong to another model, other data") != std::string::npos);
        // Both remain.
        QVERIFY(tune(*sessionOf(network(2, true)), coarse(), options).reused > 10);
        QVERIFY(tune(*sessionOf(network(2, true), false, 150), coarse(), options).reused > 10);
        options.program = "another version";
        QCOMPARE(tune(*sessionOf(network(2, true)), coarse(), options).reused, std::size_t(0));
        options.program.clear();

        QFile file(folder.filePath("found.tune.json"));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("{}");
        file.close();
        QVERIFY_EXCEPTION_THROWN(tune(*sessionOf(network(2, true)), coarse(), options), Error);
    }

    /// A search that is stopped saves what it measured, and the next one begins with it.
    void aStoppedSearchIsResumed() {
        QTemporaryDir folder;
        TuneOptions options = optionsFor(CostKind::Bytes);
        options.maxDrop = 0;
        const TuneResult whole = tune(*sessionOf(network(2, true)), coarse(), options);
        options.measurements = folder.filePath("found.tune.json").toStdString();
        const CancelToken cancel;
        options.progress = [&](const TuneProgress& progress) {
            if (progress.step == 2) cancel.cancel();
        };
        const TuneResult stopped = tune(*sessionOf(network(2, true)), coarse(), options, cancel);
        QCOMPARE(stopped.ended, TuneEnd::Cancelled);
        options.progress = {};
        const TuneResult resumed = tune(*sessionOf(network(2, true)), coarse(), options);
        QVERIFY(resumed.reused >= 5 && resumed.evaluations < whole.evaluations);
        QCOMPARE(QString::fromStdString(textOf(resumed)), QString::fromStdString(textOf(whole)));
    }
};

QTEST_GUILESS_MAIN(TunePrecisionsTest)
#include "tune_precisions_test.moc"
