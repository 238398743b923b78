// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why layers stay in float, for changes that do not need an evaluation.

#include <vector>

#include "config/quantization_config.h"
#include "results/evaluation.h"

namespace quantloupe::ui {

/// Updates the reasons of layers that their own settings keep in float: they contain the layers' comments.
void updateReasons(const Graph& graph, const QuantizationConfig& config, std::vector<LayerResult>& layers);

}  // namespace quantloupe::ui
