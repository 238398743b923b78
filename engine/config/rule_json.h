// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip rules and precision rules as JSON.

#include <vector>

#include "config/field_types.h"
#include "config/quantization_config.h"

namespace quantloupe {

FieldType<std::vector<SkipRule>> rulesField();
FieldType<std::vector<PrecisionRule>> precisionRulesField();
/// Returns the schema's definitions that these fields refer to: "rule" and others.
OrderedJson ruleSchema();

}  // namespace quantloupe
