// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of arrays as samples. The type of an array may differ from that of the input if every value can be
// converted: any number for a float input, integers for an integer input (values that do not fit are an error
// of the sample).

#include "data/dataset.h"
#include "model/constant.h"

namespace quantloupe {

/// Throws Error unless the array, with samples as its first dimension, fits the input; `name` is the array's.
void checkArrayFits(const Constant& array, const InputSpec& input, const std::string& name);

/// Returns row `row` of an array that fits. May be called from any thread.
SampleTensor rowOf(const ConstantPtr& array, std::size_t row, const InputSpec& input);

}  // namespace quantloupe
