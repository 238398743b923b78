// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scales of weights that tools raise once ranges are known, so that 32-bit sums hold the bias.

#include <optional>

#include "quantize/quantizer.h"

namespace quantloupe {

struct RaisedScalesInput {
    const ConstantQuantizer& weight;
    const Constant* bias = nullptr;           ///< null: none
    float inputScale = 1;
    const TensorQuantizer* output = nullptr;  ///< null: the layer's own output is not quantized (its activation's is, or nothing)
    bool quantizedBias = false;               ///< to int32
};

/// As many scales as `weight` has; nothing where none is raised, or where `tool` is neither Aimet nor OnnxRuntime. Any thread.
std::optional<std::vector<float>> raisedScales(OperatorSet tool, const RaisedScalesInput& layer);

}  // namespace quantloupe
