// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pass over the samples that sets units' outputs beside their float reference. Internal to engine/session.

#include <functional>

#include "quantize/plan.h"
#include "session/layer_metrics.h"
#include "session/resumable_run.h"
#include "session/source_reference.h"

namespace quantloupe {

/// A unit's output for one chunk, twice; float32.
struct ComparedTensor {
    std::size_t index;  ///< into UnitComparison::local or cumulative
    std::size_t chunk, worker;
    const float *reference, *tested;
    const TensorDesc& desc;  ///< of both
    std::size_t elements;    ///< of the samples that are really there, from the first
    std::size_t samples;     ///< that `elements` splits into; 1 for a tensor without a batch dimension
    const Workspace& floating;  ///< the prepared float network's: the units' inputs
};

struct UnitComparison {
    const Plan& plan;
    const SampleBatches& batches;
    const ResumeOptions& options;  ///< of the prepared graph
    const std::shared_ptr<KernelCache>& kernels;

    QuantizedParts parts = QuantizedParts::Both;
    const SourceReference* source = nullptr;        ///< not null: compare with the source graph
    const ResumeOptions* sourceOptions = nullptr;   ///< of the source graph, with `source`
    /// Units. Local: each alone, on the prepared float network's inputs. Cumulative: of the whole quantized network.
    std::vector<std::size_t> local{}, cumulative{};
    /// Called on the workers, in any order, a chunk's calls one after the other. Not called for tensors that are not
    /// float32 and, with `source`, for those that have no counterpart there.
    std::function<void(const ComparedTensor&)> compareLocal{}, compareCumulative{};
};

/// In several passes over the samples where one would hold more of their tensors than the budget of activations allows. Throws Error,
/// Cancelled.
void compareUnits(const UnitComparison& wanted, const RunControl& control);

}  // namespace quantloupe
