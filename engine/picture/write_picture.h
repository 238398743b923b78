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

/// `layers` are Evaluation::layers, one a node of the graph.
std::string pictureToSvg(const Graph& graph, const Picture& picture, const std::vector<LayerResult>& layers);
/// Box nodes with synthetic ids n0, n1... and the same colours; Graphviz can lay it out again.
std::string pictureToDot(const Graph& graph, const std::vector<LayerResult>& layers);

}  // namespace quantloupe
