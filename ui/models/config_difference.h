// SPDX-License-Identifier: Apache-2.0
#pragma once
// Describes the differences between two configurations, one per line: "weight bits: 4 → 8", "Conv_3: 8-bit
// weights".

#include <QStringList>

#include "config/quantization_config.h"

namespace quantloupe::ui {

/// Empty if only comments differ.
QStringList configDifference(const QuantizationConfig& before, const QuantizationConfig& after);

}  // namespace quantloupe::ui
