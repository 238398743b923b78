// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by all runs of networks on the evaluation samples: workers, compiled kernels, shapes, and the stored
// activations that later runs resume from. Internal to engine/session.

#include <memory>
#include <optional>

#include "base/result_cache.h"
#include "model/layer_cost.h"
#include "session/caches/activation_store.h"
#include "session/caches/cache_visitor.h"
#include "session/caches/resumable_run.h"
#include "session/session_samples.h"

namespace quantloupe {

/// Not thread-safe; its workers are threads of their own.
class NetworkRunner {
  public:
    /// Uses `threads` and `group` of the options. `memory`: the first limit of stored activations, in bytes.
    NetworkRunner(GraphPtr source, SessionSamples& samples, const SessionOptions& options,
                  std::size_t memory);

    /// For runs that every process of the group makes on all samples.
    RunControl control(const CancelToken& cancel) const { return {m_workers, cancel, {}}; }
    /// For runs that are shared with the group (shareChunks in base/process_group.h).
    RunControl sharedControl(const CancelToken& cancel) const {
        return {m_workers, cancel, {}, m_group.get()};
    }

    /// Returns the options for resuming `graph` on the evaluation samples. For passes that every process of
    /// the group runs on all samples: with a group, there are no stored activations to resume from.
    ResumeOptions resumeOptions(const GraphPtr& graph);
    /// The same on calibration samples, whose inputs may have other sizes.
    ResumeOptions calibrationOptions(const GraphPtr& graph, const CalibrationSamples& samples);
    /// Returns the options for passes that are shared with the group: runOutputs(), measureUnits() and others
    /// that exchange their results.
    ResumeOptions sharedResumeOptions(const GraphPtr& graph);

    /// Packed weights of all networks.
    const std::shared_ptr<KernelCache>& kernels() const { return m_kernels; }
    /// The source graph's shapes for the evaluation samples; empty until it has been compiled for them.
    const MeasuredShapes& sourceShapes() const { return m_sourceShapes; }
    /// Returns the shapes of the source graph with the input sizes of assumedInputDims(); none if it does not
    /// compile for them.
    const MeasuredShapes& assumedShapes();

    const ActivationStore& activations() const { return m_activations; }
    void clear();
    /// `weights`: bytes of the source graph's constants. Does not count activations.
    void visitCaches(CacheVisitor& visitor, std::size_t weights);
    void nextEvaluation() { m_activations.nextEvaluation(); }
    void limitActivations(std::size_t bytes) { m_activations.setBudget(bytes); }

  private:
    const GraphShapes& shapesFor(const GraphPtr& graph);
    const GraphShapes& shapesFor(const GraphPtr& graph, const SampleBatches& batches);

    GraphPtr m_source;
    SessionSamples& m_samples;
    std::shared_ptr<ProcessGroup> m_group;
    Workers m_workers;
    std::shared_ptr<KernelCache> m_kernels = std::make_shared<KernelCache>();
    ActivationStore m_activations;
    ActivationStore m_noActivations{0};
    ResultCache<std::shared_ptr<const GraphShapes>> m_shapes{16};  ///< by graph and input sizes
    MeasuredShapes m_sourceShapes;
    std::optional<MeasuredShapes> m_assumedShapes;  ///< empty: not computed yet
};

}  // namespace quantloupe
