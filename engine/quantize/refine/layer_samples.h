// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a layer reads in the quantized network so far, beside what it reads in the float network: the same rows of both.

#include "quantize/refine/layer_rows.h"
#include "runtime/batch_runner.h"

namespace quantloupe {

struct LayerSamples {
    LayerRows shape;
    std::size_t rows = 0;
    /// [groups][rows][columns]; of each sample the same number of positions, spread evenly.
    std::vector<float> quantized, exact;
};

/// Nothing for a layer that LayerRows does not know. Both programs must observe `input`. The same to the bit for any number of
/// threads. Memory: up to 128 MiB, whatever the number of samples. Throws Cancelled.
std::optional<LayerSamples> sampleLayer(const Graph& graph, const Unit& unit, const BoundProgram& quantized,
                                        const BoundProgram& exact, const SampleBatches& batches, const RunControl& control);

/// Moments of the inputs of a group, all float32.
struct GroupMoments {
    std::vector<double> meanQuantized, meanExact;  ///< [columns]
    std::vector<float> second;                     ///< of the quantized network's inputs with themselves, [columns, columns]
    std::vector<float> cross;                      ///< of the quantized (row) with the float network's (column)
};

/// One a group. `centred`: about the means, which are taken out of `samples`. Without `products` the means alone.
std::vector<GroupMoments> momentsOf(LayerSamples& samples, bool centred, bool products, const RunControl& control);

}  // namespace quantloupe
