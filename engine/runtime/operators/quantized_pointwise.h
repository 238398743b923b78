// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/operators/operators.h"

namespace quantloupe {

/// QLinearLeakyRelu, QLinearSigmoid, QLinearSoftmax, QLinearConcat and QLinearAveragePool of com.microsoft.
void addQuantizedPointwise(OperatorTable& table);

}  // namespace quantloupe
