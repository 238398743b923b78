// SPDX-License-Identifier: Apache-2.0
#pragma once
// How each box of the graph looks with the latest results: colors, line and pattern of its state, its number
// and heat. The state is shown by color and by shape, never by color alone.

#include <QColor>
#include <QString>
#include <array>
#include <vector>

#include "document/metric.h"
#include "graph/overlay.h"
#include "picture/picture.h"
#include "results/evaluation.h"
#include "style/theme.h"

namespace quantloupe::ui {

/// Which part of a stack (picture/stacks.h) a box is.
enum class StackPart { Whole, Top, Middle, Bottom };

struct NodeLook {
    QColor outline, fill, band;
    bool dashed = false;   ///< outline of layers that a rule keeps in float
    bool hatched = false;  ///< and its fill
    QString number;        ///< of the metric, or a word such as "folded"
    bool quiet = false;  ///< the number is not a result of this configuration ("as if quantized"), or a word
    double heat = -1;    ///< 0 to 1; negative: none. For a difference, its magnitude
    QColor heatColor;    ///< where there is heat
    bool noValue = false;  ///< a metric is shown and this layer has none
    bool group = false;    ///< a collapsed group
    bool dimmed = false;   ///< does not match the filter of the layer table
    StackPart part = StackPart::Whole;
    bool isRow() const { return part == StackPart::Middle || part == StackPart::Bottom; }
    /// For a group: the shares of its layers that are quantized, skipped, float, and folded or fused.
    std::array<double, 4> parts = {};
};

/// Colors of one layer; `layers` are needed for the host of a fused one.
NodeLook lookOf(const LayerResult& layer, const std::vector<LayerResult>& layers, const Graph& graph,
                const Overlay& overlay, const Theme& theme);
/// Fades what is not looked for into the canvas.
void dim(NodeLook& look, const Theme& theme);
/// The color of a value on a scale.
QColor scaleColor(const MetricScale& scale, double position, const Theme& theme);
/// The layer of the group with the worst value of the metric; invalid if none has one.
NodeId worstOf(const Group& group, const Overlay& overlay);
/// The look whose heat a box shows: a row without a value shows that of its layer.
const NodeLook& heatLook(const Picture& picture, const std::vector<NodeLook>& looks, std::size_t box);
/// One look per box. Folded and fused rows look like their layer. A group is skipped if all of its
/// quantizable layers are, and hatched if some of them are; its number is the worst one. `layers` may be
/// empty (no results yet).
std::vector<NodeLook> looksOf(const Picture& picture, const std::vector<LayerResult>& layers,
                              const Graph& graph, const Overlay& overlay, const Theme& theme);

}  // namespace quantloupe::ui
