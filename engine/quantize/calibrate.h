// SPDX-License-Identifier: Apache-2.0
#pragma once
// Activation statistics, streamed over the calibration data. Memory does not grow with the number of samples,
// and the result depends neither on the number of threads nor on the batch size. The first pass collects
// ranges; methods that need more get it from a second pass over the same samples, which takes several times
// as long and runs only once.

#include <set>
#include <unordered_map>

#include "quantize/calibration/calibration_method.h"
#include "quantize/units.h"
#include "runtime/program/batch_runner.h"
#include "transform/prepare.h"

namespace quantloupe {

/// Statistics by tensor of the prepared graph.
using Statistics = std::unordered_map<TensorId, TensorStatistics>;

/// The statistics that the calibration methods of a configuration need in addition to ranges.
struct StatisticsNeeds {
    bool distribution = false;
    std::set<int> voteBits;  ///< bit widths for which power-of-two positions are voted on
};

/// Returns the minimum, maximum and history of each tensor over all samples. Shares the chunks with the group
/// of `control`.
Statistics calibrateRanges(const Prepared& prepared, const std::vector<TensorId>& tensors,
                           const SampleBatches& batches, const RunControl& control);

/// Throws Error, naming tensor, sample and layers, if a quantized unit reads or computes values that are NaN
/// or infinite; float16 has codes for them. `rangeOf`: tensors that take the range of another one.
void requireFinite(const Prepared& prepared, const UnitList& units, const Statistics& statistics,
                   const std::unordered_map<TensorId, TensorId>& rangeOf);

/// Adds the missing statistics to `statistics`, which must already contain the ranges, in one pass over the
/// samples. Does nothing if nothing is missing.
void addMissingDistributions(const Prepared& prepared, const std::vector<TensorId>& tensors,
                             const StatisticsNeeds& needs, const SampleBatches& batches,
                             const RunControl& control, Statistics& statistics);

}  // namespace quantloupe
