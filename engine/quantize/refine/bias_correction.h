// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bias correction: compensates in the bias for the shift of each channel's mean that rounding the weights
// causes.

#include <span>
#include <string>
#include <vector>

#include "quantize/units.h"

namespace quantloupe {

/// Returns why the unit's bias cannot be corrected; empty if it can.
std::string whyBiasStays(const Graph& graph, const Unit& unit);

/// Returns the bias that compensates for replacing the unit's weight with `rounded`, given the mean of each
/// input channel. Requires a unit whose bias can be corrected. Empty if there is not one mean per input
/// channel.
std::vector<float> biasForMeans(const Graph& graph, const Unit& unit, std::span<const float> rounded,
                                const std::vector<double>& means);

}  // namespace quantloupe
