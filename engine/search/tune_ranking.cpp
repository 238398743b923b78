// SPDX-License-Identifier: Apache-2.0
// The gain of each move per cost, and searches along the rankings by this gain.
#include <algorithm>
#include <functional>

#include "search/tune_run.h"

namespace quantloupe {
namespace {

constexpr std::size_t kLoweredEarly = 8;

}  // namespace

std::vector<TuneRun::Move> TuneRun::movesFrom(const TuneChoice& choice) const {
    std::vector<Move> moves;
    for (std::size_t c = 0; c < choice.size(); ++c)
        for (std::size_t o = choice[c] + 1U; o < m_measured.candidates()[c].options.size(); ++o)
            moves.push_back({c, static_cast<std::uint16_t>(o)});
    return moves;
}

double TuneRun::weightOf(const TuneChoice& choice, const Move& move) const {
    const auto& options = m_measured.candidates()[move.candidate].options;
    return options[move.option].weight - options[choice[move.candidate]].weight;
}

void TuneRun::setGain(const TuneChoice& choice, const Move& move, const Gain& gain) {
    std::vector<Gain>& gains = m_gains[move.candidate];
    const Gain& now = gains[choice[move.candidate]];
    gains[move.option] = {now.drop + gain.drop, now.noise + gain.noise};
}

TuneRun::Gain TuneRun::gainFrom(const TuneChoice& choice, const Move& move) const {
    const std::vector<Gain>& gains = m_gains[move.candidate];
    const Gain &now = gains[choice[move.candidate]], &then = gains[move.option];
    return {then.drop - now.drop, then.noise - now.noise};
}

/// Returns the noise that a move removes, measured on the rough samples and scaled to all samples.
double TuneRun::roughNoiseGain(const TuneChoice& choice, const Move& move, const TuneNumbers& here) {
    const double before = m_measured.measureRoughly(choice).noise;
    const TuneChoice moved = after(choice, move.candidate, move.option);
    return before > 0 ? (before - m_measured.measureRoughly(moved).noise) / before * here.noise : 0;
}

/// Returns the mean of the fractions of drop and noise that a move removes.
double TuneRun::gainOf(const TuneChoice& choice, const Move& move, const TuneNumbers& here) const {
    const Gain gain = gainFrom(choice, move);
    return (here.drop > 0 ? gain.drop / here.drop : 0) / 2 +
           (here.noise > 0 ? gain.noise / here.noise : 0) / 2;
}

double TuneRun::worthOf(const TuneChoice& choice, const Move& move, const TuneNumbers& here) const {
    const double gain = gainOf(choice, move, here), weight = weightOf(choice, move);
    return gain > 0 ? gain / weight : gain * weight;
}

/// Sorts by gain per cost, best first.
void TuneRun::sortByWorth(std::vector<Move>& moves, const TuneChoice& choice, const TuneNumbers& here) const {
    std::ranges::stable_sort(moves, std::greater<>(),
                             [&](const Move& move) { return worthOf(choice, move, here); });
}

void TuneRun::rankSingleMoves() {
    const TuneChoice cheapest = m_measured.cheapest();
    m_gains.clear();
    for (const TuneCandidate& candidate : m_measured.candidates())
        m_gains.emplace_back(candidate.options.size());
    std::vector<Move> moves = movesFrom(cheapest);
    const auto known = [&](const Move& move) {
        const TuneCandidate& candidate = m_measured.candidates()[move.candidate];
        return candidate.options[0].asConfigured && !candidate.options[move.option].precision.isInteger() &&
               m_measured.hasLeaveOneOut(move.candidate);
    };
    for (std::size_t i = 0; i < moves.size(); ++i) {
        tell(TuneStage::EachLayerAlone, i, moves.size());
        if (!known(moves[i])) setGain(cheapest, moves[i], {0, roughNoiseGain(cheapest, moves[i], m_here)});
    }
    sortByWorth(moves, cheapest, m_here);
    const std::size_t promising = (m_measured.candidates().size() + 1) / 2;
    for (std::size_t i = 0; i < moves.size(); ++i) {
        if (i >= promising && !known(moves[i])) continue;
        tell(TuneStage::EachLayerAlone, i, moves.size());
        const TuneNumbers alone = m_measured.measure(after(cheapest, moves[i].candidate, moves[i].option));
        setGain(cheapest, moves[i], {m_here.drop - alone.drop, m_here.noise - alone.noise});
    }
}

/// Makes the shortest prefix of the moves that reaches the goal, found by bisection. Returns an empty choice
/// if all moves together do not reach it.
TuneChoice TuneRun::shortestPrefix(const std::vector<Move>& order) {
    const auto first = [&](std::size_t count) {
        TuneChoice choice = m_measured.cheapest();
        for (std::size_t i = 0; i < count; ++i)
            choice[order[i].candidate] = std::max(choice[order[i].candidate], order[i].option);
        return choice;
    };
    const auto enough = [&](std::size_t count) {
        return withinDrop(m_measured.measure(first(count)).drop, m_goal);
    };
    std::size_t few = 0, many = 1;  // bisection: `few` moves are not enough
    while (many < order.size() && !enough(many)) {
        few = many;
        many = std::min(order.size(), many * 2);
    }
    if (order.empty() || !enough(many)) return {};
    while (many - few > 1) (enough((few + many) / 2) ? many : few) = (few + many) / 2;
    return first(many);
}

/// Returns the moves that recover a part of the drop alone, by this part per cost, the best first.
std::vector<TuneRun::Move> TuneRun::helpfulMoves() const {
    const TuneChoice cheapest = m_measured.cheapest();
    std::vector<Move> order;
    for (const Move& move : movesFrom(cheapest))
        if (gainFrom(cheapest, move).drop > 0) order.push_back(move);
    std::ranges::stable_sort(order, std::greater<>(), [&](const Move& move) {
        return gainFrom(cheapest, move).drop / weightOf(cheapest, move);
    });
    return order;
}

/// Returns the most precise option of each candidate, sorted by the candidate's local sensitivity (QS).
std::vector<TuneRun::Move> TuneRun::mostSensitiveFirst() {
    std::vector<Move> moves;
    for (std::size_t c = 0; c < m_measured.candidates().size(); ++c)
        if (const std::uint16_t best = m_measured.candidates()[c].best; best > 0) moves.push_back({c, best});
    const std::vector<double> sensitivities = m_measured.sensitivities();
    std::ranges::stable_sort(moves, std::greater<>(),
                             [&](const Move& move) { return sensitivities[move.candidate]; });
    return moves;
}

/// Reaches the goal after few evaluations, so that there is something to apply while the search goes on: the
/// shortest prefix of the most sensitive candidates, of which the most expensive ones then get cheaper
/// options where possible. Empty if no prefix reaches the goal.
TuneChoice TuneRun::earlyAnswer() {
    tell(TuneStage::EarlyAnswer);
    TuneChoice choice = shortestPrefix(mostSensitiveFirst());
    lower(choice, kLoweredEarly);
    return choice;
}

/// Returns rankings of the candidates, each with its most precise option: by local sensitivity (QS), by gain,
/// and by each per cost.
std::vector<std::vector<TuneRun::Move>> TuneRun::rankings() {
    const TuneChoice cheapest = m_measured.cheapest();
    const std::vector<double> sensitivities = m_measured.sensitivities();
    std::vector<std::vector<Move>> rankings{mostSensitiveFirst()};
    const auto add = [&](const auto& value) {
        rankings.push_back(rankings.front());
        std::ranges::stable_sort(rankings.back(), std::greater<>(), value);
    };
    const auto gain = [&](const Move& move) { return gainOf(cheapest, move, m_here); };
    add([&](const Move& move) { return sensitivities[move.candidate] / weightOf(cheapest, move); });
    add(gain);
    add([&](const Move& move) { return gain(move) / weightOf(cheapest, move); });
    return rankings;
}

/// Evaluates the prefixes of the rankings that cost less than the best choice found, the longest first, so
/// that the result is not worse than one of them. With more than kFew candidates, a ranking ends with the
/// first prefix that surely misses the goal.
void TuneRun::tryCheaperPrefixes() {
    const auto ranked = rankings();
    for (std::size_t r = 0; r < ranked.size(); ++r) {
        const double least = m_measured.cheapestWithin(m_goal);
        std::vector<TuneChoice> prefixes{m_measured.cheapest()};
        for (const Move& move : ranked[r]) {
            TuneChoice longer = after(prefixes.back(), move.candidate, move.option);
            if (m_measured.costOf(longer) >= least) break;
            prefixes.push_back(std::move(longer));
        }
        TuneChoice shortest;
        for (; prefixes.size() > 1; prefixes.pop_back()) {
            tell(TuneStage::Prefixes, r, ranked.size());
            if (reachesGoal(prefixes.back())) {
                shortest = prefixes.back();
            } else if (ranked[r].size() > kFew && surelyAbove(m_measured.measure(prefixes.back()), m_goal)) {
                break;
            }
        }
        if (!shortest.empty()) lower(shortest);
    }
}

}  // namespace quantloupe
