// SPDX-License-Identifier: Apache-2.0
#pragma once
// MaxPool of float32 with channels last.

#include <memory>

#include "runtime/operators/kernel.h"
#include "runtime/operators/window.h"

namespace quantloupe {

/// `input` has one to three spatial dimensions and, like the output, its channels last. A window entirely in
/// the padding gives the lowest finite number, and NaN only counts as the first value of a window, as in ONNX
/// Runtime.
std::unique_ptr<Kernel> makeMaxPool(const TensorDesc& input, const Window& window);

}  // namespace quantloupe
