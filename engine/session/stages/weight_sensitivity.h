// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quantization error of each layer's weight, which needs no data. Internal to engine/session.

#include <optional>

#include "quantize/plan.h"
#include "session/caches/evaluation_results.h"

namespace quantloupe {

/// Sets LayerResult::weight, weightRangeRatio and the bit widths of every layer that has them; for skipped
/// layers as if quantized. Compares the quantized with the float weight in the prepared graph. A weight that
/// cannot be quantized (NaN) is left out here; resolving the plan reports it. The weights of recurrent layers
/// are compared once there is a plan. Throws Cancelled.
void fillWeightDifferences(EvaluationResults& results, QuantizerCache& quantizers, const Prepared& prepared,
                           const UnitList& units, const QuantizationConfig& config, const CancelToken& cancel,
                           std::vector<LayerResult>& layers);

/// Returns the difference between the float and the quantized weights of a unit in the plan, which are
/// several for recurrent layers; empty without quantized weights.
std::optional<TensorDifference> plannedWeightDifference(EvaluationResults& results, const Plan& plan,
                                                        std::size_t unit);
/// Sets LayerResult::weight of the quantized layers to the difference of the weights in the plan. They differ
/// from those of fillWeightDifferences() after learned rounding, and where a tool or an NPU changes scales.
void fillPlannedWeightDifferences(EvaluationResults& results, const Plan& plan,
                                  std::vector<LayerResult>& layers);

}  // namespace quantloupe
