// SPDX-License-Identifier: Apache-2.0
#pragma once
// Learned rounding and empirical bias correction of one layer, given samples of its inputs.

#include "quantize/quantizer.h"
#include "quantize/refine/layer_samples.h"

namespace quantloupe {

struct LearnTask {
    const LayerRows& shape;
    std::span<const float> weight;     ///< the float weight
    const ConstantQuantizer& nearest;  ///< the weight's scales, and its codes rounded to nearest
    const std::vector<GroupMoments>& moments;
};

/// Returns the learned code of each weight. Throws Cancelled.
std::vector<std::int32_t> learnCodes(const LearnTask& task, const RunControl& control);

/// Returns the shift of each output channel's mean that replacing the weight with `rounded` causes, negated:
/// the correction to add to the bias.
std::vector<double> biasCorrections(const LearnTask& task, std::span<const float> rounded);

/// Returns `nearest` with other codes.
std::shared_ptr<const ConstantQuantizer> withCodes(const ConstantQuantizer& nearest,
                                                   const std::vector<std::int32_t>& codes);

}  // namespace quantloupe
