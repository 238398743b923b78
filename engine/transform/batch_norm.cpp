// SPDX-License-Identifier: Apache-2.0
#include "transform/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "transform/fold_sources.h"
#include "transform/scalable_layer.h"

namespace quantloupe {
namespace {

std::string checkForm(const Graph& graph, const Node& node) {
    if (node.attributes.integer("training_mode", 0) != 0) return "it is in training mode";
    if (graph.opset() < 7 && node.attributes.integer("is_test", 0) == 0) return "it is in training mode";
    if (node.attributes.integer("spatial", 1) == 0) return "it has parameters for each position (spatial=0)";
    for (std::size_t i = 1; i < node.outputs.size(); ++i)
        if (node.output(i).valid()) return "it has training outputs";
    if (!node.input(0).valid() || !node.output(0).valid()) return "it has no input or output";
    return {};
}

/// Reads the bias as one value per channel. The bias of a Gemm may have any shape that broadcasts along rows.
std::string readBias(const Node& node, const ConstantPtr& bias, FoldHost& host) {
    const auto channels = static_cast<std::size_t>(host.layout.outputs());
    if (bias->type() != DataType::Float32) return fmt::format("the bias of '{}' is not float32", node.name);
    const auto values = bias->floats();
    if (isPerChannel(*bias, channels)) {
        host.bias.assign(values.begin(), values.end());
    } else if (values.size() == 1 && isOp(node, "Gemm")) {
        host.bias.assign(channels, values[0]);
    } else {
        return fmt::format("the bias of '{}' does not have one value per channel", node.name);
    }
    return {};
}

std::string readHost(const Node& node, bool hasBias, const ConstantPtr& weight, const ConstantPtr& bias,
                     FoldHost& host) {
    if (weight == nullptr) return fmt::format("the weight of '{}' is not constant", node.name);
    if (weight->type() != DataType::Float32)
        return fmt::format("the weight of '{}' is not float32", node.name);
    if (hasBias && bias == nullptr) return fmt::format("the bias of '{}' is not constant", node.name);
    if (isOp(node, "Gemm") &&
        (node.attributes.real("alpha", 1) != 1 || node.attributes.real("beta", 1) != 1 ||
         node.attributes.integer("transA", 0) != 0))
        return fmt::format("the Gemm '{}' has alpha, beta or transA set", node.name);
    const auto layout = weightLayout(node, weight->dims());
    if (!layout) return fmt::format("the weight of '{}' has an unexpected shape", node.name);
    if (isOp(node, "ConvTranspose") && layout->groups != 1 && !layout->depthwise)
        return fmt::format("the ConvTranspose '{}' has {} groups and is not depthwise", node.name,
                           layout->groups);
    host.layout = *layout;
    host.weight = weight;
    host.bias.assign(static_cast<std::size_t>(layout->outputs()), 0.0f);
    return hasBias ? readBias(node, bias, host) : std::string();
}

bool isPadded(const Node& node) {
    if (node.attributes.text("auto_pad", "NOTSET").starts_with("SAME")) return true;
    const auto pads = node.attributes.integers("pads");
    return std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; });
}

}  // namespace

BatchNorm BatchNorm::part(std::size_t first, std::size_t count) const {
    const auto partOf = [&](const std::vector<float>& all) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        return all.empty() ? all : std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    return {partOf(gamma), partOf(beta), partOf(mean), partOf(scale)};
}

BatchNorm BatchNorm::repeated(std::size_t times) const {
    const auto repeat = [times](const std::vector<float>& all) {
        std::vector<float> result;
        for (const float v : all) result.insert(result.end(), times, v);
        return result;
    };
    return {repeat(gamma), repeat(beta), repeat(mean), repeat(scale)};
}

bool BatchNorm::onlyScales() const {
    const auto zero = [](const std::vector<float>& all) {
        return std::ranges::all_of(all, [](float v) { return v == 0; });
    };
    return zero(beta) && zero(mean);
}

std::string readBatchNorm(const Graph& graph, const Node& node, BatchNorm& result) {
    if (std::string reason = checkForm(graph, node); !reason.empty()) return reason;
    std::vector<float> parameters[4];
    for (std::size_t i = 0; i < 4; ++i) {
        const Constant* constant = graph.constantOf(node.input(i + 1));
        if (constant == nullptr) return "its parameters are not constant";
        if (constant->type() != DataType::Float32) return "its parameters are not float32";
        parameters[i].assign(constant->floats().begin(), constant->floats().end());
        if (parameters[i].size() != parameters[0].size()) return "its parameters differ in length";
    }
    const std::vector<float>& variance = parameters[3];
    const float epsilon = node.attributes.real("epsilon", 1e-5f);
    result.scale.resize(variance.size());
    std::size_t undefined = 0, infiniteShifts = 0;
    for (std::size_t c = 0; c < variance.size(); ++c) {
        result.scale[c] = parameters[0][c] / std::sqrt(variance[c] + epsilon);
        if (!std::isfinite(result.scale[c]))
            ++undefined;
        else if (!std::isfinite(parameters[1][c] - parameters[2][c] * result.scale[c]))
            ++infiniteShifts;
    }
    if (undefined > 0)
        return fmt::format("its scale is infinite or undefined in {} of {} channels", undefined,
                           variance.size());
    if (infiniteShifts > 0)
        return fmt::format("its shift is infinite or undefined in {} of {} channels", infiniteShifts,
                           variance.size());
    result.gamma = std::move(parameters[0]);
    result.beta = std::move(parameters[1]);
    result.mean = std::move(parameters[2]);
    return {};
}

bool readAffine(const Graph& graph, const Node& node, std::size_t rank, std::size_t axis,
                std::size_t channels, BatchNorm& result) {
    const bool product = isOp(node, "Mul") || isOp(node, "Div"),
               commutative = isOp(node, "Mul") || isOp(node, "Add");
    if (!product && !isOp(node, "Add") && !isOp(node, "Sub")) return false;
    if (node.inputs.size() != 2 || !node.output().valid()) return false;
    const bool first = commutative && graph.constantOf(node.input(0)) != nullptr;
    const Constant* operand = graph.constantOf(node.input(first ? 0 : 1));
    if (operand == nullptr || operand->type() != DataType::Float32 ||
        graph.constantOf(node.input(first ? 1 : 0)) != nullptr)
        return false;
    const Dims& dims = operand->dims();
    if (dims.size() > rank || axis >= rank) return false;
    constexpr std::size_t kMostChannels = std::size_t{1} << 24;  // more are a damaged shape
    if (channels > kMostChannels) return false;
    const bool one = operand->size() == 1;
    const std::size_t fromEnd = rank - axis;  // of the channel axis
    const bool each = operand->size() == static_cast<std::int64_t>(channels) && dims.size() >= fromEnd &&
                      dims[dims.size() - fromEnd] == operand->size();
    if (!one && !each) return false;
    result = {{},
              std::vector<float>(channels, 0.0f),
              std::vector<float>(channels, 0.0f),
              std::vector<float>(channels, 1.0f)};
    for (std::size_t c = 0; c < channels; ++c) {
        const float value = operand->floats()[each ? c : 0];
        if (isOp(node, "Mul"))
            result.scale[c] = value;
        else if (isOp(node, "Div"))
            result.scale[c] = 1 / value;
        else
            result.beta[c] = isOp(node, "Add") ? value : -value;
        if (!std::isfinite(result.scale[c]) || !std::isfinite(result.beta[c])) return false;
    }
    return true;
}

std::string checkHostBefore(const Node& node, bool hasBias, const ConstantPtr& weight,
                            const ConstantPtr& bias, std::size_t channels, FoldHost& host) {
    if (std::string reason = readHost(node, hasBias, weight, bias, host); !reason.empty()) return reason;
    if (host.bias.size() != channels)
        return fmt::format("'{}' has {} channels, but it has {}", node.name, host.bias.size(), channels);
    return {};
}

std::string checkHostAfter(const Node& node, bool hasBias, const ConstantPtr& weight, const ConstantPtr& bias,
                           std::size_t channels, FoldHost& host) {
    if (isOp(node, "ConvTranspose")) return fmt::format("'{}' after it is a ConvTranspose", node.name);
    if (std::string reason = readHost(node, hasBias, weight, bias, host); !reason.empty()) return reason;
    if (host.layout.groups != 1) return fmt::format("the Conv '{}' after it has groups", node.name);
    if (isOp(node, "Conv") && isPadded(node))
        return fmt::format("the Conv '{}' after it is padded", node.name);
    if (static_cast<std::size_t>(host.layout.inputs()) != channels)
        return fmt::format("'{}' reads {} channels, but it has {}", node.name, host.layout.inputs(),
                           channels);
    return {};
}

std::vector<float> foldIntoPrevious(FoldHost& host, const BatchNorm& norm) {
    for (std::size_t c = 0; c < norm.channels(); ++c)
        host.bias[c] = norm.beta[c] - (norm.mean[c] - host.bias[c]) * norm.scale[c];
    std::vector<float> weight(host.weight->floats().begin(), host.weight->floats().end());
    scaleAlong(weight, host.layout.dims, host.layout.outputAxis, norm.scale);
    return weight;
}

std::vector<float> foldIntoNext(FoldHost& host, const BatchNorm& norm) {
    std::vector<float> weight(host.weight->floats().begin(), host.weight->floats().end());
    const std::vector<float> sums = kernelSums(weight, host.layout.dims);
    const std::size_t outputs = host.bias.size(), inputs = norm.channels();
    const bool outputFirst = host.layout.outputAxis == 0;
    for (std::size_t o = 0; o < outputs; ++o) {
        double sum = 0;
        for (std::size_t i = 0; i < inputs; ++i) {
            const float shift = norm.beta[i] - norm.mean[i] * norm.scale[i];
            sum += static_cast<double>(sums[outputFirst ? o * inputs + i : i * outputs + o]) *
                   static_cast<double>(shift);
        }
        host.bias[o] += static_cast<float>(sum);
    }
    scaleAlong(weight, host.layout.dims, host.layout.inputAxis, norm.scale);
    return weight;
}

}  // namespace quantloupe
