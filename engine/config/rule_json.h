// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip rules as JSON.

#include <vector>

#include "config/field_types.h"
#include "config/quantization_config.h"

namespace quantloupe {

FieldType<std::vector<SkipRule>> rulesField();
/// Returns the schema's definitions that rulesField() refers to: "rule" and others.
OrderedJson ruleSchema();

}  // namespace quantloupe
