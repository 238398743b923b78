// SPDX-License-Identifier: Apache-2.0
#pragma once
// Takes out of a bias what rounding the weights adds to the mean of each channel.

#include <span>
#include <string>
#include <vector>

#include "quantize/units.h"

namespace quantloupe {

/// Why the unit's bias cannot be corrected; empty: it can.
std::string whyBiasStays(const Graph& graph, const Unit& unit);

/// The bias that makes up for `rounded` in the place of the unit's weight, given the mean of each input channel. The unit's bias
/// can be corrected. Empty: the means are not one for each input channel.
std::vector<float> biasForMeans(const Graph& graph, const Unit& unit, std::span<const float> rounded,
                                const std::vector<double>& means);

}  // namespace quantloupe
