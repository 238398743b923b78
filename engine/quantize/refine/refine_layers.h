// SPDX-License-Identifier: Apache-2.0
#pragma once
// Learned rounding and bias correction, layer by layer: each layer is refined with the inputs that the
// already refined layers before it produce.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result_cache.h"
#include "quantize/plan.h"
#include "runtime/program/batch_runner.h"

namespace quantloupe {

/// Result for one layer.
struct LayerRefinement {
    std::vector<std::int32_t> codes;  ///< empty: the codes rounded to nearest
    std::vector<float> bias;          ///< empty: the bias of the graph
    bool empty() const { return codes.empty() && bias.empty(); }
};

/// Cache of results, keyed by the layer's inputs in both networks, its weight, scheme and options, so that
/// after an edit the layers before it are reused. Not thread-safe.
class RefinementCache {
  public:
    ResultCache<LayerRefinement> byContent{256};
    /// The latest results by the layer's weight, scheme and RefineContext::settings, regardless of the layers
    /// before it.
    ResultCache<LayerRefinement> latest{256};
    Version latestOf;          ///< the network whose refinement the latest results began with
    std::size_t computed = 0;  ///< number of cache misses since the start, for tests
    void clear();
    /// Drops the least recently used entries until at most `mostBytes` are left; returns the bytes left.
    std::size_t shrink(std::size_t mostBytes);
};

struct RefineContext {
    /// Calibration samples; null if no layer needs them (see needsSamples()).
    const SampleBatches* samples = nullptr;
    /// Binds a program for all samples that resumes from stored activations.
    std::function<BoundProgram(ProgramSpec)> bind;
    /// Returns the version of a tensor of a program.
    std::function<Version(const ProgramSpec&, TensorId)> versionOf;
    RefinementCache& cache;
    /// Reuses the latest result for a layer, if there is one, even if the layers before it have changed. For
    /// experiments.
    bool takeLatest = false;
    Version settings = {};      ///< of everything except which layers are quantized with how many bits
    const RunControl& control;  ///< progress counts layers
};

bool needsSamples(const RefineOptions& options);

/// Refines the quantized layers of `plan`, in which no layer may be refined yet. Appends a notice for each
/// layer that cannot be refined. Deterministic for any number of threads. Throws Cancelled; results computed
/// by then stay in the cache.
Refinements refineLayers(const Plan& plan, const RefineOptions& options, const RefineContext& context,
                         std::vector<std::string>& notices);

}  // namespace quantloupe
