// SPDX-License-Identifier: Apache-2.0
// Operators that read shapes or change only the shape of a tensor.

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "base/error.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

CompiledNode viewAs(const NodeContext& context, Dims dims) {
    const TensorDesc& input = context.input(0);
    if (elementCount(dims) != elementCount(input.dims))
        failInput("{} cannot produce {} from {}", context.node.op, toString(dims), toString(input.dims));
    const TensorDesc output{input.type, std::move(dims), Layout::Plain};
    if (input.layout == Layout::Plain) return {{output}, nullptr};
    // Keeps channels last if batch and channels are unchanged and only the other dimensions are regrouped.
    const Dims& made = output.dims;
    if (made.size() >= 3 && made.size() <= 5 && made[0] == input.dims[0] && made[1] == input.dims[1])
        return {{{input.type, made, Layout::ChannelsLast}}, nullptr};
    return {{output}, makeKernel([input](const KernelArguments& a) {
                convertLayout(input, a.inputs[0], Layout::Plain, a.outputs[0]);
            })};
}

CompiledNode compileIdentity(const NodeContext& context) { return {{context.input(0)}, nullptr}; }

/// A map of each sample's scores by class. Here it is the scores themselves, in the order of the labels, in
/// which ONNX Runtime returns its maps if the labels are sorted.
CompiledNode compileZipMap(const NodeContext& context) {
    const TensorDesc& scores = context.input(0);
    const auto check = [&](const auto& labels) {
        if (scores.dims.size() != 2 || std::cmp_not_equal(labels.size(), scores.dims[1]))
            failInput("ZipMap has {} labels for scores of the shape {}", labels.size(),
                      toString(scores.dims));
        if (std::ranges::adjacent_find(labels, std::greater_equal()) != labels.end())
            fail(ErrorKind::Unsupported, "ZipMap is supported for labels in ascending order only");
    };
    for (const auto& [name, value] : context.node.attributes) {
        if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) check(*numbers);
        if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) check(*texts);
    }
    return compileIdentity(context);
}

/// In inference mode all values pass, and the mask is all true.
CompiledNode compileDropout(const NodeContext& context) {
    if (const Constant* training = context.constant(2); training != nullptr && training->scalar() != 0)
        fail(ErrorKind::Unsupported,
             "Dropout in training mode is not supported; export the model for inference");
    if (!context.node.output(1).valid()) return compileIdentity(context);
    const TensorDesc input = context.input(0);
    TensorDesc mask = input;
    if (context.opset() >= 10) mask.type = DataType::Bool;
    const bool asFloat = mask.type == DataType::Float32;
    if (!asFloat && mask.type != DataType::Bool)
        fail(ErrorKind::Unsupported, "the mask of Dropout is supported for float32 only");
    return {{input, mask},
            makeKernel([=, count = input.count(), bytes = input.bytes()](const KernelArguments& a) {
                if (a.outputs[0] != nullptr && bytes > 0) std::memcpy(a.outputs[0], a.inputs[0], bytes);
                if (a.outputs[1] == nullptr) return;
                if (asFloat)
                    std::fill_n(static_cast<float*>(a.outputs[1]), count, 1.0f);
                else
                    std::fill_n(static_cast<bool*>(a.outputs[1]), count, true);
            })};
}

CompiledNode compileFlatten(const NodeContext& context) {
    const Dims& dims = context.input(0).dims;
    const std::int64_t attribute = context.node.attributes.integer("axis", 1);
    const std::int64_t axis = attribute < 0 ? attribute + static_cast<std::int64_t>(dims.size()) : attribute;
    if (axis < 0 || axis > static_cast<std::int64_t>(dims.size()))
        failInput("Flatten's axis {} is out of range", attribute);
    Dims result{1, 1};
    for (std::size_t d = 0; d < dims.size(); ++d)
        result[static_cast<std::int64_t>(d) < axis ? 0 : 1] *= dims[d];
    return viewAs(context, result);
}

CompiledNode compileReshape(const NodeContext& context) {
    const Dims& dims = context.input(0).dims;
    Dims result = context.opset() < 5 ? context.node.attributes.integers("shape")
                                      : context.needConstant(1, "the shape of a Reshape").toInt64s();
    const bool zeroCopies = context.node.attributes.integer("allowzero", 0) == 0;
    Dims given;
    std::optional<std::size_t> open;
    for (std::size_t d = 0; d < result.size(); ++d) {
        if (result[d] == 0 && zeroCopies) {
            if (d >= dims.size()) failInput("Reshape copies dimension {} of {}", d, toString(dims));
            result[d] = dims[d];
        }
        if (result[d] == -1) {
            if (open) failInput("Reshape has two unknown dimensions");
            open = d;
        } else {
            given.push_back(result[d]);
        }
    }
    if (open) {
        const std::int64_t known = elementCount(given);
        if (known == 0 || elementCount(dims) % known != 0)
            failInput("Reshape to [{}] does not fit {}", fmt::join(result, ", "), toString(dims));
        result[*open] = elementCount(dims) / known;
    }
    return viewAs(context, std::move(result));
}

Dims axesOf(const NodeContext& context) {
    if (context.has(1)) return context.needConstant(1, "the axes").toInt64s();
    return context.node.attributes.integers("axes");
}

CompiledNode compileSqueeze(const NodeContext& context) {
    const Dims& dims = context.input(0).dims;
    const Dims axes = axesOf(context);
    std::vector<bool> drop(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) drop[d] = axes.empty() && dims[d] == 1;
    for (const std::int64_t axis : axes) {
        const std::size_t d = normalizedAxis(axis, dims.size());
        if (dims[d] != 1) failInput("Squeeze of dimension {}, which is {} and not 1", axis, dims[d]);
        drop[d] = true;
    }
    Dims result;
    for (std::size_t d = 0; d < dims.size(); ++d)
        if (!drop[d]) result.push_back(dims[d]);
    return viewAs(context, std::move(result));
}

CompiledNode compileUnsqueeze(const NodeContext& context) {
    const Dims& dims = context.input(0).dims;
    const Dims axes = axesOf(context);
    std::vector<bool> isNew(dims.size() + axes.size());
    for (const std::int64_t axis : axes) isNew[normalizedAxis(axis, isNew.size())] = true;
    Dims result;
    std::size_t from = 0;
    for (const bool fresh : isNew) result.push_back(fresh || from >= dims.size() ? 1 : dims[from++]);
    return viewAs(context, std::move(result));
}

CompiledNode compileShape(const NodeContext& context) {
    const Dims& dims = context.input(0).dims;
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto bound = [&](const char* name, std::int64_t fallback) {
        const std::int64_t at = context.node.attributes.integer(name, fallback);
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t start = bound("start", 0), end = bound("end", rank);
    const Dims shown(dims.begin() + start, dims.begin() + std::max(start, end));
    return {{{DataType::Int64, {static_cast<std::int64_t>(shown.size())}, Layout::Plain}},
            makeKernel([shown](const KernelArguments& a) {
                std::copy(shown.begin(), shown.end(), static_cast<std::int64_t*>(a.outputs[0]));
            })};
}

CompiledNode compileSize(const NodeContext& context) {
    const std::int64_t count = elementCount(context.input(0).dims);
    return {{{DataType::Int64, {}, Layout::Plain}}, makeKernel([count](const KernelArguments& a) {
                *static_cast<std::int64_t*>(a.outputs[0]) = count;
            })};
}

}  // namespace

void addShapes(OperatorTable& table) {
    const auto any = LayoutPolicy::Any;
    const auto plain = LayoutPolicy::Plain;
    table["Identity"] = {compileIdentity, any, false};
    table["Dropout"] = {compileDropout, any, false};
    table["Flatten"] = {compileFlatten, plain, false};
    table["Reshape"] = {compileReshape, any, false};
    table["Squeeze"] = {compileSqueeze, plain, false};
    table["Unsqueeze"] = {compileUnsqueeze, plain, false};
    table["ai.onnx.ml.ZipMap"] = {compileZipMap, plain, false};
    table["Shape"] = {compileShape, any, false};
    table["Size"] = {compileSize, any, false};
}

}  // namespace quantloupe
