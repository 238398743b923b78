// SPDX-License-Identifier: Apache-2.0
// The smallest drop within a cost budget.
#include <algorithm>

#include "search/tune_run.h"

namespace quantloupe {
namespace {

constexpr std::size_t kSwapped = 8;  // options that are replaced at most

}  // namespace

/// Compares two choices: smaller drop, then less noise at the outputs.
bool TuneRun::isBetter(const TuneChoice& a, const TuneChoice& b) {
    const TuneNumbers left = m_measured.measure(a), right = m_measured.measure(b);
    return left.drop < right.drop || (left.drop == right.drop && left.noise < right.noise);
}

void TuneRun::searchForBudget() {
    const TuneChoice cheapest = m_measured.cheapest();
    if (m_measured.costOf(cheapest) > *m_options.budget) return;
    const TuneChoice precise = m_measured.mostPrecise();
    if (m_measured.costOf(precise) <= *m_options.budget) {
        m_measured.measure(precise);
        return;
    }
    rankSingleMoves();
    TuneChoice best = fill(cheapest, {});
    if (const TuneChoice lowered = fill(loweredToBudget(), {}); isBetter(lowered, best)) best = lowered;
    const auto ranked = rankings();
    for (std::size_t r = 0; r < ranked.size(); ++r) {
        tell(TuneStage::Prefixes, r, ranked.size());
        TuneChoice choice = cheapest;
        for (const Move& move : ranked[r]) {
            const TuneChoice longer = after(choice, move.candidate, move.option);
            if (m_measured.costOf(longer) > *m_options.budget) break;
            choice = longer;
            if (ranked[r].size() <= kFew && isBetter(choice, best)) best = choice;
        }
        if (const TuneChoice filled = fill(choice, {}); isBetter(filled, best)) best = filled;
    }
    improveWithinBudget(best);
}

/// Adds the moves with the most gain per cost, except of the `fixed` candidate, as long as they fit into the
/// budget and help.
TuneChoice TuneRun::fill(TuneChoice choice, std::optional<std::size_t> fixed) {
    for (;;) {
        if (m_options.maxSteps > 0 && m_steps == m_options.maxSteps) throw TuneLimit{TuneEnd::Steps};
        m_here = m_measured.measureAndKeep(choice);
        const std::vector<Move> tried = tryNext(choice, *m_options.budget, fixed);
        if (tried.empty() || gainOf(choice, tried.front(), m_here) <= 0) return choice;
        ++m_steps;
        tell(TuneStage::Adding, m_steps);
        choice[tried.front().candidate] = tried.front().option;
    }
}

/// Starts from the most precise choice and lowers the options with the least gain per cost until the cost is
/// within the budget.
TuneChoice TuneRun::loweredToBudget() {
    const TuneChoice cheapest = m_measured.cheapest();
    TuneChoice choice = m_measured.mostPrecise();
    const TuneNumbers here = m_measured.measure(cheapest);
    while (m_measured.costOf(choice) > *m_options.budget) {
        std::optional<Move> least;
        double worth = kNoLimit;
        for (std::size_t c = 0; c < choice.size(); ++c) {
            if (choice[c] == 0) continue;
            const auto lower = static_cast<std::uint16_t>(choice[c] - 1);
            const double one = worthOf(after(choice, c, lower), {c, choice[c]}, here);
            if (least && one >= worth) continue;  // the worth is infinite if both options cost the same
            worth = one;
            least = {c, lower};
        }
        if (!least) break;
        choice[least->candidate] = least->option;
    }
    return choice;
}

/// Lowers one option after another, uses the freed budget for others, and keeps changes that improve the
/// result.
void TuneRun::improveWithinBudget(TuneChoice& choice) {
    const std::vector<std::size_t> order = heaviestFirst(choice);
    for (std::size_t i = 0; i < std::min(kSwapped, order.size()); ++i) {
        tell(TuneStage::Exchanging, i, order.size());
        if (choice[order[i]] == 0) continue;
        TuneChoice trial = fill(fill(after(choice, order[i], 0), order[i]), {});
        if (isBetter(trial, choice)) choice = std::move(trial);
    }
}

}  // namespace quantloupe
