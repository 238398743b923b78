// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluations of a search (each choice of precisions only once), and the limits that end it. Internal to
// engine/search.

#include <map>

#include "search/tune_candidates.h"
#include "search/tune_store.h"
#include "session/stopwatch.h"

namespace quantloupe {

/// Thrown when a limit is reached.
struct TuneLimit {
    TuneEnd end;
};

class TuneMeasurements {
  public:
    TuneMeasurements(Session& session, const TuneOptions& options, const CancelToken& cancel);

    /// Sets the configuration whose layers change from now on. The first one is the user's.
    void start(const QuantizationConfig& config, const std::string& transforms);

    const std::vector<TuneCandidate>& candidates() const { return m_starts.back().candidates.list; }
    const QuantizationConfig& config() const { return m_starts.back().config; }
    bool hasLeaveOneOut(std::size_t candidate) const;  ///< whether the session has already measured it

    /// The cheapest and the most precise option of every candidate.
    TuneChoice cheapest() const { return TuneChoice(candidates().size(), 0); }
    TuneChoice mostPrecise() const;

    /// Evaluates on all samples. Throws TuneLimit, Cancelled, as do the other evaluations.
    TuneNumbers measure(const TuneChoice& choice) { return evaluated(choice, true); }
    /// Evaluates the most precise choice, the best that can be reached. Does not add a point to the curve.
    TuneNumbers measureMostPrecise() { return evaluated(mostPrecise(), false); }
    /// Evaluates on the rough samples only.
    TuneNumbers measureRoughly(const TuneChoice& choice);
    /// Evaluates on all samples and keeps the activations, so that evaluating similar choices next is fast.
    TuneNumbers measureAndKeep(const TuneChoice& choice);

    double weightOf(const TuneChoice& choice) const;
    double costOf(const TuneChoice& choice) const;
    /// The smallest cost of all choices evaluated so far whose drop is at most `drop`; infinite if there is
    /// none.
    double cheapestWithin(double drop) const;
    /// The local sensitivity (QS) of each candidate in the configuration.
    const std::vector<double>& sensitivities();
    std::size_t evaluations() const { return m_evaluations; }
    double seconds() const { return m_watch.seconds(); }
    /// Returns the curve and the chosen point, but not how the search ended.
    TuneResult result() const;
    /// Saves the measurements, if the options name a file. Throws Error.
    void save() { m_store.save(); }

  private:
    struct Start {
        QuantizationConfig config;
        std::string transforms;
        TuneCandidates candidates;
    };
    struct Record {
        std::size_t start = 0;
        TuneChoice choice;
        TuneMeasurement measured;
        FloatShare share;
        double cost = 0;
    };
    void recordUnchanged(Start start);
    QuantizationConfig configOf(std::size_t start, const TuneChoice& choice) const;
    QuantizationConfig currentConfig(const TuneChoice& choice) const {
        return configOf(m_starts.size() - 1, choice);
    }
    std::optional<TuneMeasurement> stored(const TuneChoice& choice, bool rough);
    TuneMeasurement tried(const TuneChoice& choice, Depth depth);
    TuneNumbers evaluated(const TuneChoice& choice, bool onCurve);
    TuneMeasurement measurementOf(const Evaluation& evaluation) const;
    TuneNumbers record(const TuneChoice& choice, const TuneMeasurement& measured);
    TuneNumbers recordAndStore(const TuneChoice& choice, const Evaluation& evaluation);
    void checkLimits() const;
    std::vector<const Record*> front() const;
    TunePoint pointOf(const Record& record) const;

    Session& m_session;
    const TuneOptions& m_options;
    const CancelToken& m_cancel;
    Stopwatch m_watch;
    TuneStore m_store;
    std::vector<Start> m_starts;
    EvaluationPtr m_base;
    std::map<TuneChoice, TuneNumbers> m_known, m_roughly;  ///< of the current start
    std::vector<double> m_sensitivities;                   ///< of the current start; empty: not yet measured
    std::vector<Record> m_records;
    std::vector<std::string> m_notices;
    bool m_exact = true;  ///< whether an experiment is as exact as an evaluation
    std::size_t m_evaluations = 0;
};

}  // namespace quantloupe
