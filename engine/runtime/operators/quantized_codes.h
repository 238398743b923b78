// SPDX-License-Identifier: Apache-2.0
// Scales, zero points and codes of operators on integers, as in ONNX's QLinear operators.
#pragma once

#include <functional>

#include "runtime/operators/operators.h"

namespace quantloupe {

/// The constant scales or zero points at an input of the node: one, or one for each channel. A zero point
/// that is not given is 0. Throws Error if they are not constant or have another shape.
std::vector<float> scalesAt(const NodeContext& context, std::size_t input);
std::vector<std::int64_t> zerosAt(const NodeContext& context, std::size_t input);

/// The only one. Throws Error if there are several.
float scaleAt(const NodeContext& context, std::size_t input);
std::int32_t zeroAt(const NodeContext& context, std::size_t input);

/// Reads `count` codes as int32, with the zero point subtracted.
using CodeReader = std::function<void(const void*, std::size_t count, std::int32_t zero, std::int32_t*)>;
CodeReader codeReader(DataType type, std::string_view op);

/// Writes a number of quantization steps as element i, rounded and clipped to the type.
using CodeWriter = std::function<void(float steps, void*, std::size_t i)>;
CodeWriter codeWriter(DataType type, std::int32_t zero, std::string_view op);

}  // namespace quantloupe
