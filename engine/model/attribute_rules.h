// SPDX-License-Identifier: Apache-2.0
#pragma once
// The types and ranges of the attributes in ONNX's operator schemas. Internal to operator_signatures.cpp.

#include <string>

#include "model/attributes.h"

namespace quantloupe {

/// Throws Error (BadInput) if the attribute of an operator has the wrong type or is out of range.
void checkAttribute(const std::string& op, const std::string& name, const AttributeValue& value);

}  // namespace quantloupe
