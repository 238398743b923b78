// SPDX-License-Identifier: Apache-2.0
#pragma once
// What AMD's NPU computes otherwise than ONNX says, written into the graph.

#include "transform/prepare.h"

namespace quantloupe {

/// What the NPU's mean over `count` values has to be multiplied by: count * k / 2^n for the k / 2^n that stands in for 1 / count. The
/// kernels of 3, 5, 6, 7 and 14 in square have k / 2^n of their own; kernels with a side over 255 none (1). A mean over one row of
/// values (ReduceMean) has `height` 1.
double npuMeanFactor(std::int64_t height, std::int64_t width, bool square);

/// Changes graph, sourceOf, outputStatistics, layerMappings, junctions of `prepared`, and tells in a layer's mapping what became of it. Shapes must be
/// known; where they are not, a notice says so. `skipped`: one entry a source node (empty: none) for layers that are left alone. Any
/// thread.
Prepared withNpuOperators(Prepared prepared, const NpuOperators& options, const std::vector<bool>& skipped);

}  // namespace quantloupe
