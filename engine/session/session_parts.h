// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts that a session consists of. Internal to engine/session: other folders use session/session.h and
// the functions of the stages and studies (tests/engine/architecture_test.cpp checks that).

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "base/memory_limit.h"
#include "session/caches/evaluation_results.h"
#include "session/network_runner.h"
#include "session/pipeline.h"
#include "session/session.h"
#include "session/session_samples.h"
#include "session/studies/effect_model.h"

namespace quantloupe {

/// The metric of the user.
struct SessionMetric {
    std::optional<UserMetric> metric;
    std::size_t changes = 0;  ///< identifies `metric` in cached results
};

/// A stage or study that uses only some of the parts takes these.
struct SessionParts {
    SessionParts(Session& session, LoadedModel loaded, SessionOptions sessionOptions);

    Session& session;  ///< for studies that evaluate other configurations
    const LoadedModel model;
    const SessionOptions options;
    std::size_t memoryBudget;  ///< bytes for everything kept between evaluations

    SessionMetric metric;
    SessionSamples samples;
    NetworkRunner runner;
    Pipeline pipeline;
    EvaluationResults results;
    EditPredictor predictor;
    WorkDone work;  ///< `calibrated` and `refined` are counted by the pipeline

    /// Pipeline::prepare() and plan() for a configuration whose threshold rules may not be measured yet.
    std::shared_ptr<const Prepared> prepare(const QuantizationConfig& config);
    std::shared_ptr<const Plan> plan(const QuantizationConfig& config, const RunControl& control);

    /// Drops the least recently used results so that the rest fits into the budget. The caller must not hold
    /// references into a cache.
    void limitCaches();
    std::size_t cacheBytes();
    /// Also restores the budget.
    void clear();
    /// Calls `task` and returns its result. If there is not enough memory for it, drops everything that is
    /// kept, reduces the budget to a quarter of that, and calls it again, until the budget is 0. Not in a
    /// group, whose processes must keep the same tensors. The caller must not hold references into a cache.
    template <typename Task>
    auto withFreedMemory(const Task& task) {
        for (;;) {
            try {
                return task();
            } catch (const OutOfMemory&) {
                if (!freeMemory()) throw;
            } catch (const std::bad_alloc&) {
                if (!freeMemory()) throw;
            }
        }
    }
    /// Says by how much the budget was reduced; empty if it was not.
    std::string memoryNotice() const;
    /// Drops all results that depend on the metric of the user.
    void clearMetric();

    /// Call in a catch (...) block: rethrows the exception with the model's name.
    [[noreturn]] void rethrowWithModel() const;

  private:
    /// With a budget, shrinks each cache to its share of it. Returns the bytes of all caches except
    /// activations.
    std::size_t visitCaches(std::optional<std::size_t> budget);
    /// Drops everything that is kept, and reduces the budget. Returns false if it is 0 already.
    bool freeMemory();

    const std::size_t m_fullBudget = memoryBudget;
    int m_evaluationsSinceTrim = 0;
};

/// Returns the parts of a session. Declared as a friend in session.h.
SessionParts& partsOf(Session& session);

}  // namespace quantloupe
