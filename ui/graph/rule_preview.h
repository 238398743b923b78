// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers that a skip rule would cover if it were added.

#include <QString>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"
#include "model/reachability.h"
#include "results/evaluation.h"

namespace quantloupe::ui {

struct RulePreview {
    NodeSet covered;  ///< one flag per node
    std::size_t nodes = 0, quantizable = 0;
    std::size_t pinned = 0;   ///< number of layers whose own setting takes precedence over skip rules
    std::size_t changed = 0;  ///< number of layers that are quantized now and would stay in float
    QString complaint;        ///< why the rule covers nothing
};

/// Returns the layers that a rule would cover. `layers` are the latest results, one per node, or empty;
/// thresholds are compared with them. O(nodes + edges).
RulePreview previewRule(const Graph& graph, const QuantizationConfig& config,
                        const std::vector<LayerResult>& layers, const SkipRule& rule);
/// "14 nodes, 5 quantizable, 3 of them currently quantized".
QString previewWords(const RulePreview& preview);

}  // namespace quantloupe::ui
