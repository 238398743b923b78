// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the quantized network as an ONNX graph with QuantizeLinear and DequantizeLinear pairs, which every
// runtime supports.

#include <string>

#include "quantize/plan.h"

namespace quantloupe {

/// Returns the quantized model.
/// - Weights are stored as integer codes of the smallest type that fits (2 to 4 bits: int4 or uint4, unless
///   `options` disable them or the model's opset cannot be raised; up to 8 bits: int8 or uint8), followed by
///   a DequantizeLinear. Biases are int32 or int8.
/// - With float_weights, weights and biases stay float and are followed by a QuantizeLinear and
///   DequantizeLinear pair, except for int32 biases because QuantizeLinear cannot produce int32.
/// - A quantized activation goes through one pair that all of its readers share, preceded by a Clip if it has
///   fewer codes than its type, which has at least 8 bits. In opset 21, the pair is repeated at operators
///   that copy its values (quantize/spread_pairs.h).
/// - A layer in float16 has a pair of Casts, to float16 and back, at each input and output. Its constants are
///   stored in float16, followed by a Cast to float32.
/// Graph inputs and outputs keep their names. The configuration is stored in the metadata. The opset is
/// raised if per-channel scales (13) or 4-bit and 16-bit types (21) need it; throws Error if it cannot be
/// raised.
GraphPtr writeQdq(const Plan& plan, const std::string& configJson, const ExportOptions& options = {});

}  // namespace quantloupe
