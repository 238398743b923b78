// SPDX-License-Identifier: Apache-2.0
#pragma once
// Applies the NPU's rules (npu_positions.h) to a plan.

#include "quantize/plan.h"

namespace quantloupe {

/// Tensors whose scales change, with their new scales, and notices that say why.
struct NpuMoves {
    std::unordered_map<TensorId, float> activations, constants;
    std::vector<std::string> notices;
};

/// Applies the rules to all quantized tensors whose scales are powers of two. Constants keep their codes, as
/// in Quark: if the position of a weight changes by n, its values are multiplied by 2^-n, and a notice says
/// so.
NpuMoves npuMoves(const Plan& plan, const NpuPositions& rules);

/// Returns a constant with the same codes and another scale, hence other values.
ConstantQuantizer withScale(const ConstantQuantizer& known, float scale);

}  // namespace quantloupe
