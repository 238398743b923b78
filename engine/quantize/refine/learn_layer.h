// SPDX-License-Identifier: Apache-2.0
#pragma once
// Learned rounding and empirical bias correction of one layer, given samples of what it reads.

#include "quantize/quantizer.h"
#include "quantize/refine/layer_samples.h"

namespace quantloupe {

struct LearnTask {
    const LayerRows& shape;
    std::span<const float> weight;              ///< exact
    const ConstantQuantizer& nearest;           ///< the weight's scales and codes
    const std::vector<GroupMoments>& moments;
};

/// The code of each weight. Throws Cancelled.
std::vector<std::int32_t> learnCodes(const LearnTask& task, const RunControl& control);

/// What the mean of each output channel lacks with `rounded` in the place of the weight: to be added to the bias.
std::vector<double> lackingMeans(const LearnTask& task, std::span<const float> rounded);

/// `nearest` with other codes.
std::shared_ptr<const ConstantQuantizer> withCodes(const ConstantQuantizer& nearest, const std::vector<std::int32_t>& codes);

}  // namespace quantloupe
