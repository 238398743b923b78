// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers as a person reads them; "-" where there is none.

#include <optional>
#include <string>

#include "analysis/distribution.h"
#include "session/evaluation.h"

namespace quantloupe::cli {

std::string percent(const std::optional<double>& rate);  ///< "92.40 %"
std::string decibels(const std::optional<double>& value);  ///< "12.30 dB", "no difference"
std::string number(const std::optional<double>& value);  ///< four significant digits
std::string qsOf(const std::optional<TensorDifference>& difference);  ///< "0.0123"
/// A character for each bin, as high as its share of the fullest bin; a blank for an empty one.
std::string bars(const Distribution& distribution);

/// Metrics of one tensor in columns, under differenceHeader().
std::string differenceHeader();
std::string differenceRow(const std::optional<TensorDifference>& difference);

}  // namespace quantloupe::cli
