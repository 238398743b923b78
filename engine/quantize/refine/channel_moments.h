// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mean and variance of each channel of a network's tensors, derived from its batch norms or measured.

#include <vector>

#include "runtime/program/batch_runner.h"
#include "transform/prepare.h"

namespace quantloupe {

/// One value per channel (axis 1); empty: not known.
struct ChannelMoments {
    std::vector<double> mean, variance;
    bool known() const { return !mean.empty(); }
};

/// Returns the moments of each tensor of the prepared graph, if they follow from batch norms folded into its
/// layers. May be called from any thread.
std::vector<ChannelMoments> momentsFromBatchNorms(const Prepared& prepared);

/// Replaces mean and variance of a Gaussian by those of the Gaussian clipped to low..high; the bounds may be
/// infinite.
void clipGaussian(double low, double high, double& mean, double& variance);

}  // namespace quantloupe
