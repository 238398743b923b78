// SPDX-License-Identifier: Apache-2.0
#pragma once
// How each box of the picture looks for the latest results: colours, line and pattern of its state, its
// number and heat. State is told by colour and by shape, never by colour alone.

#include <QColor>
#include <QString>
#include <vector>

#include "models/metric.h"
#include "picture/picture.h"
#include "session/evaluation.h"
#include "style/theme.h"

namespace quantloupe::ui {

struct NodeLook {
    QColor outline, fill, band;
    bool dashed = false;   ///< outline of what a rule keeps in float
    bool hatched = false;  ///< and its fill
    QString number;        ///< of the metric, or a word such as "folded"
    bool quiet = false;    ///< the number is no result of this configuration ("as if quantized"), or a word
    double heat = -1;      ///< 0 to 1; negative: none
};

/// Colours of one layer; `layers` are needed for the host of a fused one.
NodeLook lookOf(const LayerResult& layer, const std::vector<LayerResult>& layers, const Graph& graph,
                const MetricScale& scale, const Theme& theme);
/// One a box. `layers` may be empty (nothing is known yet).
std::vector<NodeLook> looksOf(const Picture& picture, const std::vector<LayerResult>& layers,
                              const Graph& graph, const MetricScale& scale, const Theme& theme);

}  // namespace quantloupe::ui
