// SPDX-License-Identifier: Apache-2.0
#pragma once
// MaxPool of float32 with channels last.

#include <memory>

#include "runtime/operators/kernel.h"
#include "runtime/operators/window.h"

namespace quantloupe {

/// `input` has one to three spatial dimensions and, like the output, its channels last. A window entirely in
/// the padding gives the lowest finite number, as in ONNX Runtime. A window of minus infinity gives minus
/// infinity, where ONNX Runtime can give the lowest finite number. The results of windows with NaN depend on
/// its position.
std::unique_ptr<Kernel> makeMaxPool(const TensorDesc& input, const Window& window);

}  // namespace quantloupe
