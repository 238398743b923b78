// SPDX-License-Identifier: Apache-2.0
#pragma once
// Drop, noise and cost of an evaluated configuration. Internal to engine/search.

#include "search/tune.h"

namespace quantloupe {

struct TuneNumbers {
    double drop = 0, noise = 0, metric = 0;
    std::optional<RateInterval> interval;  ///< of the drop, see dropIntervalOf()
};

/// Drop and noise of outputs that contain NaN or infinite values, for example after an overflow in float16:
/// finite, so that they can be compared and saved.
inline constexpr double kWorstDrop = 1e12;

/// Returns the drop as defined in tune.h. Throws Error if the outputs cannot be compared.
double dropOf(const Accuracy& floating, const Accuracy& quantized);
/// The tolerance makes 92.4 % - 91.4 % exactly one point although neither is exact in binary.
inline bool withinDrop(double drop, double most) { return drop <= most + 1e-9; }
/// Returns whether the drop is larger than `most`, even at the lower end of its interval if there is one.
inline bool surelyAbove(const TuneNumbers& numbers, double most) {
    return !withinDrop(numbers.interval ? numbers.interval->low : numbers.drop, most);
}
/// Returns the 95 % interval of the drop: paired by sample with labels (group_jackknife.h for mAP and mIoU),
/// Wilson's for the agreement, because its reference is always right.
std::optional<RateInterval> dropIntervalOf(const Evaluation& evaluation);
/// Returns noise power / signal power of the outputs.
double noiseOf(const Accuracy& accuracy);

/// Returns the number of float32 tensors between a float and a quantized operator, in either direction. A
/// fused or folded operator counts as its host; a graph input or output counts as float.
std::size_t transitionsOf(const Graph& graph, const std::vector<LayerResult>& layers);

/// Returns a drop in points: "0.80", and never "-0.00".
std::string pointsText(double drop);

FloatShare& operator+=(FloatShare& sum, const FloatShare& more);

}  // namespace quantloupe
