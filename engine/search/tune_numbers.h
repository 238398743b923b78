// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of one measured configuration. Internal to engine/search.

#include "search/tune.h"

namespace quantloupe {

/// See tune.h. Throws Error where the outputs cannot be compared.
double dropOf(const Accuracy& floating, const Accuracy& quantized);
/// Rates are differences of decimal fractions: 92.4 % less 91.4 % is one point.
inline bool withinDrop(double drop, double most) { return drop <= most + 1e-9; }
/// With labels paired, sample by sample; of the agreement, whose reference is never wrong, Wilson's.
std::optional<RateInterval> dropIntervalOf(const Evaluation& evaluation);
/// Noise power over signal power of the outputs.
double noiseOf(const Accuracy& accuracy);

/// Tensors of float values that a float operator makes and a quantized one reads, or the other way round; an operator that is
/// fused or folded counts as its host, a graph input or output as float.
std::size_t transitionsOf(const Graph& graph, const std::vector<LayerResult>& layers);

std::uint64_t amountOf(const FloatShare& share, TuneCost cost);
FloatShare& operator+=(FloatShare& sum, const FloatShare& more);

}  // namespace quantloupe
