// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/operators/operators.h"

namespace quantloupe {

/// The QLinear operators of com.microsoft without weights: Add, Mul, LeakyRelu, Sigmoid, Softmax, Concat, and
/// average pools.
void addQuantizedPointwise(OperatorTable& table);

}  // namespace quantloupe
