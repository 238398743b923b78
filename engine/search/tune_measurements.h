// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluations of a search, each set of layers only once, and the limits that end it. Internal to
// engine/search.

#include <map>
#include <set>

#include "search/tune.h"
#include "session/stopwatch.h"

namespace quantloupe {

/// Layers that are kept in float together, none of which is locked.
struct TuneCandidate {
    NodeId owner;
    std::vector<std::string> layers;
    FloatShare cost;
    /// Share of the cost of all candidates. A twentieth of it is by number of layers because a layer without
    /// MACs is not free either: values are converted around it.
    double weight = 0;
};

using TuneSet = std::set<std::size_t>;  ///< indices of candidates

struct TuneNumbers {
    double drop = 0, noise = 0, metric = 0;
};

/// Thrown when a limit is reached.
struct TuneLimit {
    TuneEnd end;
};

class TuneMeasurements {
  public:
    TuneMeasurements(Session& session, const TuneOptions& options, const CancelToken& cancel)
        : m_session(session), m_options(options), m_cancel(cancel) {}

    /// Sets the configuration to which the sets are added from now on. The first one is the user's.
    void start(const QuantizationConfig& config, const std::string& transforms);

    const std::vector<TuneCandidate>& candidates() const { return m_candidates; }
    const QuantizationConfig& config() const { return m_starts.back().config; }
    const Evaluation& base() const { return *m_base; }
    bool hasLeaveOneOut(std::size_t candidate) const;  ///< whether the session has already measured it

    /// Evaluates on all samples. Throws TuneLimit, Cancelled, as do the other evaluations.
    TuneNumbers measure(const TuneSet& set);
    /// Evaluates with all candidates in float, the best that can be reached. Does not add a point to the
    /// curve.
    TuneNumbers everythingInFloat();
    /// Evaluates on the rough samples only.
    TuneNumbers measureRoughly(const TuneSet& set);
    /// Evaluates on all samples and keeps the activations, so that evaluating similar sets next is fast.
    TuneNumbers measureAndKeep(const TuneSet& set);

    double weightOf(const TuneSet& set) const;
    std::size_t evaluations() const { return m_evaluations; }
    double seconds() const { return m_watch.seconds(); }
    /// Returns the curve and the chosen point, but not how the search ended.
    TuneResult result() const;

  private:
    struct Start {
        QuantizationConfig config;
        std::string transforms;
    };
    struct Record {
        std::size_t start = 0;
        TuneSet set;
        Accuracy accuracy;
        double drop = 0;
        std::optional<RateInterval> interval;
        FloatShare cost;
        std::size_t transitions = 0;
    };
    void findCandidates();
    QuantizationConfig configOf(std::size_t start, const TuneSet& set) const;
    std::vector<std::string> layersOf(const TuneSet& set) const;
    EvaluationPtr tried(const TuneSet& set, Depth depth);
    TuneNumbers record(const TuneSet& set, const Evaluation& evaluation);
    void checkLimits() const;
    std::vector<const Record*> front() const;
    TunePoint pointOf(const Record& record) const;

    Session& m_session;
    const TuneOptions& m_options;
    const CancelToken& m_cancel;
    Stopwatch m_watch;
    std::vector<Start> m_starts;
    EvaluationPtr m_base;
    FloatShare m_quantized;
    std::vector<std::string> m_locked;
    std::vector<TuneCandidate> m_candidates;
    std::map<TuneSet, TuneNumbers> m_known, m_roughly;  ///< of the current start
    std::vector<Record> m_records;
    std::vector<std::string> m_notices;
    bool m_exact = true;  ///< whether an experiment is as exact as an evaluation
    std::size_t m_evaluations = 0;
};

}  // namespace quantloupe
