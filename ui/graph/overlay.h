// SPDX-License-Identifier: Apache-2.0
#pragma once
// One metric over the whole graph: the layers' values, and why one has none.

#include <optional>
#include <vector>

#include "document/document.h"
#include "document/metric.h"

namespace quantloupe::ui {

struct Overlay {
    Metric metric = Metric::None;
    std::vector<std::optional<double>> values;  ///< one per layer
    MetricScale scale;

    std::optional<double> valueOf(NodeId layer) const {
        return layer.valid() && layer.index() < values.size() ? values[layer.index()] : std::nullopt;
    }
};

/// `before`: the layers that Metric::Difference compares with; may be null.
Overlay overlayOf(const std::vector<LayerResult>& layers, const std::vector<LayerResult>* before,
                  Metric metric, const ScaleChoice& choice);
/// Returns one clause, such as "data is required". Empty if the layer, of the document or of its reference,
/// has a value.
QString whyNoValue(const Document& document, const LayerResult* layer, Metric metric);

}  // namespace quantloupe::ui
