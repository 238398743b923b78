// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words in and beside the boxes.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// "Conv 3×3", "Conv 3×3 dw" (one group a channel), "Conv 3×3 g4", "MaxPool 2×2"; the operator otherwise.
std::string layerTitle(const Graph& graph, const Node& node);
/// The layer's name without a last part that only repeats the operator, shortened to about `limit`
/// characters:
/// "/features/features.2/conv/conv.0/conv.0.0/Conv" is "features.2/conv.0/conv.0.0".
std::string layerSubtitle(const Node& node, std::size_t limit = 26);

/// "1×3×32×32", or "?" where nothing is known.
std::string shapeText(const TensorInfo& tensor);
/// Shapes of the inputs that are no constants, and of the outputs.
std::vector<std::string> inputShapes(const Graph& graph, const Node& node);
std::vector<std::string> outputShapes(const Graph& graph, const Node& node);
/// Attributes for the eye: "kernel 3×3", "stride 2", "pad 1", "group 96"; what is 1 or none anyway is left
/// out.
std::vector<std::string> attributeTexts(const Node& node);
/// All attributes under their ONNX names: {"kernel_shape", "[3, 3]"}.
std::vector<std::pair<std::string, std::string>> attributeList(const Node& node);

/// Number of characters (not bytes) of UTF-8.
std::size_t characterCount(std::string_view text);
/// The last or first characters with "…" for the rest, if there are more than `limit`.
std::string shortenLeft(std::string_view text, std::size_t limit);
std::string shortenRight(std::string_view text, std::size_t limit);
/// With U+FFFD for bytes that are no UTF-8 and for characters that XML forbids.
std::string cleanText(std::string_view text);

}  // namespace quantloupe
