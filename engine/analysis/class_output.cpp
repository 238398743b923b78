// SPDX-License-Identifier: Apache-2.0
#include "analysis/class_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/is_one_of.h"
#include "base/short_text.h"
#include "base/text.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

bool isVector(const OutputVector& output, bool binary = false) { return output.width > (binary ? 0 : 1); }

bool namesClasses(const OutputVector& output) {
    constexpr std::array<std::string_view, 5> kWords = {"logit", "prob", "score", "softmax", "class"};
    const std::string name = lowerCase(output.name);
    return std::ranges::any_of(kWords, [&](auto word) { return name.find(word) != std::string::npos; });
}

/// The names of the vectors except `without`, in quotation marks.
std::vector<std::string> vectorNames(std::span<const OutputVector> outputs, std::size_t without,
                                     bool binary = false) {
    std::vector<std::string> names;
    for (std::size_t o = 0; o < outputs.size(); ++o)
        if (o != without && isVector(outputs[o], binary))
            names.push_back(fmt::format("'{}'", shortName(outputs[o].name)));
    return names;
}

constexpr std::array<std::string_view, 3> kProbabilities = {"Sigmoid", "HardSigmoid", "Softmax"};

/// Operators that select or keep the values of their first input.
bool keepsValues(const Node& node) {
    return onlyRearranges(node.op) ||
           isOneOf(node.op, {"Identity", "Cast", "Clip", "Slice", "Gather", "Dropout", "QuantizeLinear",
                             "DequantizeLinear", "ZipMap"});
}

/// The node that computes a tensor, not counting those that `passes` accepts; null for an input.
const Node* origin(const Graph& graph, TensorId tensor, const std::function<bool(const Node&)>& passes) {
    const Node* node = nullptr;
    for (NodeId producer = graph.tensor(tensor).producer; producer.valid();
         producer = graph.tensor(node->input(0)).producer) {
        node = &graph.node(producer);
        if (!passes(*node) || node->inputs.empty() || !node->input(0).valid()) return node;
    }
    return nullptr;
}

}  // namespace

std::optional<std::size_t> classOutput(std::span<const OutputVector> outputs, const std::string& chosen,
                                       bool binary) {
    if (!chosen.empty()) {
        for (std::size_t o = 0; o < outputs.size(); ++o)
            if (outputs[o].name == chosen && isVector(outputs[o], binary)) return o;
        const std::vector<std::string> names = vectorNames(outputs, outputs.size(), binary);
        failInput("'{}' is not an output with one vector of classes per sample; {}", shortName(chosen),
                  names.empty() ? "there is none" : fmt::format("available: {}", fmt::join(names, ", ")));
    }
    const auto named = [&](auto fits) -> std::optional<std::size_t> {
        for (std::size_t o = 0; o < outputs.size(); ++o)
            if (fits(outputs[o]) && namesClasses(outputs[o])) return o;
        return std::nullopt;
    };
    const auto isSingle = [](const OutputVector& output) { return output.width == 1; };
    const auto vector = named([](const OutputVector& output) { return isVector(output); });
    const bool two =
        std::ranges::any_of(outputs, [](const OutputVector& output) { return output.width == 2; });
    if (binary && !two && !vector)
        if (const auto single = named(isSingle)) return single;
    const auto first = std::ranges::find_if_not(outputs, isSingle);
    if (first == outputs.end())
        return binary && !outputs.empty() ? std::optional<std::size_t>(0) : std::nullopt;
    if (!isVector(*first)) return std::nullopt;
    return vector ? *vector : static_cast<std::size_t>(first - outputs.begin());
}

std::string classOutputNotice(std::span<const OutputVector> outputs, std::size_t used, bool binary) {
    const std::vector<std::string> others = vectorNames(outputs, used, binary);
    if (others.empty()) return {};
    const std::string rule = fmt::format("the class of a sample is the largest value of the output '{}'; ",
                                         shortName(outputs[used].name));
    return fmt::format(
        "{}{} could contain classes, too: choose another output with --class-output, or under Labels in the "
        "window",
        outputs[used].width > 1 ? rule : std::string(), fmt::join(others, ", "));
}

std::size_t vectorWidth(std::span<const std::int64_t> dims, std::size_t samples) {
    if (dims.size() == 2) return static_cast<std::size_t>(dims[1]);
    return dims.size() == 1 && dims[0] == static_cast<std::int64_t>(samples) ? 1 : 0;
}

bool isRanked(const Graph& graph, TensorId output) {
    const Node* node = origin(graph, output, [](const Node& passed) {
        const bool moves = isOneOf(passed.op, {"Transpose", "Gather", "Slice"});
        return (keepsValues(passed) && !moves) || isOneOf(passed.op, kProbabilities) ||
               isOneOf(passed.op, {"LogSoftmax", "Add", "Sub", "Mul", "Div"});
    });
    if (node == nullptr || node->op != "TopK") return false;
    const auto& shape = graph.tensor(node->input(0)).shape;
    const std::int64_t axis = node->attributes.integer("axis", -1);
    const bool last = axis == -1 || (shape && axis == static_cast<std::int64_t>(shape->size()) - 1);
    const Constant* count = node->inputs.size() > 1 ? graph.constantOf(node->input(1)) : nullptr;
    return last && (count == nullptr || count->size() != 1 || count->toInt64s().front() > 1);
}

std::size_t scoreCount(const Graph& graph, TensorId output, std::span<const std::int64_t> dims,
                       std::size_t samples) {
    return isRanked(graph, output) ? 0 : vectorWidth(dims, samples);
}

float binaryThreshold(const Graph& graph, TensorId output) {
    const Node* node = origin(graph, output, keepsValues);
    return node != nullptr && isOneOf(node->op, kProbabilities) ? 0.5f : 0;
}

std::string binaryNotice(const std::string& output, float threshold) {
    return fmt::format(
        "the class of a sample is 1 if '{}' is above {}, otherwise 0; for a regression, set --task "
        "regression",
        shortName(output),
        threshold > 0 ? "0.5 (a probability)" : "0 (taken for a logit: no Sigmoid computes it)");
}

}  // namespace quantloupe
