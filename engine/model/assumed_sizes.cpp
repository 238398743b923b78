// SPDX-License-Identifier: Apache-2.0
#include "model/assumed_sizes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/sample_axes.h"

namespace quantloupe {
namespace {

constexpr std::int64_t kPixels = 224, kAudioSamples = 16000, kFrames = 128, kNodes = 32;
constexpr std::int64_t kMostColors = 4;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool isMask(const TensorInfo& tensor) { return contains(tensor.name, "mask"); }

/// Whether a dimension is the length of earlier keys and values of an attention, [N, heads, length, width].
bool isCache(const TensorInfo& tensor, const Dim& length) {
    if (contains(tensor.name, "pixel")) return false;  // "pixel_values"
    for (const char* word : {"past", "cache", "key", "value", "seq"})
        if (contains(tensor.name, word) || contains(length.symbol, word)) return true;
    return false;
}

/// The same if the width is dynamic, too. Images can be called "key" or "value" as well.
bool isPast(const TensorInfo& tensor, const Dim& length) {
    return contains(tensor.name, "past") || contains(length.symbol, "past") ||
           contains(length.symbol, "cache");
}

/// Whether the inputs are those of one graph: features of nodes, and a list of edges.
bool isGraphNetwork(const Graph& graph) {
    return sampleIsOneSet(sampleAxes(graph)) && std::ranges::any_of(graph.inputs(), [&](TensorId input) {
               return isEdgeList(graph.tensor(input));
           });
}

/// The size of each dynamic dimension that the shape of a float32 input suggests, by position.
std::map<std::size_t, std::int64_t> suggestedSizes(const TensorInfo& tensor) {
    if (tensor.type != DataType::Float32 || !tensor.shape || isMask(tensor)) return {};
    const Shape& shape = *tensor.shape;
    const auto isDynamic = [&](std::size_t d) { return !shape[d].known(); };
    const std::size_t rank = shape.size();
    if (rank >= 4) {
        const bool channelsLast = shape.back().known() && shape.back().value <= kMostColors;
        const std::size_t height = channelsLast ? rank - 3 : rank - 2;
        if (isDynamic(height) && isDynamic(height + 1)) {
            if (isPast(tensor, shape[height])) return {};
            return {{height, kPixels}, {height + 1, kPixels}};
        }
        const Dim& colors = channelsLast ? shape.back() : shape[1];
        const bool isImage = rank == 4 && colors.known() && (colors.value == 1 || colors.value == 3);
        for (const std::size_t side : {height, height + 1})  // the other one is fixed: lines of text
            if (isImage && isDynamic(side) && !isCache(tensor, shape[side])) return {{side, kPixels}};
    } else if (isOneImage(shape)) {
        std::map<std::size_t, std::int64_t> sides;
        for (const std::size_t side : {std::size_t(1), std::size_t(2)})
            if (isDynamic(side)) sides[side] = kPixels;
        return sides;
    } else if (rank == 2 && isDynamic(1)) {
        return {{1, kAudioSamples}};
    } else if (rank == 3 && shape[1].known() && isDynamic(2)) {
        return {{2, shape[1].value == 1 ? kAudioSamples : kFrames}};
    }
    return {};
}

class AssumedSizes {
  public:
    explicit AssumedSizes(const Graph& graph) {
        for (const TensorId input : graph.inputs()) {
            const TensorInfo& tensor = graph.tensor(input);
            if (!tensor.shape) continue;
            for (const Dim& dim : *tensor.shape) m_past = m_past || contains(dim.symbol, "past");
            for (const auto& [position, size] : suggestedSizes(tensor))
                m_sizes.emplace((*tensor.shape)[position].symbol, size);
        }
        m_sizes.erase("");
        // The length of a text, which other inputs of the network share.
        for (const TensorId input : graph.inputs())
            if (const TensorInfo& tensor = graph.tensor(input);
                tensor.shape && tensor.type != DataType::Float32 && !isMask(tensor))
                for (const Dim& dim : *tensor.shape) m_sizes.erase(dim.symbol);
        if (isGraphNetwork(graph)) m_usual = kNodes;
    }

    std::int64_t sizeOf(std::string_view symbol) const {
        std::int64_t sum = 0;
        while (true) {
            const std::size_t plus = symbol.find('+');
            sum += sizeOfTerm(symbol.substr(0, plus));
            if (plus == symbol.npos) return sum;
            symbol.remove_prefix(plus + 1);
        }
    }

  private:
    std::int64_t sizeOfTerm(std::string_view symbol) const {
        const std::size_t first = symbol.find_first_not_of(' '), last = symbol.find_last_not_of(' ');
        if (first != symbol.npos) symbol = symbol.substr(first, last - first + 1);
        const auto number = parsed<std::int64_t>(symbol);
        if (number && *number >= 0 && *number < kAudioSamples) return *number;
        if (const auto found = m_sizes.find(symbol); found != m_sizes.end()) return found->second;
        return m_past && contains(symbol, "total") ? 2 : m_usual;
    }

    std::map<std::string, std::int64_t, std::less<>> m_sizes;
    bool m_past = false;
    std::int64_t m_usual = 1;
};

}  // namespace

std::vector<Dims> assumedInputDims(const Graph& graph) {
    const AssumedSizes sizes(graph);
    const SampleAxes axes = sampleAxes(graph);
    std::vector<Dims> all;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        Dims& dims = all.emplace_back();
        const TensorInfo& tensor = graph.tensor(graph.inputs()[i]);
        if (!tensor.shape) continue;
        std::map<std::size_t, std::int64_t> own = suggestedSizes(tensor);
        for (std::size_t d = 0; d < tensor.shape->size(); ++d) {
            const Dim& dim = (*tensor.shape)[d];
            const bool unnamed = dim.symbol.empty() && own.contains(d);
            dims.push_back(dim.known() ? dim.value : unnamed ? own[d] : sizes.sizeOf(dim.symbol));
        }
        if (axes[i] && axes[i] < dims.size() && !(*tensor.shape)[*axes[i]].known()) dims[*axes[i]] = 1;
    }
    return all;
}

bool onlySamplesAreDynamic(const Graph& graph) {
    const SampleAxes axes = sampleAxes(graph);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto& shape = graph.tensor(graph.inputs()[i]).shape;
        if (!shape) return false;
        for (std::size_t d = 0; d < shape->size(); ++d)
            if (!(*shape)[d].known() && d != axes[i]) return false;
    }
    return true;
}

std::string describeAssumedSizes(const Graph& graph) {
    const std::vector<Dims> dims = assumedInputDims(graph);
    const auto axes = sampleAxes(graph);
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const TensorInfo& tensor = graph.tensor(graph.inputs()[i]);
        bool assumed = false;
        for (std::size_t d = 0; d < dims[i].size(); ++d)
            assumed = assumed || (d != axes[i] && !(*tensor.shape)[d].known());
        if (assumed) inputs.push_back(fmt::format("'{}' {}", tensor.name, toString(dims[i])));
    }
    if (inputs.empty()) return {};
    return fmt::format("; sizes that the model does not fix are assumed: {}", fmt::join(inputs, ", "));
}

}  // namespace quantloupe
