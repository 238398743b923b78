// SPDX-License-Identifier: Apache-2.0
#pragma once
// What AMD's NPU asks of scales that are powers of two: a scale is 2^-position, and positions that meet in an operator must not be too
// far apart, since the hardware shifts integers between them.

#include <string>
#include <vector>

#include "config/quantization_config.h"

namespace quantloupe {

/// An operator as the rules see it: places in a list of positions. -1: not quantized, or not with a power of two.
struct NpuOperator {
    std::string op;  ///< Conv, Add, Concat...
    std::vector<int> inputs;
    int output = -1, weight = -1, bias = -1;
    bool leaky = false;  ///< a LeakyRelu runs inside
    bool swish = false;  ///< a Mul of x and HardSigmoid(x)
};

/// Changes `positions` until no rule that is on is broken, or max_loops rounds are over (false is returned then). Tensors that share a
/// scale share a place in the list.
bool adjustPositions(const std::vector<NpuOperator>& operators, const NpuPositions& rules, std::vector<int>& positions);

/// One of the rules is on.
bool anyRule(const NpuPositions& rules);

}  // namespace quantloupe
