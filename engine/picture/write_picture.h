// SPDX-License-Identifier: Apache-2.0
#pragma once
// SVG and DOT files of the colored graph: name, type, shapes, attributes, QS and state of each layer.

#include <string>

#include "picture/picture.h"
#include "results/evaluation.h"

namespace quantloupe {

/// Outline and light fill of a state: graph inputs and outputs are blue, quantized layers green, all others
/// yellow (folded and fused layers have a gray outline and the fill of their host's state).
struct StateColors {
    const char* outline;
    const char* fill;
};
StateColors stateColors(const LayerResult& layer);
StateColors graphEndColors();
/// Returns the colors of all layers, in the order of `layers`. Folded and fused layers get the fill of their
/// host's state; stateColors(), which sees only one layer, gives them a gray fill.
std::vector<StateColors> layerColors(const std::vector<LayerResult>& layers);

/// The property that the fill color of a layer's box shows.
enum class LayerPaint { State, Sensitivity };
/// Returns the fill color for a local sensitivity: light below 0.01, darker in six steps up to 0.5.
const char* sensitivityFill(double qs);

/// Returns options with boxes that are large enough for all texts of pictureToSvg().
LayoutOptions detailedBoxes(const Graph& graph);

/// Returns the picture as SVG. `layers` are Evaluation::layers, one per node of the graph (empty: a plain
/// picture without states). Draws as many lines of text as fit into the boxes: type and name with the default
/// size, everything with detailedBoxes(). The tooltip (title element) of a box always contains everything. If
/// there are states, a legend of the colors follows below. With LayerPaint::Sensitivity, the fill of a layer
/// with a local QS shows the QS, and its outline the state.
std::string pictureToSvg(const Graph& graph, const Picture& picture, const std::vector<LayerResult>& layers,
                         LayerPaint paint = LayerPaint::State);
/// Returns the same, laid out with detailedBoxes(), for exporting the graph. Groups and columns are those of
/// `arrangement`. Throws Cancelled.
std::string graphToSvg(const Graph& graph, const std::vector<LayerResult>& layers,
                       const CancelToken& cancel = {}, const LayoutOptions& arrangement = {},
                       LayerPaint paint = LayerPaint::State);
/// Returns DOT with box nodes named n0, n1... in the same colors, which Graphviz can lay out again.
std::string pictureToDot(const Graph& graph, const std::vector<LayerResult>& layers);

}  // namespace quantloupe
