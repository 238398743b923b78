// SPDX-License-Identifier: Apache-2.0
#pragma once
// Largest magnitude of each channel of an activation, streamed over samples.

#include <unordered_map>
#include <vector>

#include "runtime/program/batch_runner.h"
#include "transform/prepare.h"

namespace quantloupe {

/// The largest |x| of each channel (last axis) of a tensor over all samples.
using ChannelMaxima = std::unordered_map<TensorId, std::vector<float>>;

/// Measures the maxima in the float network. The result does not depend on the number of threads. Throws
/// Error naming tensor and sample for NaN or infinity; Cancelled.
ChannelMaxima measureChannelMaxima(const Prepared& prepared, const std::vector<TensorId>& tensors,
                                   const SampleBatches& batches, const RunControl& control);

}  // namespace quantloupe
