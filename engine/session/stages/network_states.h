// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first stage of an evaluation: the states of the layers, which need no run of the network. Internal to
// engine/session.

#include "config/skip_rules.h"
#include "session/stages/evaluation_request.h"

namespace quantloupe {

/// A configuration applied to the network.
struct ResolvedNetwork {
    QuantizationConfig config;  ///< with threshold rules measured and precisions resolved
    std::shared_ptr<const Prepared> prepared;
    SkipDecisions skips;
    UnitList units;
    std::vector<std::string> notices;  ///< about threshold rules that match no layers
};

/// Measures the metrics of threshold rules and prepares the network. Throws Error, Cancelled.
ResolvedNetwork resolveNetwork(const EvaluationRequest& request);

/// Returns an evaluation with everything that is known without a run: states, counts, costs and notices.
Evaluation evaluationOf(const EvaluationRequest& request, const ResolvedNetwork& network);

/// Returns what predictions depend on; the measured values are empty.
MeasuredState predictableState(const EvaluationRequest& request, const Evaluation& evaluation);

/// Sets the costs of the layers from measured shapes; does nothing if there are none.
void setCosts(const Graph& source, const MeasuredShapes& shapes, std::vector<LayerResult>& layers);
/// Sets the costs without samples, if shape inference did not determine all shapes.
void assumeCosts(const Graph& source, NetworkRunner& runner, std::vector<LayerResult>& layers);

}  // namespace quantloupe
