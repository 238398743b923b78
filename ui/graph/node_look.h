// SPDX-License-Identifier: Apache-2.0
#pragma once
// How each box of the picture looks for the latest results: colors, line and pattern of its state, its
// number and heat. State is told by color and by shape, never by color alone.

#include <QColor>
#include <QString>
#include <array>
#include <vector>

#include "graph/overlay.h"
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
    double heat = -1;      ///< 0 to 1; negative: none. Of a difference its size
    QColor heatColor;      ///< where there is heat
    bool noValue = false;  ///< a metric is shown and this layer has none
    bool group = false;    ///< a collapsed group
    /// Of a group: its layers that are quantized, skipped, float, and folded or fused, as shares of all.
    std::array<double, 4> parts = {};
};

/// Colors of one layer; `layers` are needed for the host of a fused one.
NodeLook lookOf(const LayerResult& layer, const std::vector<LayerResult>& layers, const Graph& graph,
                const Overlay& overlay, const Theme& theme);
/// The color of a value on a scale.
QColor scaleColor(const MetricScale& scale, double position);
/// The layer of the group with the worst value of the metric; invalid if none has one.
NodeId worstOf(const Group& group, const Overlay& overlay);
/// One a box. Of a group: skipped if all of it is that could be quantized, hatched if some of it is; its number is the
/// worst. `layers` may be empty (nothing is known yet).
std::vector<NodeLook> looksOf(const Picture& picture, const std::vector<LayerResult>& layers,
                              const Graph& graph, const Overlay& overlay, const Theme& theme);

}  // namespace quantloupe::ui
