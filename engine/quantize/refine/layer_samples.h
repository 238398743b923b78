// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sampled inputs of a layer: the same rows from the float network and from the network quantized so far.

#include "quantize/refine/layer_rows.h"
#include "runtime/program/batch_runner.h"

namespace quantloupe {

struct LayerSamples {
    LayerRows shape;
    std::size_t rows = 0;
    /// [groups][rows][columns]; the same number of positions from each sample, spread evenly.
    std::vector<float> quantized, exact;
};

/// Collects the samples. Empty for a layer that LayerRows does not support. Both programs must observe the
/// layer's input. The result is bit-identical for any number of threads. Memory: up to 128 MiB, regardless of
/// the number of samples. Throws Cancelled.
std::optional<LayerSamples> sampleLayer(const Graph& graph, const Unit& unit, const BoundProgram& quantized,
                                        const BoundProgram& exact, const SampleBatches& batches,
                                        const RunControl& control);

/// Moments of the inputs of one group.
struct GroupMoments {
    std::vector<double> meanQuantized, meanExact;  ///< [columns]
    std::vector<float> second;  ///< second moments of the quantized network's inputs, [columns, columns]
    /// Cross moments of the quantized network's inputs (rows) and the float network's (columns), same shape.
    std::vector<float> cross;
};

/// Returns one entry per group. With `centered`, the moments are central and the means are subtracted from
/// `samples`. Without `products`, only the means are computed.
std::vector<GroupMoments> momentsOf(LayerSamples& samples, bool centered, bool products,
                                    const RunControl& control);

}  // namespace quantloupe
