// SPDX-License-Identifier: Apache-2.0
#pragma once
// The network on which ranges are measured. It differs from the prepared network because tools disagree about
// which changes they make before calibration.

#include <optional>

#include "quantize/quantizer_cache.h"
#include "quantize/units.h"

namespace quantloupe {

/// Returns a network with the same tensors and nodes as `prepared` in which
/// - with calibration.quantized_weights, the weights of quantized units are already rounded (AIMET);
/// - with transforms.npu_operators, means, slopes and Sigmoids are still the original ones, because Quark
///   replaces them after calibration.
/// Empty if neither changes anything. Throws Error naming the layer if its weights cannot be quantized. May
/// be called from any thread that may use the cache.
std::optional<Prepared> calibratedNetwork(const Prepared& prepared, const UnitList& units,
                                          const QuantizationConfig& config, QuantizerCache& cache);

}  // namespace quantloupe
