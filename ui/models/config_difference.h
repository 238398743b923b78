// SPDX-License-Identifier: Apache-2.0
#pragma once
// What differs between two configurations, in words, one line each: "weight bits: 4 → 8", "Conv_3: 8-bit
// weights".

#include <QStringList>

#include "config/quantization_config.h"

namespace quantloupe::ui {

/// Empty if only comments differ.
QStringList configDifference(const QuantizationConfig& before, const QuantizationConfig& after);

}  // namespace quantloupe::ui
