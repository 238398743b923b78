// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers and tensors formatted for the readable output; "-" for a missing number.

#include <optional>
#include <string>

#include "analysis/distribution.h"
#include "model/graph.h"
#include "results/evaluation.h"

namespace quantloupe::cli {

std::string percent(const std::optional<double>& rate);               ///< "92.40 %"
std::string decibels(const std::optional<double>& value);             ///< "12.30 dB", "no difference"
std::string number(const std::optional<double>& value);               ///< four significant digits
std::string qsOf(const std::optional<TensorDifference>& difference);  ///< "0.0123"
/// One block character per bin, its height relative to the fullest bin; a space for an empty bin.
std::string bars(const Distribution& distribution);

/// "node_conv2d_2 (features.3.conv)": the module follows a name that does not contain it.
std::string nameWithModule(const LayerResult& layer);

std::string nameTypeAndShape(const TensorInfo& tensor);  ///< "images: float32 batch×3×224×224"

/// The metrics of one tensor as a row under differenceHeader().
std::string differenceHeader();
std::string differenceRow(const std::optional<TensorDifference>& difference);

}  // namespace quantloupe::cli
