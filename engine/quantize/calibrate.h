// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranges of activations, streamed over the calibration data: memory does not grow with the number of samples.

#include <unordered_map>

#include "runtime/batch_runner.h"
#include "transform/prepare.h"

namespace quantloupe {

struct TensorRange {
    float min = 0, max = 0;
};
/// By tensor of the prepared graph.
using Statistics = std::unordered_map<TensorId, TensorRange>;

/// Minimum and maximum of each tensor over all samples. Throws Error naming the tensor and the sample's batch where a value is NaN or
/// infinite.
Statistics calibrateMinMax(const Prepared& prepared, const std::vector<TensorId>& tensors, const SampleBatches& batches,
                           const RunControl& control);

}  // namespace quantloupe
