// SPDX-License-Identifier: Apache-2.0
#pragma once
// SVG and DOT files of the coloured graph: name, type, shapes, attributes, QS and state of each layer.

#include <filesystem>
#include <string>

#include "picture/picture.h"
#include "session/evaluation.h"

namespace quantloupe {

/// Outline and light fill of a state: graph inputs and outputs blue, quantized green, all else yellow
/// (folded and fused layers in grey outline with the fill of their host's state).
struct StateColors {
    const char* outline;
    const char* fill;
};
StateColors stateColors(const LayerResult& layer);
StateColors graphEndColors();
/// The colours of every layer, with the fill of the host's state for folded and fused ones (stateColors()
/// knows only one layer and gives them a grey fill). In the order of `layers`.
std::vector<StateColors> layerColors(const std::vector<LayerResult>& layers);

/// Box sizes that hold all that pictureToSvg() has to say about the layers of this graph.
LayoutOptions detailedBoxes(const Graph& graph);

/// `layers` are Evaluation::layers, one a node of the graph (none: a plain picture without states).
/// Draws as many lines of text as the boxes hold: with the usual boxes type and name, with detailedBoxes()
/// everything; the tooltip (title element) of a box always has everything. Below it, if there are states, what colours mean.
std::string pictureToSvg(const Graph& graph, const Picture& picture, const std::vector<LayerResult>& layers);
/// The same, laid out with detailedBoxes(): what "export the graph" writes. Throws Cancelled.
/// Of `arrangement` the groups and columns are taken, the boxes' sizes are those of detailedBoxes().
std::string graphToSvg(const Graph& graph, const std::vector<LayerResult>& layers, const CancelToken& cancel = {},
                       const LayoutOptions& arrangement = {});
/// Box nodes with synthetic ids n0, n1... and the same colours; Graphviz can lay it out again.
std::string pictureToDot(const Graph& graph, const std::vector<LayerResult>& layers);

}  // namespace quantloupe
