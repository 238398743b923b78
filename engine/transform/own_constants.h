// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weights and biases that several layers share.

#include "model/graph.h"

namespace quantloupe {

/// Gives every layer a tensor of its own in place of a float32 constant that it shares with another layer or
/// that is also a graph output, so that it can be scaled and quantized separately. Constants with one value
/// stay shared if they belong to operators whose constants are not quantized, such as the bounds of a Clip.
/// The values stay shared in memory until they are changed. The first reader keeps the tensor; the others
/// read NAME_1, NAME_2... Node ids do not change. Any thread.
GraphPtr withOwnConstants(const GraphPtr& source);

/// The reverse, for files: of constants that share their values in memory, all nodes read the first one.
GraphPtr withSharedConstants(const GraphPtr& source);

}  // namespace quantloupe
