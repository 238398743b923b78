// SPDX-License-Identifier: Apache-2.0
#pragma once
// One metric over the whole graph: the layers' values, and why one has none.

#include <optional>
#include <vector>

#include "document.h"
#include "models/layer_reference.h"
#include "models/metric.h"

namespace quantloupe::ui {

struct Overlay {
    Metric metric = Metric::None;
    std::vector<std::optional<double>> values;  ///< one a layer
    MetricScale scale;

    std::optional<double> valueOf(NodeId layer) const {
        return layer.valid() && layer.index() < values.size() ? values[layer.index()] : std::nullopt;
    }
};

Overlay overlayOf(const Document& document, const LayerReference& reference, Metric metric, const ScaleChoice& choice);
/// One clause: "it needs data". Empty if the layer has a value.
QString whyNoValue(const Document& document, const LayerReference& reference, NodeId layer, Metric metric);

}  // namespace quantloupe::ui
