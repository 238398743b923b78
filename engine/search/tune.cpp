// SPDX-License-Identifier: Apache-2.0
#include "search/tune.h"

#include <algorithm>

#include "base/error.h"
#include "model/quantized_model.h"
#include "search/tune_numbers.h"
#include "search/tune_run.h"
#include "search/tune_transforms.h"
#include "session/studies/skip_groups.h"
#include "session/studies/task_predictions.h"

namespace quantloupe {

TuneRun::TuneRun(Session& session, const QuantizationConfig& config, const TuneOptions& options,
                 const CancelToken& cancel)
    : m_session(session),
      m_options(options),
      m_cancel(cancel),
      m_measured(session, m_options, cancel),
      m_config(withRulesFixed(session, config, cancel)),
      m_rulesFixed(m_config != config) {
    m_options.improved = [this, improved = options.improved](const TuneResult& found) {
        if (improved) improved(completed(found));
    };
}

/// Throws Error if there is nothing to choose from.
void checkChoices(const TuneOptions& options) {
    if (options.allowFloat) return;
    if (options.precisions.empty())
        failInput("without float layers, there is nothing to choose from: give precisions");
    if (std::ranges::count(options.precisions, Precision::float32()) > 0)
        failInput("float32 is among the precisions, but float layers are not allowed: leave out one of them");
}

TuneResult TuneRun::run() {
    checkChoices(m_options);
    requireTaskMetric(m_session);
    m_measured.start(m_config, {});
    try {
        search();
    } catch (const TuneLimit& limit) {
        m_end = limit.end;
    } catch (const Cancelled&) {
        m_end = TuneEnd::Cancelled;
    } catch (const Error& error) {
        if (m_session.group() != nullptr) throw;  // The other processes wait for this one.
        m_end = TuneEnd::Failed;
        m_failure = error.what();
    }
    m_measured.save();
    TuneResult result = completed(m_measured.result());
    if (result.curve.back().drop >= kWorstDrop)
        failInput(
            "the search found no choice whose outputs can be compared with those of the float network: the "
            "outputs contain NaN or infinite values");
    return result;
}

TuneResult TuneRun::completed(TuneResult result) const {
    result.ended = m_end;
    result.steps = m_steps;
    if (!m_failure.empty())
        result.notices.push_back("the search ended early, because an evaluation failed: " + m_failure);
    if (m_rulesFixed)
        result.notices.emplace_back(
            "threshold rules were replaced with the layers that they cover, so that the result stays valid");
    return result;
}

void TuneRun::tell(TuneStage stage, std::size_t done, std::size_t total) const {
    if (m_options.progress) m_options.progress({stage, done, total, m_steps, m_here.metric});
}

void TuneRun::search() {
    m_here = m_measured.measure(m_measured.cheapest());
    const auto done = [&] {
        return !m_options.budget &&
               m_measured.cheapestWithin(m_options.maxDrop) <= m_measured.costOf(m_measured.cheapest());
    };
    if (m_options.transforms && !done()) {
        tell(TuneStage::Transforms);
        const TunedTransforms better = withHelpfulTransforms(m_session, m_config, m_cancel);
        if (!better.text.empty()) m_measured.start(better.config, better.text);
        m_here = m_measured.measure(m_measured.cheapest());
    }
    if (m_measured.candidates().empty()) return;
    if (m_options.budget) return searchForBudget();
    if (!done()) searchForTarget();
}

void TuneRun::searchForTarget() {
    const std::size_t count = m_measured.candidates().size();
    const double least = m_measured.measureMostPrecise().drop;
    // If the target cannot be reached, get as close as possible. If the most precise choice overflows, it
    // does not show how close that is.
    const bool overflows = least >= kWorstDrop;
    m_goal = overflows ? m_options.maxDrop : std::max(m_options.maxDrop, least);
    const TuneChoice early = earlyAnswer();
    rankSingleMoves();
    const TuneChoice shortcut = shortestPrefix(helpfulMoves());
    std::vector<TuneChoice> found = forward();
    if (!shortcut.empty()) found.push_back(shortcut);
    const auto weight = [&](const TuneChoice& one) { return m_measured.weightOf(one); };
    // The early answer only if it costs less than the others: lowering the rest of it takes many evaluations.
    if (!early.empty() && weight(early) <= weight(*std::ranges::min_element(found, {}, weight)))
        found.push_back(early);
    for (TuneChoice& one : found) lower(one);
    TuneChoice best = *std::ranges::min_element(found, {}, weight);
    if (!withinDrop(overflows ? m_measured.measure(best).drop : least, m_options.maxDrop)) return;
    if (count > kFew) {
        exchange(best);
    } else {
        for (TuneChoice& one : found) exchange(one);
        fromMostPrecise(best);
    }
    tryCheaperPrefixes();
}

TuneResult tune(Session& session, const QuantizationConfig& config, const TuneOptions& options,
                const CancelToken& cancel) {
    if (!session.hasData()) failInput("tuning needs data: choose a data folder first");
    if (session.randomInputs()) failInput("tuning needs real data: accuracy on random inputs is meaningless");
    requireFloatModel(session.graph(), "tuning");
    if (!(options.maxDrop >= 0)) failInput("the maximum drop must be at least 0 points");
    if (options.budget && !(*options.budget >= 0)) failInput("the budget must be at least 0");
    return TuneRun(session, config, options, cancel).run();
}

}  // namespace quantloupe
