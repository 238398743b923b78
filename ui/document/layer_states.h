// SPDX-License-Identifier: Apache-2.0
#pragma once
// States and reasons of layers that follow from the configuration, without an evaluation.

#include <vector>

#include "config/quantization_config.h"
#include "results/evaluation.h"

namespace quantloupe::ui {

/// Sets the states, precisions and reasons that the rules give, until the engine's results arrive. Returns
/// false, and changes nothing, if the configuration does not fit the graph: the engine reports the error.
bool predictStates(const Graph& graph, const QuantizationConfig& config, std::vector<LayerResult>& layers);

/// Updates the reasons of layers that their own settings keep in float: they contain the layers' comments.
/// Returns whether a reason changed.
bool updateReasons(const Graph& graph, const QuantizationConfig& config, std::vector<LayerResult>& layers);

}  // namespace quantloupe::ui
