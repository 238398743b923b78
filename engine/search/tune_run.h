// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for the best precisions. Internal to engine/search; tune.h describes the steps.

#include <limits>

#include "search/tune_measurements.h"

namespace quantloupe {

/// With up to this many candidates, the search tries everything; with more, it skips what promises little.
inline constexpr std::size_t kFew = 24;

class TuneRun {
  public:
    TuneRun(Session& session, const QuantizationConfig& config, const TuneOptions& options,
            const CancelToken& cancel);
    TuneResult run();

  private:
    /// A change of one candidate to a more expensive option.
    struct Move {
        std::size_t candidate = 0;
        std::uint16_t option = 0;
        bool operator==(const Move&) const = default;
    };
    /// Drop and noise that an option removes, compared with the cheapest option, in the most recent
    /// measurement.
    struct Gain {
        double drop = 0, noise = 0;
    };
    static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
    static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

    TuneResult completed(TuneResult result) const;
    void tell(TuneStage stage, std::size_t done = 0, std::size_t total = 0) const;
    void search();
    void searchForTarget();

    // tune_ranking.cpp: gains
    void rankSingleMoves();
    std::vector<Move> movesFrom(const TuneChoice& choice) const;
    double roughNoiseGain(const TuneChoice& choice, const Move& move, const TuneNumbers& here);
    void setGain(const TuneChoice& choice, const Move& move, const Gain& gain);
    Gain gainFrom(const TuneChoice& choice, const Move& move) const;
    double gainOf(const TuneChoice& choice, const Move& move, const TuneNumbers& here) const;
    double worthOf(const TuneChoice& choice, const Move& move, const TuneNumbers& here) const;
    void sortByWorth(std::vector<Move>& moves, const TuneChoice& choice, const TuneNumbers& here) const;
    double weightOf(const TuneChoice& choice, const Move& move) const;
    std::vector<Move> helpfulMoves() const;
    std::vector<Move> mostSensitiveFirst();
    std::vector<std::vector<Move>> rankings();
    TuneChoice shortestPrefix(const std::vector<Move>& order);
    TuneChoice earlyAnswer();
    void tryCheaperPrefixes();

    // tune_steps.cpp: changes of a choice
    std::vector<TuneChoice> forward();
    std::vector<Move> tryNext(const TuneChoice& choice, double mostCost, std::optional<std::size_t> fixed);
    bool reachesGoal(const TuneChoice& choice);
    std::vector<std::size_t> heaviestFirst(const TuneChoice& choice) const;
    void lower(TuneChoice& choice, std::size_t most = kAll);
    void exchange(TuneChoice& choice);
    TuneChoice withAllThatFit(TuneChoice choice, const std::vector<Move>& moves, double room) const;
    bool exchangeOne(TuneChoice& choice, std::size_t out);
    void fromMostPrecise(TuneChoice& choice);

    // tune_budget.cpp
    void searchForBudget();
    TuneChoice fill(TuneChoice choice, std::optional<std::size_t> fixed);
    TuneChoice loweredToBudget();
    void improveWithinBudget(TuneChoice& choice);
    bool isBetter(const TuneChoice& a, const TuneChoice& b);

    Session& m_session;
    TuneOptions m_options;
    const CancelToken& m_cancel;
    TuneMeasurements m_measured;
    const QuantizationConfig m_config;
    const bool m_rulesFixed;
    TuneNumbers m_here;                      ///< of the current choice
    std::vector<std::vector<Gain>> m_gains;  ///< by candidate and option
    double m_goal = 0;
    std::size_t m_steps = 0;
    TuneEnd m_end = TuneEnd::Finished;
    std::string m_failure;  ///< message of TuneEnd::Failed
};

/// The choice after a move.
inline TuneChoice after(TuneChoice choice, std::size_t candidate, std::uint16_t option) {
    choice[candidate] = option;
    return choice;
}

}  // namespace quantloupe
