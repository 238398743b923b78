// SPDX-License-Identifier: Apache-2.0
#pragma once
// The appearance of each box of the graph with the latest results: colors, line and pattern of its state, its
// number and heat. The state is shown by color and by shape, never by color alone.

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

/// The position of a box in a stack (picture/stacks.h).
enum class StackPart { Whole, Top, Middle, Bottom };

struct NodeLook {
    QColor outline, fill, band;
    bool dashed = false;   ///< outline of layers that a rule keeps in float
    bool hatched = false;  ///< fill of such layers
    QString number;        ///< of the metric, or a word such as "folded"
    bool quiet = false;  ///< the number is a word, or not a result of this configuration ("as if quantized")
    double heat = -1;    ///< 0 to 1; negative: none. For a difference, its magnitude
    QColor heatColor;    ///< where there is heat
    bool noValue = false;  ///< a metric is shown, but this layer has no value
    bool group = false;    ///< a collapsed group
    bool dimmed = false;   ///< does not match the filter of the layer table
    StackPart part = StackPart::Whole;
    bool isRow() const { return part == StackPart::Middle || part == StackPart::Bottom; }
    /// For a group: the fractions of its layers that are quantized, skipped, float, and folded or fused.
    std::array<double, 4> parts = {};
};

/// Returns the look of one layer; `layers` are needed for the host of a fused layer.
NodeLook lookOf(const LayerResult& layer, const std::vector<LayerResult>& layers, const Graph& graph,
                const Overlay& overlay, const Theme& theme);
/// Fades a box that does not match the filter.
void dim(NodeLook& look, const Theme& theme);
/// Returns the color of a position on a scale.
QColor scaleColor(const MetricScale& scale, double position, const Theme& theme);
/// Returns the layer of the group with the worst value of the metric; invalid if no layer has a value.
NodeId worstOf(const Group& group, const Overlay& overlay);
/// Returns the look whose heat a box shows: a row without a value shows the heat of its layer.
const NodeLook& heatLook(const Picture& picture, const std::vector<NodeLook>& looks, std::size_t box);
/// Returns one look per box. Folded and fused rows look like their layer. A group is shown as skipped if all
/// of its quantizable layers are skipped, and hatched if some of them are; its number is the worst value of
/// its layers. `layers` may be empty (no results yet).
std::vector<NodeLook> looksOf(const Picture& picture, const std::vector<LayerResult>& layers,
                              const Graph& graph, const Overlay& overlay, const Theme& theme);

}  // namespace quantloupe::ui
