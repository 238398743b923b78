// SPDX-License-Identifier: Apache-2.0
#pragma once
// Precisions of layers in the formats of other tools.

#include <map>
#include <string>
#include <vector>

#include "interchange/file_format.h"
#include "quantize/quantizer.h"

namespace quantloupe {

/// Returns the configuration in the terms that other tools share: every precision is written as `quantize`
/// and bits of the layer. The precision itself stays set, for formats that have bits for the inputs of
/// layers.
QuantizationConfig forOtherTools(const Graph& graph, const QuantizationConfig& config);
/// Returns the configuration without precisions, so that the network has no conversions. `resolved` comes
/// from forOtherTools().
QuantizationConfig withoutConversions(QuantizationConfig resolved);

/// Returns notices about what the format cannot express. `conversions`: their number in the previewed
/// network.
std::vector<std::string> precisionNotices(const FileFormat& format, const QuantizationConfig& config,
                                          const std::vector<LayerResult>& layers, std::size_t conversions);

/// Returns one quantizer per tensor of the network without conversions, for tools that have one for all
/// readers: where a tensor is quantized only for some readers, that with the most bits. Tensors that are only
/// rounded to float16 have none.
std::map<TensorId, TensorQuantizer> sharedQuantizers(const Plan& plan);

}  // namespace quantloupe
