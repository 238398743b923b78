// SPDX-License-Identifier: Apache-2.0
#pragma once
// Metrics of all layers that an evaluation does not take by itself: all formulas, only weights or only activations
// quantized, the source graph as the reference. Measured when asked for, from the activations that the session keeps.

#include <string>
#include <vector>

#include "session/session.h"

namespace quantloupe {

enum class QuantizedParts {
    Both,
    Weights,      ///< activations stay in float; the biases go with the weights
    Activations,  ///< weights and biases stay in float
};

enum class MetricReference {
    Prepared,  ///< the float network after the transforms
    Source,    ///< the network of the file; what equalization divided a channel by is multiplied back first
};

struct LayerMetricsOptions {
    QuantizedParts parts = QuantizedParts::Both;
    MetricReference reference = MetricReference::Prepared;
    bool elementwise = false;  ///< relative errors and KL divergence, too: some 25 times the cost of the others
    NodeId only{};             ///< just this layer of the source graph; invalid: all
};

struct LayerMetrics {
    NodeId node;  ///< in the source graph
    std::optional<TensorDifference> local, cumulative;  ///< as in LayerResult
    std::string reason;  ///< why there are none; empty where there are
};

/// One entry for each layer that could be quantized, in graph order, over all evaluation samples; skipped ones locally
/// as if quantized. Needs data. Throws Error, Cancelled. The engine's thread.
std::vector<LayerMetrics> measureLayers(Session& session, const QuantizationConfig& config,
                                        const LayerMetricsOptions& options, const EvaluationObserver& observer = {},
                                        const CancelToken& cancel = {});

}  // namespace quantloupe
