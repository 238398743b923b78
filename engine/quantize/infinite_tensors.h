// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors with infinite values, such as the mask of an attention layer. They have no range, so neither the
// layers that compute them nor those that read them can be quantized.

#include <set>

#include "model/graph.h"

namespace quantloupe {

/// The tensors whose infinite values come from float32 constants. Any thread.
std::set<TensorId> infiniteTensors(const Graph& graph);

}  // namespace quantloupe
