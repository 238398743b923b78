// SPDX-License-Identifier: Apache-2.0
#pragma once
// The version of everything that results depend on except which layers are quantized. Predictions of effects
// are valid only within one context (session/studies/effect_model.h).

#include "base/version.h"
#include "config/quantization_config.h"
#include "data/dataset.h"
#include "model/graph.h"

namespace quantloupe {

/// `data`: the evaluation samples, or null.
Version contextVersion(const Graph& source, const QuantizationConfig& config, const DatasetPtr& data);

}  // namespace quantloupe
