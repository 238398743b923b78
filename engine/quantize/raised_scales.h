// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weight scales that are changed after calibration for the sake of the bias: so that it fits into the 32-bit
// accumulator, or so that it is not rounded to large steps.

#include <optional>

#include "quantize/quantizer.h"

namespace quantloupe {

struct RaisedScalesInput {
    const ConstantQuantizer& weight;
    const Constant* bias = nullptr;  ///< null: none
    float inputScale = 1;
    const TensorQuantizer* output = nullptr;  ///< null: the layer's own output is not quantized
    bool quantizedBias = false;               ///< to int32
};

/// Returns as many scales as `weight` has; empty if none is changed or `tool` is Quark. May be called from
/// any thread.
std::optional<std::vector<float>> raisedScales(OperatorSet tool, const RaisedScalesInput& layer);

}  // namespace quantloupe
