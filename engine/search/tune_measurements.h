// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a search measures, each set of layers once, and the limits that end it. Internal to engine/search.

#include <map>
#include <set>

#include "search/tune.h"
#include "session/stopwatch.h"

namespace quantloupe {

/// Layers that go to float together, none of which is locked.
struct TuneCandidate {
    NodeId owner;
    std::vector<std::string> layers;
    FloatShare cost;
    /// Its share of what all candidates cost, a twentieth of it by number: a layer without MACs is not for nothing either, since
    /// values are converted around it.
    double weight = 0;
};

using TuneSet = std::set<std::size_t>;  ///< candidates

struct TuneNumbers {
    double drop = 0, noise = 0, metric = 0;
};

/// Thrown where a limit is reached.
struct TuneLimit {
    TuneEnd end;
};

class TuneMeasurements {
  public:
    TuneMeasurements(Session& session, const TuneOptions& options, const CancelToken& cancel)
        : m_session(session), m_options(options), m_cancel(cancel) {}

    /// From now on sets are added to this configuration. The first is what the person has.
    void start(const QuantizationConfig& config, const std::string& transforms);

    const std::vector<TuneCandidate>& candidates() const { return m_candidates; }
    const QuantizationConfig& config() const { return m_starts.back().config; }
    const Evaluation& base() const { return *m_base; }
    bool knownAlone(std::size_t candidate) const;  ///< the session has its leave-one-out

    /// On all samples. Throws TuneLimit, Cancelled.
    TuneNumbers measure(const TuneSet& set);
    /// Of all candidates: what can be reached at all. It is no point of the curve by that.
    TuneNumbers everythingInFloat();
    TuneNumbers roughly(const TuneSet& set);
    /// On all samples, and what is measured next around this set is quick.
    TuneNumbers settle(const TuneSet& set);

    double weightOf(const TuneSet& set) const;
    std::size_t evaluations() const { return m_evaluations; }
    double seconds() const { return m_watch.seconds(); }
    /// The curve and what is chosen; nothing of how the search ended.
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
    std::map<TuneSet, TuneNumbers> m_known, m_roughly;  ///< of the start that counts
    std::vector<Record> m_records;
    std::vector<std::string> m_notices;
    bool m_exact = true;  ///< an experiment is as exact as an evaluation
    std::size_t m_evaluations = 0;
};

}  // namespace quantloupe
