// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of refinement, by tensor of the prepared graph.

#include <memory>
#include <unordered_map>

#include "model/ids.h"
#include "quantize/quantizer.h"

namespace quantloupe {

struct Refinements {
    /// float biases to quantize instead of those of the graph
    std::unordered_map<TensorId, ConstantPtr> biases;
    /// replace the weights rounded to nearest
    std::unordered_map<TensorId, std::shared_ptr<const ConstantQuantizer>> weights;
};

}  // namespace quantloupe
