// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random samples for a network without data.
//
// They exercise every layer, so SQNR and sensitivities can be computed. But ranges, accuracy and even the
// ranking of the layers are not those of real data, and callers that show such numbers must say so.
//
// - float32: standard normal (preprocessed images have about this distribution);
// - an input whose name contains "mask", and bool: all ones (nothing is masked out);
// - integers that index the rows of a constant table (Gather): uniform over the rows; uint8 and int8: uniform
//   over the type, like pixels; other integers: 0 or 1.
// Each value is a hash of seed, sample, input and position, independent of threads and of the order of
// access.

#include <cstdint>

#include "data/dataset.h"

namespace quantloupe {

/// Returns `samples` samples in the shapes of the graph's inputs, with the sizes of assumedInputDims(),
/// without labels. Throws Error naming an input whose shape is unknown or whose type is neither float32,
/// integer nor bool.
DatasetPtr randomDataset(const Graph& graph, std::size_t samples, std::uint64_t seed);

}  // namespace quantloupe
