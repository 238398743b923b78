// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weights and biases that several layers share.

#include "model/graph.h"

namespace quantloupe {

/// Gives every layer that reads a float32 constant of several values together with another layer (or that is
/// also a graph output) a tensor of its own, so that it can be scaled and quantized by itself. The values are
/// shared in memory until something changes them. The first reader keeps the tensor; the others read NAME_1,
/// NAME_2... Node ids stay as they are. Any thread.
GraphPtr withOwnConstants(const GraphPtr& source);

}  // namespace quantloupe
