// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of refinement, by tensor of the prepared graph.

#include <memory>
#include <unordered_map>

#include "model/ids.h"
#include "quantize/quantizer.h"

namespace quantloupe {

struct Refinements {
    /// Float biases that replace those of the graph before they are quantized.
    std::unordered_map<TensorId, ConstantPtr> biases;
    /// Quantized weights that replace those rounded to nearest.
    std::unordered_map<TensorId, std::shared_ptr<const ConstantQuantizer>> weights;
};

}  // namespace quantloupe
