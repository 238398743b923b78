// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of a model: operators that the file itself defines by other operators (ONNX's
// ModelProto.functions). PyTorch's exporters write modules in this form. The operators of a function are
// shown, quantized and exported like all others, so each call is replaced by a copy of the function's nodes.

#include <cstddef>

namespace onnx {
class ModelProto;
}

namespace quantloupe {

/// Inlines all functions and removes them from the model. The copies have the names of their call as a
/// prefix: "block/attention/MatMul". Returns the number of calls. Throws Error if functions call each other
/// in a circle, if the result would be too large, or if two functions have the same name.
std::size_t inlineFunctions(onnx::ModelProto& model);

}  // namespace quantloupe
