// SPDX-License-Identifier: Apache-2.0
#pragma once
// What quantization does to each layer's weight alone: needs no data. Internal to engine/session.

#include "session/session_impl.h"

namespace quantloupe {

/// Sets LayerResult::weight of every layer with a weight, skipped ones as if quantized: the quantized weight of the
/// prepared graph against the float one. A weight that cannot be quantized (NaN) is left out here; resolving the plan
/// tells it. Throws Cancelled.
void fillWeightDifferences(Session::Impl& session, const Prepared& prepared, const UnitList& units,
                           const QuantizationConfig& config, const CancelToken& cancel,
                           std::vector<LayerResult>& layers);

}  // namespace quantloupe
