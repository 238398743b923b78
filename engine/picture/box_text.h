// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the exported files say in one box.

#include <string>
#include <vector>

#include "picture/write_picture.h"

namespace quantloupe {

struct BoxText {
    std::string title;   ///< type with kernel; a tensor's name
    std::string name;    ///< full
    std::string shapes;  ///< "1×16×8×8 → 1×96×8×8"
    std::string attributes;
    std::string state;    ///< "skipped: tail of the model"
    std::string score;    ///< "QS 0.1234", empty where it is not known
    std::string tooltip;  ///< everything, with its reasons, in lines
};

/// `layer` may be null: nothing is known about the layer's state.
BoxText boxText(const Graph& graph, const PictureNode& node, const LayerResult* layer);
/// For each node of the graph its result, or null.
std::vector<const LayerResult*> resultsByNode(const Graph& graph, const std::vector<LayerResult>& layers);
/// "%.4g".
std::string scoreText(double value);

}  // namespace quantloupe
