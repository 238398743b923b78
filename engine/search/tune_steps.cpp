// SPDX-License-Identifier: Apache-2.0
// Changes of a choice of precisions: adding, lowering and exchanging options.
#include <algorithm>
#include <functional>

#include "search/tune_run.h"

namespace quantloupe {
namespace {

constexpr std::size_t kTriedRoughly = 8, kTriedWholly = 3;  // per step, on the rough and on all samples
constexpr std::size_t kBigOnes = 2;      // moves with the most gain regardless of cost that are tried, too
constexpr std::size_t kExchanged = 4;    // maximum number of moves that replace an expensive one
constexpr double kLeastExchanged = 0.1;  // minimum share of the choice's weight of an option to exchange
constexpr std::size_t kAtOnce = 3;       // see forward()

std::size_t changedIn(const TuneChoice& choice) {
    return static_cast<std::size_t>(
        std::ranges::count_if(choice, [](std::uint16_t option) { return option > 0; }));
}

template <typename T>
void keepFirst(std::vector<T>& list, std::size_t count) {
    list.resize(std::min(count, list.size()));
}

}  // namespace

/// Adds the moves with the most gain per cost until the goal is reached. If a single expensive move reaches
/// it sooner, returns that choice, too.
std::vector<TuneChoice> TuneRun::forward() {
    TuneChoice choice = m_measured.cheapest();
    std::vector<TuneChoice> found;
    while (!withinDrop(m_here.drop, m_goal)) {
        if (!found.empty() && m_measured.weightOf(choice) >= m_measured.weightOf(found.front())) return found;
        if (m_options.maxSteps > 0 && m_steps == m_options.maxSteps) throw TuneLimit{TuneEnd::Steps};
        ++m_steps;
        tell(TuneStage::Adding, changedIn(choice), choice.size());
        const std::vector<Move> tried = tryNext(choice, kNoLimit, {});
        if (tried.empty()) break;
        for (const Move& move : tried) {
            const TuneChoice with = after(choice, move.candidate, move.option);
            if (withinDrop(m_measured.measure(with).drop, m_goal) &&
                (found.empty() || m_measured.weightOf(with) < m_measured.weightOf(found.front())))
                found = {with};
        }
        // Adds one move, plus up to a third of the number of changes; moves that turn out unnecessary are
        // lowered later.
        const std::size_t most = 1 + changedIn(choice) / kAtOnce;
        const TuneChoice before = choice;
        choice[tried.front().candidate] = tried.front().option;
        for (std::size_t i = 1; i < std::min(tried.size(), most); ++i)
            if (gainOf(before, tried[i], m_here) > 0 &&
                choice[tried[i].candidate] == before[tried[i].candidate])
                choice[tried[i].candidate] = tried[i].option;
        m_here = m_measured.measureAndKeep(choice);
    }
    if (found.empty() || found.front() != choice) found.push_back(std::move(choice));
    return found;
}

/// Returns the most promising moves that keep the cost within `mostCost` and do not change the `fixed`
/// candidate, evaluated on all samples, best first.
std::vector<TuneRun::Move> TuneRun::tryNext(const TuneChoice& choice, double mostCost,
                                            std::optional<std::size_t> fixed) {
    std::vector<Move> left = movesFrom(choice);
    std::erase_if(left, [&](const Move& move) {
        return move.candidate == fixed ||
               m_measured.costOf(after(choice, move.candidate, move.option)) > mostCost;
    });
    sortByWorth(left, choice, m_here);
    std::vector<Move> tried = left;
    keepFirst(tried, kTriedRoughly);
    std::ranges::stable_sort(left, std::greater<>(),
                             [&](const Move& move) { return gainOf(choice, move, m_here); });
    for (std::size_t i = 0; i < std::min(kBigOnes, left.size()); ++i)
        if (std::ranges::count(tried, left[i]) == 0) tried.push_back(left[i]);
    if (tried.size() > kTriedWholly) {
        for (const Move& move : tried)
            setGain(choice, move, {gainFrom(choice, move).drop, roughNoiseGain(choice, move, m_here)});
        sortByWorth(tried, choice, m_here);
        keepFirst(tried, kTriedWholly);
    }
    for (const Move& move : tried) {
        const TuneNumbers measured = m_measured.measure(after(choice, move.candidate, move.option));
        setGain(choice, move, {m_here.drop - measured.drop, m_here.noise - measured.noise});
    }
    sortByWorth(tried, choice, m_here);
    return tried;
}

bool TuneRun::reachesGoal(const TuneChoice& choice) {
    const TuneNumbers measured = m_measured.measure(choice);
    return withinDrop(measured.drop, m_goal) && withinDrop(m_measured.measureAndKeep(choice).drop, m_goal);
}

std::vector<std::size_t> TuneRun::heaviestFirst(const TuneChoice& choice) const {
    std::vector<std::size_t> order;
    for (std::size_t c = 0; c < choice.size(); ++c)
        if (choice[c] > 0) order.push_back(c);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t c) {
        return m_measured.candidates()[c].options[choice[c]].weight;
    });
    return order;
}

/// Gives up to `most` candidates, the most expensive first, the cheapest option with which the goal is
/// reached.
void TuneRun::lower(TuneChoice& choice, std::size_t most) {
    std::vector<std::size_t> order = heaviestFirst(choice);
    keepFirst(order, most);
    for (std::size_t i = 0; i < order.size(); ++i) {
        tell(TuneStage::Removing, i, order.size());
        for (std::uint16_t option = 0; option < choice[order[i]]; ++option)
            if (const TuneChoice lowered = after(choice, order[i], option); reachesGoal(lowered)) {
                choice = lowered;
                break;
            }
    }
}

void TuneRun::exchange(TuneChoice& choice) {
    bool changed = false;
    const std::vector<std::size_t> order = heaviestFirst(choice);
    const double worthwhile = m_measured.weightOf(choice) * kLeastExchanged;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (weightOf(m_measured.cheapest(), {order[i], choice[order[i]]}) < worthwhile) break;
        tell(TuneStage::Exchanging, i, order.size());
        changed = exchangeOne(choice, order[i]) || changed;
    }
    if (changed) lower(choice);
}

/// Makes as many of the moves as fit into the room, in this order.
TuneChoice TuneRun::withAllThatFit(TuneChoice choice, const std::vector<Move>& moves, double room) const {
    for (const Move& move : moves) {
        const double weight = weightOf(choice, move);
        if (weight <= 0 || weight >= room) continue;
        room -= weight;
        choice[move.candidate] = move.option;
    }
    return choice;
}

/// Gives the candidate its cheapest option and others up to four options that together cost less.
bool TuneRun::exchangeOne(TuneChoice& choice, std::size_t out) {
    TuneChoice trial = after(choice, out, 0);
    double room = weightOf(trial, {out, choice[out]});
    for (std::size_t added = 0; added < kExchanged; ++added) {
        const TuneNumbers here = m_measured.measureAndKeep(trial);
        std::vector<Move> lighter = movesFrom(trial);
        std::erase_if(lighter, [&](const Move& move) {
            return move.candidate == out || weightOf(trial, move) >= room;
        });
        if (lighter.empty()) return false;
        sortByWorth(lighter, trial, here);
        if (added == 0 && m_measured.candidates().size() > kFew &&
            surelyAbove(m_measured.measure(withAllThatFit(trial, lighter, room)), m_goal))
            return false;
        std::stable_sort(
            lighter.begin() + static_cast<std::ptrdiff_t>(std::min(kTriedWholly, lighter.size())),
            lighter.end(), [&](const Move& a, const Move& b) {
                return gainFrom(trial, a).noise > gainFrom(trial, b).noise;
            });
        // Half of the moves have the best gain per cost, the other half remove the most noise regardless of
        // cost.
        keepFirst(lighter, 2 * kTriedWholly);
        for (const Move& move : lighter) {
            TuneChoice with = after(trial, move.candidate, move.option);
            const TuneNumbers measured = m_measured.measure(with);
            setGain(trial, move, {here.drop - measured.drop, here.noise - measured.noise});
            if (!withinDrop(measured.drop, m_goal) || !reachesGoal(with)) continue;
            choice = std::move(with);
            return true;
        }
        sortByWorth(lighter, trial, here);
        room -= weightOf(trial, lighter.front());
        trial[lighter.front().candidate] = lighter.front().option;
    }
    return false;
}

/// Starts from the most precise choice and gives one candidate after another a cheaper option while the goal
/// is met, expensive ones with little gain first.
void TuneRun::fromMostPrecise(TuneChoice& choice) {
    const TuneChoice cheapest = m_measured.cheapest();
    TuneChoice kept = m_measured.mostPrecise();
    std::vector<Move> order;
    for (std::size_t c = 0; c < kept.size(); ++c)
        if (kept[c] > 0) order.push_back({c, kept[c]});
    sortByWorth(order, cheapest, m_measured.measure(cheapest));
    std::ranges::reverse(order);
    for (std::size_t i = 0; i < order.size(); ++i) {
        tell(TuneStage::FromAllFloat, i, order.size());
        for (std::uint16_t option = 0; option < order[i].option; ++option)
            if (TuneChoice lowered = after(kept, order[i].candidate, option);
                withinDrop(m_measured.measure(lowered).drop, m_goal)) {
                kept = std::move(lowered);
                break;
            }
    }
    if (m_measured.weightOf(kept) >= m_measured.weightOf(choice) || !reachesGoal(kept)) return;
    choice = std::move(kept);
    exchange(choice);
}

}  // namespace quantloupe
