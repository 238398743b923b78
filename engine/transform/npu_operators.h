// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the operators that AMD's NPU computes differently from ONNX into the graph.

#include "transform/prepare.h"

namespace quantloupe {

/// The ratio of the NPU's mean over `count` values to the exact mean: count * k / 2^n, where k / 2^n
/// approximates 1 / count. Square kernels of 3, 5, 6, 7 and 14 have a k / 2^n of their own; for kernels with
/// a side over 255 the ratio is 1. A mean over one row of values (ReduceMean) has `height` 1.
double npuMeanFactor(std::int64_t height, std::int64_t width, bool square);

/// Changes graph, sourceOf, outputStatistics, layerMappings and junctions of `prepared`, and describes each
/// change in the note of the layer's mapping. Shapes must be known; otherwise a notice says so. `skipped`:
/// one flag per source node (empty: none) for layers that are not changed. Any thread.
Prepared withNpuOperators(Prepared prepared, const NpuOperators& options, const std::vector<bool>& skipped);

}  // namespace quantloupe
