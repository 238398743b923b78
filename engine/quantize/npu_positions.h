// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constraints of AMD's NPU on power-of-two scales (2^-position). The positions of an operator's tensors must
// not be too far apart because the hardware shifts integers between them.

#include <string>
#include <vector>

#include "config/quantization_config.h"

namespace quantloupe {

/// An operator as the rules see it. The members are indices into a list of positions; -1: not quantized, or
/// the scale is not a power of two.
struct NpuOperator {
    std::string op;  ///< Conv, Add, Concat...
    std::vector<int> inputs;
    int output = -1, weight = -1, bias = -1;
    bool leaky = false;  ///< has a fused LeakyRelu
    bool swish = false;  ///< is a Mul of x and HardSigmoid(x)
};

/// Changes `positions` until all enabled rules are satisfied. Returns false if they are not after max_loops
/// rounds. Tensors that share a scale share an entry of the list.
bool adjustPositions(const std::vector<NpuOperator>& operators, const NpuPositions& rules,
                     std::vector<int>& positions);

/// Returns whether any rule is enabled.
bool anyRule(const NpuPositions& rules);

}  // namespace quantloupe
