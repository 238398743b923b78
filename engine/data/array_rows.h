// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples in arrays. The type of an array may differ from that of the input if every value can be
// converted: any number for a float input, integers for an integer input (values that do not fit are an error
// of the sample).

#include "data/dataset.h"
#include "model/constant.h"

namespace quantloupe {

/// Throws Error unless the array, with samples in the input's sample axis, fits the input; `name` is the
/// array's.
void checkArrayFits(const Constant& array, const InputSpec& input, const std::string& name);

/// Returns the number of samples in arrays that fit, one for each input: 1 if all samples share all inputs.
/// Throws Error if the numbers differ; `where` is the beginning of the message.
std::size_t samplesIn(const std::vector<ConstantPtr>& arrays, const std::vector<InputSpec>& inputs,
                      const std::string& where);

/// Returns a sample of an array that fits. May be called from any thread.
SampleTensor sampleOf(const ConstantPtr& array, std::size_t index, const InputSpec& input);

}  // namespace quantloupe
