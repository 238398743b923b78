// SPDX-License-Identifier: Apache-2.0
#pragma once
// One metric over the whole graph: the values of the layers, and the reason if a layer has none.

#include <optional>
#include <vector>

#include "document/document.h"
#include "document/metric.h"

namespace quantloupe::ui {

struct Overlay {
    Metric metric = Metric::None;
    std::vector<std::optional<double>> values;  ///< one per layer
    std::vector<bool> estimated;                ///< of a latency, one per layer; otherwise empty
    MetricScale scale;

    std::optional<double> valueOf(NodeId layer) const {
        return layer.valid() && layer.index() < values.size() ? values[layer.index()] : std::nullopt;
    }
};

/// The layers are those of the document, or those that it compares them with.
Overlay overlayOf(const Document& document, const std::vector<LayerResult>& layers, Metric metric,
                  const ScaleChoice& choice);
/// Returns one clause, such as "data is required". Empty if the layer, of the document or of its reference,
/// has a value.
QString whyNoValue(const Document& document, const LayerResult* layer, Metric metric);

}  // namespace quantloupe::ui
