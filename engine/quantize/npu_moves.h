// SPDX-License-Identifier: Apache-2.0
#pragma once
// The NPU's rules (npu_positions.h) on a plan.

#include "quantize/plan.h"

namespace quantloupe {

/// What gets another scale, and why.
struct NpuMoves {
    std::unordered_map<TensorId, float> activations, constants;
    std::vector<std::string> notices;
};

/// The rules see only what is quantized now, and scales that are powers of two. Constants keep their codes, as Quark leaves them: a weight
/// that moves by n positions becomes 2^-n times as large, which a notice says.
NpuMoves npuMoves(const Plan& plan, const NpuPositions& rules);

/// The same codes with another scale: other values.
ConstantQuantizer withScale(const ConstantQuantizer& known, float scale);

}  // namespace quantloupe
