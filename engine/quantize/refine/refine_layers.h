// SPDX-License-Identifier: Apache-2.0
#pragma once
// Learned rounding and bias correction, layer after layer: each sees its inputs as the refined layers before it make them.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result_cache.h"
#include "quantize/plan.h"
#include "runtime/batch_runner.h"

namespace quantloupe {

/// What was found for a layer.
struct LayerRefinement {
    std::vector<std::int32_t> codes;  ///< empty: those rounded to nearest
    std::vector<float> bias;          ///< empty: the graph's
};

/// By what the layer reads in both networks, its weight, scheme and options: after a change, the layers before it are found again.
/// One thread.
class RefinementCache {
  public:
    ResultCache<LayerRefinement> byContent{256};
    /// The last ones found for the layer's weight and scheme, whatever the layers before it were.
    ResultCache<LayerRefinement> latest{256};
    std::size_t computed = 0;  ///< layers that were not found here, since the start: for tests
    void clear();
    /// Drops what was unused for longest; returns the bytes of what is left.
    std::size_t shrink(std::size_t mostBytes);
};

struct RefineContext {
    const SampleBatches* samples = nullptr;  ///< to calibrate; null: no layer needs any (see needsSamples())
    /// Binds a program for all samples, starting where values are kept.
    std::function<BoundProgram(ProgramSpec)> bind;
    /// The version of a tensor of a program.
    std::function<Version(const ProgramSpec&, TensorId)> versionOf;
    RefinementCache& cache;
    /// Takes what was found for a layer last, if there is anything, although the layers before it may be others: for experiments.
    bool takeLatest = false;
    const RunControl& control;  ///< progress counts layers
};

bool needsSamples(const RefineOptions& options);

/// Refines the quantized layers of `plan`, which has none refined. Appends to `notices` what could not be. Deterministic for any number of
/// threads. Throws Cancelled; what is in the cache by then is kept.
Refinements refineLayers(const Plan& plan, const RefineOptions& options, const RefineContext& context,
                         std::vector<std::string>& notices);

}  // namespace quantloupe
