// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts of one box in exported files.

#include <string>
#include <vector>

#include "picture/write_picture.h"

namespace quantloupe {

struct BoxText {
    std::string title;   ///< operator type with kernel size; a tensor's name
    std::string name;    ///< full name
    std::string shapes;  ///< "1×16×8×8 → 1×96×8×8"
    std::string attributes;
    std::string state;    ///< "skipped: tail of the model"
    std::string score;    ///< "QS 0.1234", empty if unknown
    std::string tooltip;  ///< all information, with reasons, in lines
};

/// `layer` may be null if the layer's state is unknown.
BoxText boxText(const Graph& graph, const PictureNode& node, const LayerResult* layer);
/// Returns for each node of the graph its result, or null.
std::vector<const LayerResult*> resultsByNode(const Graph& graph, const std::vector<LayerResult>& layers);
/// Formats with "%.4g".
std::string scoreText(double value);

}  // namespace quantloupe
