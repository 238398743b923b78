// SPDX-License-Identifier: Apache-2.0
#pragma once
// Statistics of activations, streamed over the calibration data: memory does not grow with the number of samples, and the result depends
// neither on the number of threads nor on the batch. Ranges come first; what other methods need, in a second pass over the same
// samples, once: it takes several times as long as the ranges.

#include <set>
#include <unordered_map>

#include "quantize/calibration/calibration_method.h"
#include "runtime/batch_runner.h"
#include "transform/prepare.h"

namespace quantloupe {

/// By tensor of the prepared graph.
using Statistics = std::unordered_map<TensorId, TensorStatistics>;

/// What the methods of a configuration need beside ranges.
struct StatisticsNeeds {
    bool distribution = false;
    std::set<int> voteBits;  ///< votes for powers of two of these bits
};

/// Minimum, maximum and history of each tensor over all samples. Throws Error naming the tensor and the sample where a value is NaN or
/// infinite.
Statistics calibrateRanges(const Prepared& prepared, const std::vector<TensorId>& tensors, const SampleBatches& batches,
                           const RunControl& control);

/// Adds what is needed and not there to statistics that have ranges: in one pass over the samples, for all of `tensors` that lack
/// anything. Does nothing where nothing is missing.
void addMissingDistributions(const Prepared& prepared, const std::vector<TensorId>& tensors, const StatisticsNeeds& needs,
                             const SampleBatches& batches, const RunControl& control, Statistics& statistics);

}  // namespace quantloupe
