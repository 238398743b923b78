// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sliding window of convolutions and pools: kernel, strides, dilations, padding, output extent.

#include "runtime/operators/kernel.h"

namespace quantloupe {

struct Window {
    Dims kernel, strides, dilations, padBegin, padEnd;  ///< one entry per spatial dimension
    Dims output;                                        ///< spatial extents of the output
    /// padEnd of the node. With ceil_mode, the last window may reach beyond it.
    Dims declaredEnd = Dims(kernel.size(), 0);
};

/// Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode of the node. `kernel` is used if the
/// node has no kernel_shape. Throws Error if the window does not fit the input.
Window windowOf(const NodeContext& context, const Dims& spatialInput, const Dims& kernel);

}  // namespace quantloupe
