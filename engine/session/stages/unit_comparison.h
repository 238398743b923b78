// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pass over the samples that compares the units' outputs with their float reference. Internal to
// engine/session.

#include <functional>

#include "quantize/plan.h"
#include "session/caches/resumable_run.h"
#include "session/stages/layer_metrics.h"
#include "session/stages/source_reference.h"

namespace quantloupe {

struct NetworkOutputs;

/// A unit's output for one chunk together with its reference, both float32.
struct ComparedTensor {
    std::size_t index;  ///< into UnitComparison::local or cumulative
    std::size_t chunk, worker;
    const float *reference, *tested;
    const TensorDesc& desc;     ///< of both
    std::size_t elements;       ///< without padding samples
    std::size_t samples;        ///< number of samples in `elements`; 1 for a tensor without a batch dimension
    const Workspace& floating;  ///< of the prepared float network; contains the units' inputs
    /// With UnitComparison::readsCodes: if not null, `tested` is null, and these are its codes.
    const std::uint8_t* codes = nullptr;
    const FakeQuant* quantizer = nullptr;  ///< of the codes
};

struct UnitComparison {
    const Plan& plan;
    const SampleBatches& batches;
    const ResumeOptions& options;  ///< of the prepared graph
    const std::shared_ptr<KernelCache>& kernels;

    QuantizedParts parts = QuantizedParts::Both;
    const SourceReference* source = nullptr;       ///< not null: compare with the source graph
    const ResumeOptions* sourceOptions = nullptr;  ///< of the source graph, required with `source`
    /// Units to compare. Local: each run alone on the inputs of the prepared float network. Cumulative: in
    /// the whole quantized network.
    std::vector<std::size_t> local{}, cumulative{};
    /// compareLocal and compareCumulative can read tensors that are stored as codes, so these are not decoded
    /// into memory.
    bool readsCodes = false;
    /// Not null: also records these tensors of the prepared float network.
    NetworkOutputs* floatOutputs = nullptr;
    std::vector<TensorId> floatEnds{};
    /// Called on the workers, in any order; the calls for one chunk are sequential. Not called for tensors
    /// that are not float32 and, with `source`, for tensors without a counterpart there.
    std::function<void(const ComparedTensor&)> compareLocal{}, compareCumulative{};
};

/// Compares the units, in several passes over the samples if a single one would exceed the activation budget.
/// Throws Error, Cancelled.
void compareUnits(const UnitComparison& comparison, const RunControl& control);

}  // namespace quantloupe
