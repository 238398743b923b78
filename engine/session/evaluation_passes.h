// SPDX-License-Identifier: Apache-2.0
#pragma once
// The passes over the samples that an evaluation is made of. Internal to engine/session.

#include <unordered_map>

#include "analysis/task_metrics.h"
#include "quantize/plan.h"
#include "runtime/batch_runner.h"

namespace quantloupe {

/// What a network said about each sample: all outputs of a sample side by side.
struct NetworkOutputs {
    std::vector<TensorDesc> descs;       ///< of each graph output, for one batch
    std::vector<std::size_t> widths;     ///< elements a sample of each output
    std::size_t rowWidth = 0;
    std::vector<float> values;           ///< samples x rowWidth
    std::size_t known = 0;               ///< samples that are there, from the first
    bool complete(std::size_t samples) const { return known >= samples; }
    const float* row(std::size_t sample) const { return values.data() + sample * rowWidth; }
};

/// Runs chunks [begin, end) and stores their outputs. `outputs` grows from run to run. Throws Error if an output is not float32
/// or has no batch dimension.
void runOutputs(const std::shared_ptr<const Program>& program, const Graph& graph, const SampleBatches& batches,
                std::size_t begin, std::size_t end, const RunControl& control, NetworkOutputs& outputs);

/// Compares the first `samples` rows with the labels and with the reference.
Accuracy accuracyOf(const NetworkOutputs& outputs, const NetworkOutputs& reference, const Dataset& dataset,
                    std::size_t samples);

/// Differences of each unit's output from the prepared float network, over all samples.
struct UnitDifferences {
    std::vector<DifferenceSums> local, cumulative;  ///< one a unit
};
/// `wanted` units get their local difference measured; all units their cumulative one.
UnitDifferences measureUnits(const Plan& plan, const std::vector<std::size_t>& wanted, const SampleBatches& batches,
                             const RunControl& control);

}  // namespace quantloupe
