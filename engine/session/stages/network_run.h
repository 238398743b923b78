// SPDX-License-Identifier: Apache-2.0
#pragma once
// The outputs of one network on the evaluation samples, computed step by step. Internal to engine/session.

#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>

#include "session/stages/evaluation_passes.h"
#include "session/stages/evaluation_request.h"

namespace quantloupe {

/// One of the networks that an evaluation runs.
class NetworkRun {
  public:
    /// Continues with the outputs of earlier evaluations that have this version. `spec` observes the ends of
    /// the evaluated part. `stage` names the network in progress reports. The request must outlive the run.
    NetworkRun(const EvaluationRequest& request, ProgramSpec spec, const Version& version, const char* stage);

    /// Forgets the outputs of earlier evaluations, so that the network runs and stores its activations.
    void restart();
    /// Stores only activations with these versions from now on.
    void storeOnly(std::unordered_set<Version> versions) { m_stored = std::move(versions); }

    /// Runs the missing ones of the first `chunks` chunks. Calls `partial` with the number of samples done so
    /// far, except in a group, where other processes have some of the samples. Returns the seconds that it
    /// took. Throws Error, Cancelled.
    double run(std::size_t chunks, const std::function<void(std::size_t samples)>& partial = {});
    /// Compares the first `samples` samples, which must have been run, with their labels for detection or
    /// segmentation.
    void judge(std::size_t samples);
    /// Compares the first `samples` samples, which must have been run, with the labels and with `reference`.
    Accuracy accuracyAgainst(const NetworkRun& reference, std::size_t samples) const;

    const NetworkOutputs& outputs() const { return *m_outputs; }
    NetworkOutputs& outputs() { return *m_outputs; }

  private:
    const EvaluationRequest& m_request;
    ProgramSpec m_spec;
    Version m_version;
    const char* m_stage;
    std::shared_ptr<NetworkOutputs> m_outputs;
    std::optional<std::unordered_set<Version>> m_stored;  ///< empty: all that are worth storing
};

/// Returns a float network that observes the ends of the evaluated part.
ProgramSpec floatNetwork(SessionSamples& samples, const GraphPtr& graph);

}  // namespace quantloupe
