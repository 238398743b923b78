// SPDX-License-Identifier: Apache-2.0
// f(s x) = s f(x) for s > 0, channel by channel: Relu and similar activations (with the kink at 0), pooling
// and means over positions (per channel), padding with zeros or with the channel's own values, resizing,
// slices of positions. Cost: O(inputs). Limitation: operators composed of several nodes (such as a sigmoid
// times its input) are judged node by node.
#include "transform/pass_through.h"

#include <fmt/format.h>

#include "model/clip_bounds.h"
#include "model/operator_traits.h"
#include "model/pad_value.h"

namespace quantloupe {
namespace {

/// Reads a list from an attribute or, from some opset on, from an input.
std::optional<std::vector<std::int64_t>> listOf(const Graph& graph, const Node& node, const char* attribute,
                                                std::size_t input) {
    if (node.attributes.has(attribute)) return node.attributes.integers(attribute);
    if (!node.input(input).valid()) return std::vector<std::int64_t>{};
    const Constant* constant = graph.constantOf(node.input(input));
    if (constant == nullptr) return {};
    return constant->toInt64s();
}

std::optional<std::int64_t> rankOf(const Graph& graph, TensorId tensor) {
    const auto& shape = graph.tensor(tensor).shape;
    if (!shape) return {};
    return static_cast<std::int64_t>(shape->size());
}

std::string whyPadStops(const Graph& graph, const Node& node) {
    const std::string mode = node.attributes.text("mode", "constant");
    if (mode == "constant") {
        const std::optional<double> value = padValue(graph, node);
        if (!value) return "pads with a value computed at run time";
        if (*value != 0) return fmt::format("pads with {:g}, which is not scaled", *value);
    }
    const auto pads = listOf(graph, node, "pads", 1);
    if (!pads) return "its pads are computed at run time";
    if (node.input(3).valid()) return "pads only some axes";
    const std::size_t rank = pads->size() / 2;
    for (const std::size_t axis : {std::size_t(0), std::size_t(1)})
        if (axis < rank && ((*pads)[axis] != 0 || (*pads)[rank + axis] != 0)) return "pads channels";
    return {};
}

std::string whyReductionStops(const Graph& graph, const Node& node) {
    const auto axes = listOf(graph, node, "axes", 1);
    if (!axes) return "its axes are computed at run time";
    if (axes->empty()) return "reduces over the channels";
    const auto rank = rankOf(graph, node.input(0));
    for (const std::int64_t axis : *axes) {
        if (axis < 0 && !rank) return "reduces over axes counted from the end of an unknown rank";
        if ((axis < 0 ? axis + *rank : axis) < 2) return "reduces over the channels or the batch";
    }
    return {};
}

std::string whySliceStops(const Graph& graph, const Node& node) {
    const auto axes = listOf(graph, node, "axes", 3);
    if (!axes) return "its axes are computed at run time";
    if (axes->empty()) return "cuts channels";
    const auto rank = rankOf(graph, node.input(0));
    for (const std::int64_t axis : *axes)
        if ((axis < 0 ? axis + rank.value_or(0) : axis) < 2)
            return "cuts channels, samples, or an unknown axis";
    return {};
}

std::string whyClipStops(const Graph& graph, const Node& node) {
    const auto bounds = clipBounds(graph, node);
    if (!bounds) return "its bounds are computed at run time";
    // With a lower bound of 0 and no upper bound it is a Relu.
    if ((bounds->low == 0 || bounds->low < -3e38) && bounds->high > 3e38) return {};
    return fmt::format("clips at {:g} and {:g}", bounds->low, bounds->high);
}

}  // namespace

std::string whyScaleStops(const Graph& graph, const Node& node) {
    if (!node.domain.empty()) return fmt::format("is an unknown operator ({} of '{}')", node.op, node.domain);
    for (std::size_t i = 1; i < node.outputs.size(); ++i)
        if (node.outputs[i].valid() && !graph.tensor(node.outputs[i]).consumers.empty())
            return "has a second output";
    if (traitsOf(node).passesFactor) return {};
    if (isOp(node, "PRelu"))
        return graph.constantOf(node.input(1)) == nullptr ? "its slopes are computed at run time"
                                                          : std::string();
    if (isOp(node, "Pad")) return whyPadStops(graph, node);
    if (isOp(node, "ReduceMean") || isOp(node, "ReduceSum") || isOp(node, "ReduceMax") ||
        isOp(node, "ReduceMin"))
        return whyReductionStops(graph, node);
    if (isOp(node, "Slice")) return whySliceStops(graph, node);
    if (isOp(node, "Clip")) return whyClipStops(graph, node);
    // Every mode is a sum of weighted neighbors. If channels were resized, their number would change.
    if (isOp(node, "Resize") || isOp(node, "Upsample"))
        return node.attributes.text("coordinate_transformation_mode", "") == "tf_crop_and_resize"
                   ? "crops, and may fill in values that are not scaled"
                   : std::string();
    return fmt::format("is a {}, which a factor cannot pass", node.op);
}

bool isIdentity(const Graph& graph, const Node& node) {
    if (isOp(node, "Identity")) return true;
    if (!isOp(node, "Dropout")) return false;
    if (const TensorId mode = node.input(2); mode.valid()) {  // it may be in training mode
        const Constant* training = graph.constantOf(mode);
        if (training == nullptr || training->size() != 1 || training->scalar() != 0) return false;
    }
    const TensorId mask = node.output(1);
    return !mask.valid() || (graph.tensor(mask).consumers.empty() && !graph.tensor(mask).graphOutput);
}

TensorId tensorBeyondIdentities(const Graph& graph, TensorId tensor) {
    for (NodeId reader = graph.onlyConsumer(tensor);
         reader.valid() && isIdentity(graph, graph.node(reader)) && graph.node(reader).input(0) == tensor;
         reader = graph.onlyConsumer(tensor))
        tensor = graph.node(reader).output();
    return tensor;
}

NodeId producerBeyondIdentities(const Graph& graph, TensorId tensor) {
    NodeId producer = graph.tensor(tensor).producer;
    while (producer.valid() && isIdentity(graph, graph.node(producer)) &&
           graph.node(producer).input(0).valid()) {
        tensor = graph.node(producer).input(0);
        if (!graph.onlyConsumer(tensor).valid()) return {};
        producer = graph.tensor(tensor).producer;
    }
    return producer;
}

}  // namespace quantloupe
