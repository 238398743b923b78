// SPDX-License-Identifier: Apache-2.0
#pragma once
// The quantized network as an ONNX graph of QuantizeLinear and DequantizeLinear pairs, which every runtime reads.

#include <string>
#include <vector>

#include "quantize/plan.h"

namespace quantloupe {

/// Weights become int8 codes (also those of fewer bits: their codes are then within the smaller range) behind a
/// DequantizeLinear, biases int32 codes; a quantized activation goes through a pair that all its readers read. Graph inputs and
/// outputs keep their names. Metadata tells the configuration. Throws Error for an opset below 10, or below 13 with scales per channel.
GraphPtr writeQdq(const Plan& plan, const std::string& configJson);

}  // namespace quantloupe
