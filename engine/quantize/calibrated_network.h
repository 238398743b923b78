// SPDX-License-Identifier: Apache-2.0
#pragma once
// The network whose ranges are measured, where that is not the prepared one: tools differ in what they have changed by then.

#include <optional>

#include "quantize/quantizer_cache.h"
#include "quantize/units.h"

namespace quantloupe {

/// The same tensors and nodes as `prepared`'s, with
/// - calibration.quantized_weights: the weights of the units that are quantized rounded already (AIMET);
/// - transforms.npu_operators: means, slopes and Sigmoids as they were, since the NPU's come after calibration (Quark).
/// Nothing where that changes nothing. Throws Error naming the layer for weights that cannot be quantized. Any thread that may use the
/// cache.
std::optional<Prepared> calibratedNetwork(const Prepared& prepared, const UnitList& units, const QuantizationConfig& config,
                                          QuantizerCache& cache);

}  // namespace quantloupe
