// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mean and variance of each channel of a network's tensors: told by its batch norms, or measured.

#include <map>
#include <vector>

#include "runtime/batch_runner.h"
#include "transform/prepare.h"

namespace quantloupe {

/// One value a channel (axis 1); empty: not known.
struct ChannelMoments {
    std::vector<double> mean, variance;
    bool known() const { return !mean.empty(); }
};

/// Of each tensor of the prepared graph, as far as batch norms folded into its layers tell. Any thread.
std::vector<ChannelMoments> momentsFromBatchNorms(const Prepared& prepared);

/// E[f(x)] and Var[f(x)] of a Gaussian clipped to low..high; infinite bounds are allowed.
void clipGaussian(double low, double high, double& mean, double& variance);

}  // namespace quantloupe
