// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts in and next to the boxes.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// Returns "Conv 3×3", "Conv 3×3 dw" (depthwise), "Conv 3×3 g4", "MaxPool 2×2"; the operator otherwise.
std::string layerTitle(const Graph& graph, const Node& node);

/// Returns "1×3×32×32", or "?" if the shape is unknown.
std::string shapeText(const TensorInfo& tensor);
/// Shapes of the non-constant inputs, and of the outputs.
std::vector<std::string> inputShapes(const Graph& graph, const Node& node);
std::vector<std::string> outputShapes(const Graph& graph, const Node& node);
/// Returns readable attributes: "kernel 3×3", "stride 2", "pad 1", "group 96"; default values are left out.
std::vector<std::string> attributeTexts(const Node& node);
/// All attributes under their ONNX names: {"kernel_shape", "[3, 3]"}.
std::vector<std::pair<std::string, std::string>> attributeList(const Node& node);

/// Number of characters (not bytes) of UTF-8.
std::size_t characterCount(std::string_view text);
/// Shorten a text to `limit` characters, replacing its beginning or end with "…".
std::string shortenLeft(std::string_view text, std::size_t limit);
std::string shortenRight(std::string_view text, std::size_t limit);
/// Replaces invalid UTF-8 and characters that XML forbids with U+FFFD.
std::string cleanText(std::string_view text);
/// Escapes a text, after cleanText(), for the content and the attributes of XML and HTML.
std::string escapedXml(std::string_view text);

}  // namespace quantloupe
