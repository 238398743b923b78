// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layer metrics that an evaluation does not compute: all formulas, only weights or only activations
// quantized, the source graph as the reference. Measured on request, starting from the activations that the
// session keeps.

#include <string>
#include <vector>

#include "session/session.h"

namespace quantloupe {

enum class QuantizedParts {
    Both,
    Weights,      ///< activations stay in float; biases are quantized with the weights
    Activations,  ///< weights and biases stay in float
};

enum class MetricReference {
    Prepared,  ///< the float network after the transforms
    Source,    ///< the network of the file; equalization factors are undone first
};

struct LayerMetricsOptions {
    QuantizedParts parts = QuantizedParts::Both;
    MetricReference reference = MetricReference::Prepared;
    /// Also relative errors and KL divergence, about 25 times as expensive as the others.
    bool elementwise = false;
    NodeId only{};  ///< measure only this layer of the source graph; invalid: all
};

struct LayerMetrics {
    NodeId node;                                        ///< in the source graph
    std::optional<TensorDifference> local, cumulative;  ///< as in LayerResult
    std::string reason;                                 ///< why there are no metrics; empty if there are
};

/// Returns one entry per quantizable layer, in graph order, over all evaluation samples; local metrics of
/// skipped layers are as if quantized. Needs data. Throws Error, Cancelled. Call it from the engine's thread.
std::vector<LayerMetrics> measureLayers(Session& session, const QuantizationConfig& config,
                                        const LayerMetricsOptions& options,
                                        const EvaluationObserver& observer = {},
                                        const CancelToken& cancel = {});

}  // namespace quantloupe
