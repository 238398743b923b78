// SPDX-License-Identifier: Apache-2.0
#pragma once
// What refinement changed, by tensor of the prepared graph.

#include <memory>
#include <unordered_map>

#include "model/ids.h"
#include "quantize/quantizer.h"

namespace quantloupe {

struct Refinements {
    std::unordered_map<TensorId, ConstantPtr> biases;  ///< float biases to quantize instead of the graph's
    std::unordered_map<TensorId, std::shared_ptr<const ConstantQuantizer>> weights;  ///< instead of those rounded to nearest
};

}  // namespace quantloupe
