// SPDX-License-Identifier: Apache-2.0
#pragma once
// The quantized network as an ONNX graph of QuantizeLinear and DequantizeLinear pairs, which every runtime reads.

#include <string>
#include <vector>

#include "quantize/plan.h"

namespace quantloupe {

/// Weights become integer codes of the smallest type that holds them (2 to 4 bits: int4 or uint4 unless `options` say otherwise or the
/// model's opset cannot be raised; to 8 bits: int8 or uint8) behind a DequantizeLinear, biases int32 or int8; with float_weights they stay
/// float, with QuantizeLinear in front (int32 biases, which that cannot make, do not); a quantized activation goes through a pair that all its readers read, behind a Clip where it has fewer codes than its type.
/// Graph inputs and outputs keep their names. Metadata tells the configuration. The opset is raised where scales per channel (13) or
/// 4-bit and 16-bit types (21) need it; throws Error where that cannot be done.
GraphPtr writeQdq(const Plan& plan, const std::string& configJson, const ExportOptions& options = {});

}  // namespace quantloupe
