// SPDX-License-Identifier: Apache-2.0
#pragma once
// The passes over the samples that an evaluation is made of. Internal to engine/session.

#include <unordered_map>

#include "analysis/task_metrics.h"
#include "quantize/plan.h"
#include "session/resumable_run.h"

namespace quantloupe {

/// The outputs of a network for each sample: all that can be compared side by side, those of float32 that depend on the
/// samples. Others (indices of a TopK, anchors that are the same for all) are left out.
struct NetworkOutputs {
    bool task = true;                    ///< graph outputs; false: the tensors that the evaluated part of a network ends in
    std::vector<std::size_t> compared;   ///< indices of the ends; as many as descs and widths
    std::vector<TensorDesc> descs;       ///< of each, for one batch
    std::vector<std::size_t> widths;     ///< elements a sample of each output
    std::size_t rowWidth = 0;
    std::vector<float> values;           ///< samples x rowWidth
    std::size_t known = 0;               ///< samples that are there, from the first
    bool complete(std::size_t samples) const { return known >= samples; }
    const float* row(std::size_t sample) const { return values.data() + sample * rowWidth; }
};

/// An output as it is taken apart by sample: where the data flow does not tell the samples apart, which happens only in
/// models that fix a batch of several, they are the first dimension if that has the batch's extent.
TensorDesc outputDesc(TensorDesc desc, const SampleBatches& batches);

/// Runs chunks [begin, end) and stores their outputs, the tensors `ends`. `outputs` grows from run to run. Throws Error
/// if none can be compared.
void runOutputs(const BoundProgram& program, const std::vector<TensorId>& ends, const SampleBatches& batches,
                std::size_t begin, std::size_t end, const RunControl& control, NetworkOutputs& outputs);

/// Compares the first `samples` rows with the labels and with the reference.
Accuracy accuracyOf(const NetworkOutputs& outputs, const NetworkOutputs& reference, const Dataset& dataset,
                    std::size_t samples);

/// The class of each of the first `samples` rows; empty unless the first output is a vector a sample.
std::vector<std::int32_t> classesOf(const NetworkOutputs& outputs, std::size_t samples);

/// Differences of units' outputs from the prepared float network, over all samples.
struct UnitDifferences {
    std::vector<DifferenceSums> local, cumulative;  ///< as many as were wanted, in that order
};
/// Local: of each of these units alone. Cumulative: of the whole quantized network, at these units.
UnitDifferences measureUnits(const Plan& plan, const std::vector<std::size_t>& local,
                             const std::vector<std::size_t>& cumulative, const SampleBatches& batches,
                             const ResumeOptions& options, const std::shared_ptr<KernelCache>& kernels,
                             const RunControl& control);

}  // namespace quantloupe
