// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of arrays as samples. Arrays may have another type than the input where every value has a counterpart:
// any number for a float input, integers for an integer input (values that do not fit are an error of the
// sample).

#include "data/dataset.h"
#include "model/constant.h"

namespace quantloupe {

/// Throws Error unless the array, with samples as its first dimension, fits the input; `name` is the array's.
void checkArrayFits(const Constant& array, const InputSpec& input, const std::string& name);

/// Row `row` of an array that fits. Any thread.
SampleTensor rowOf(const ConstantPtr& array, std::size_t row, const InputSpec& input);

}  // namespace quantloupe
