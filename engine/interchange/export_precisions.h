// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts the precisions of layers for the formats of other tools.

#include <map>
#include <string>
#include <vector>

#include "interchange/file_format.h"
#include "quantize/quantizer.h"
#include "quantize/units.h"

namespace quantloupe {

/// Returns the configuration in terms that other tools support: every precision is written as `quantize` and
/// bits of the layer. The precision itself stays set, for formats with bits for the inputs of layers.
QuantizationConfig forOtherTools(const Graph& graph, const QuantizationConfig& config);
/// Returns the configuration without precisions, so that the network has no conversions. `resolved` comes
/// from forOtherTools().
QuantizationConfig withoutConversions(QuantizationConfig resolved);

/// Returns notices about precisions that the format does not support. `conversions`: number of conversions in
/// the previewed network.
std::vector<std::string> precisionNotices(const FileFormat& format, const QuantizationConfig& config,
                                          const std::vector<LayerResult>& layers, std::size_t conversions);

/// Returns one quantizer per tensor of the network without conversions and own inputs of layers, for tools in
/// which all readers of a tensor use the same quantizer. If a tensor is only quantized for some readers, the
/// quantizer with the most bits is used. Tensors that are only rounded to float16 have no quantizer.
std::map<TensorId, TensorQuantizer> sharedQuantizers(const Plan& plan);

/// Returns the bits of the smallest type that can store the codes.
int widthOf(const TensorQuantizer& quantizer);

/// Returns for each output of a unit, or with placement weighted_inputs for each tensor that a unit reads,
/// the settings of the layer that determines its scale; null if the layer has none. The pointers are into
/// `config`.
std::map<TensorId, const LayerSettings*> settingsByOutput(const QuantizationConfig& config,
                                                          const Prepared& prepared, const UnitList& units);

}  // namespace quantloupe
