// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encodings 0.6.1, used by AIMET and Qualcomm's converters.

#include "base/json.h"
#include "interchange/aimet/tensor_encodings.h"

namespace quantloupe {

/// A list with one object per scale.
OrderedJson encodingEntries(const TensorEncoding& encoding);
/// Returns indented JSON with a newline at the end. Throws Error for text that is not UTF-8.
std::string dumpedJson(const OrderedJson& json, int indent = 2);

}  // namespace quantloupe
