// SPDX-License-Identifier: Apache-2.0
#include "picture/picture_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quantloupe {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Returns an attribute of integers; empty if it is missing or has another type (a picture is not the place
/// for errors).
std::vector<std::int64_t> integersOf(const Node& node, std::string_view name) {
    for (const auto& [key, value] : node.attributes) {
        if (key != name) continue;
        if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) return *list;
        if (const auto* one = std::get_if<std::int64_t>(&value)) return {*one};
    }
    return {};
}

/// The extents of a tensor as far as they are known: a constant's, or the model's (-1 for a symbol).
Dims extentsOf(const Graph& graph, TensorId id) {
    if (const Constant* constant = graph.constantOf(id)) return constant->dims();
    Dims dims;
    if (id.valid() && graph.tensor(id).shape)
        for (const Dim& dim : *graph.tensor(id).shape) dims.push_back(dim.value);
    return dims;
}

std::string groupText(const Graph& graph, const Node& node, const Dims& weight) {
    const std::vector<std::int64_t> group = integersOf(node, "group");
    if (group.size() != 1 || group[0] <= 1) return {};
    const Dims input = extentsOf(graph, node.input(0));
    std::int64_t channels = input.size() > 1 ? input[1] : -1;
    if (weight.size() > 1) channels = node.op == "ConvTranspose" ? weight[0] : weight[1] * group[0];
    return channels == group[0] ? " dw" : fmt::format(" g{}", group[0]);
}

bool allEqual(const std::vector<std::int64_t>& values, std::int64_t value) {
    return std::all_of(values.begin(), values.end(), [value](std::int64_t v) { return v == value; });
}

}  // namespace

std::string layerTitle(const Graph& graph, const Node& node) {
    const bool conv = node.op == "Conv" || node.op == "ConvTranspose";
    const bool pool = node.op == "MaxPool" || node.op == "AveragePool" || node.op == "LpPool";
    if (!conv && !pool) return cleanText(node.op);
    std::vector<std::int64_t> kernel = integersOf(node, "kernel_shape");
    const Dims weight = conv ? extentsOf(graph, node.input(1)) : Dims();
    if (kernel.empty() && weight.size() > 2) kernel.assign(weight.begin() + 2, weight.end());
    std::string title = node.op;
    if (!kernel.empty()) title += fmt::format(" {}", fmt::join(kernel, "×"));
    if (conv) title += groupText(graph, node, weight);
    return title;
}

std::string shapeText(const TensorInfo& tensor) {
    return tensor.shape ? cleanText(toString(*tensor.shape)) : "?";
}

std::vector<std::string> inputShapes(const Graph& graph, const Node& node) {
    std::vector<std::string> shapes;
    for (const TensorId id : node.inputs)
        if (id.valid() && graph.constantOf(id) == nullptr) shapes.push_back(shapeText(graph.tensor(id)));
    return shapes;
}

std::vector<std::string> outputShapes(const Graph& graph, const Node& node) {
    std::vector<std::string> shapes;
    for (const TensorId id : node.outputs)
        if (id.valid()) shapes.push_back(shapeText(graph.tensor(id)));
    return shapes;
}

std::vector<std::string> attributeTexts(const Node& node) {
    struct Known {
        const char* name;
        const char* word;
        std::int64_t usual;  ///< not worth a word
    };
    static constexpr Known kKnown[] = {{"kernel_shape", "kernel", -1},
                                       {"strides", "stride", 1},
                                       {"pads", "pad", 0},
                                       {"dilations", "dilation", 1},
                                       {"group", "group", 1}};
    std::vector<std::string> texts;
    for (const Known& known : kKnown) {
        const std::vector<std::int64_t> values = integersOf(node, known.name);
        if (values.empty() || allEqual(values, known.usual)) continue;
        const bool one = allEqual(values, values.front()) && known.usual >= 0;
        const bool pads = std::string_view(known.name) == "pads";
        texts.push_back(one    ? fmt::format("{} {}", known.word, values.front())
                        : pads ? fmt::format("{} {}", known.word, fmt::join(values, ","))
                               : fmt::format("{} {}", known.word, fmt::join(values, "×")));
    }
    for (const auto& [name, value] : node.attributes) {
        const bool shown = std::any_of(std::begin(kKnown), std::end(kKnown),
                                       [&name = name](const Known& known) { return name == known.name; });
        if (!shown) texts.push_back(cleanText(name + " " + shortenRight(toString(value), 40)));
    }
    return texts;
}

std::vector<std::pair<std::string, std::string>> attributeList(const Node& node) {
    std::vector<std::pair<std::string, std::string>> list;
    for (const auto& [name, value] : node.attributes)
        list.emplace_back(cleanText(name), cleanText(shortenRight(toString(value), 80)));
    return list;
}

std::size_t characterCount(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string shortenLeft(std::string_view text, std::size_t limit) {
    std::size_t count = characterCount(text);
    if (count <= limit) return std::string(text);
    std::size_t at = 0;
    for (; count >= limit && at < text.size(); --count) {
        do ++at;
        while (at < text.size() && continues(text[at]));
    }
    return "…" + std::string(text.substr(at));
}

std::string shortenRight(std::string_view text, std::size_t limit) {
    if (characterCount(text) <= limit) return std::string(text);
    std::size_t at = 0;
    for (std::size_t count = 1; count < limit && at < text.size(); ++count) {
        do ++at;
        while (at < text.size() && continues(text[at]));
    }
    return std::string(text.substr(0, at)) + "…";
}

std::string cleanText(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = lead < 0x80       ? 1
                                   : lead >> 5 == 6  ? 2
                                   : lead >> 4 == 14 ? 3
                                   : lead >> 3 == 30 ? 4
                                                     : 0;
        std::uint32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
        bool good = length > 0 && i + length <= text.size();
        for (std::size_t k = 1; good && k < length; ++k) {
            good = continues(text[i + k]);
            code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3fu);
        }
        constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
        const bool control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
        good = good && code >= kLeast[length] && !control && !(code >= 0xd800 && code < 0xe000) &&
               code < 0x110000 && code != 0xfffe && code != 0xffff;
        if (good)
            clean.append(text.substr(i, length));
        else
            clean += "\xef\xbf\xbd";
        i += good ? length : 1;
    }
    return clean;
}

std::string escapedXml(std::string_view text) {
    std::string result;
    for (const char c : cleanText(text)) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else
            result += c;
    }
    return result;
}

}  // namespace quantloupe
