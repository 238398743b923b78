// SPDX-License-Identifier: Apache-2.0
#pragma once
// What quantization does to each layer's weight alone: needs no data. Internal to engine/session.

#include "session/session_impl.h"

namespace quantloupe {

/// Sets LayerResult::weight, weightRangeRatio and the bits of every layer that has them, skipped ones as if quantized. The weight is
/// compared in the prepared graph, quantized against float. A weight that cannot be quantized (NaN) is left out here; resolving the plan
/// tells it. Throws Cancelled.
void fillWeightDifferences(Session::Impl& session, const Prepared& prepared, const UnitList& units,
                           const QuantizationConfig& config, const CancelToken& cancel,
                           std::vector<LayerResult>& layers);

}  // namespace quantloupe
