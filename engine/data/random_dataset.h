// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples made of noise, for a network that nobody has data for.
//
// They exercise every layer, so SQNR and sensitivities can be computed, but ranges, accuracy and even the order of the
// layers are not those of real data: whoever shows such numbers must say so.
//
// - float32: standard normal (preprocessed images have about this spread);
// - an input whose name contains "mask", and bool: all ones (nothing is masked out);
// - integers that index the rows of a constant table (Gather): uniform over the rows; uint8 and int8: uniform over the
//   type, as pixels; other integers: 0 or 1.
// Each value is a hash of seed, sample, input and position: independent of threads and of the order in which samples
// are asked for.

#include <cstdint>

#include "data/dataset.h"

namespace quantloupe {

/// `samples` samples in the shapes of the graph's inputs, free dimensions 1, without labels. Throws Error naming an
/// input whose shape the model does not say, or whose type is neither float32, integer nor bool.
DatasetPtr randomDataset(const Graph& graph, std::size_t samples, std::uint64_t seed);

}  // namespace quantloupe
