// SPDX-License-Identifier: Apache-2.0
// Operators that move elements or look at shapes: views, Transpose, Concat, Shape, Constant-like.
#include <cstring>

#include "base/error.h"
#include "runtime/operators.h"

namespace quantloupe {
namespace {

CompiledNode viewAs(const NodeContext& context, Dims dims) {
    const TensorDesc& input = context.input(0);
    if (elementCount(dims) != elementCount(input.dims))
        failInput("{} cannot make {} of {}", context.node.op, toString(dims), toString(input.dims));
    return {{{input.type, std::move(dims), Layout::Plain}}, nullptr};
}

CompiledNode compileIdentity(const NodeContext& context) {
    if (context.node.outputs.size() > 1 && context.node.outputs[1].valid())
        fail(ErrorKind::Unsupported, "the mask output of Dropout is not supported");
    return {{context.input(0)}, nullptr};
}

CompiledNode compileFlatten(const NodeContext& context) {
    const Dims& dims = context.input(0).dims;
    const std::int64_t attribute = context.node.attributes.integer("axis", 1);
    const std::int64_t axis = attribute < 0 ? attribute + static_cast<std::int64_t>(dims.size()) : attribute;
    if (axis < 0 || axis > static_cast<std::int64_t>(dims.size())) failInput("Flatten's axis {} is out of range", attribute);
    Dims result{1, 1};
    for (std::size_t d = 0; d < dims.size(); ++d) result[static_cast<std::int64_t>(d) < axis ? 0 : 1] *= dims[d];
    return viewAs(context, result);
}

CompiledNode compileReshape(const NodeContext& context) {
    const Dims& dims = context.input(0).dims;
    Dims result = context.opset() < 5 ? context.node.attributes.integers("shape")
                                      : context.needConstant(1, "the shape of a Reshape").toInt64s();
    const bool zeroCopies = context.node.attributes.integer("allowzero", 0) == 0;
    std::int64_t known = 1;
    std::optional<std::size_t> open;
    for (std::size_t d = 0; d < result.size(); ++d) {
        if (result[d] == 0 && zeroCopies) {
            if (d >= dims.size()) failInput("Reshape copies dimension {} of {}", d, toString(dims));
            result[d] = dims[d];
        }
        if (result[d] == -1) {
            if (open) failInput("Reshape has two open dimensions");
            open = d;
        } else {
            known *= result[d];
        }
    }
    if (open) {
        if (known == 0 || elementCount(dims) % known != 0)
            failInput("Reshape to [{}] does not fit {}", fmt::join(result, ", "), toString(dims));
        result[*open] = elementCount(dims) / known;
    }
    // A batch that was 1 on export must not stay 1 when several samples run at once.
    if (elementCount(result) != elementCount(dims) && !result.empty() && !dims.empty() && result[0] == 1 &&
        elementCount(result) * dims[0] == elementCount(dims))
        result[0] = dims[0];
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

template <typename T>
void transposeLoop(const T* in, T* out, const Dims& dims, const std::vector<std::size_t>& strides) {
    const std::size_t rank = dims.size();
    Dims at(rank, 0);
    std::size_t from = 0;
    const auto count = static_cast<std::size_t>(elementCount(dims));
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = in[from];
        for (std::size_t d = rank; d-- > 0;) {
            from += strides[d];
            if (++at[d] < dims[d]) break;
            from -= strides[d] * static_cast<std::size_t>(dims[d]);
            at[d] = 0;
        }
    }
}

CompiledNode compileTranspose(const NodeContext& context) {
    const TensorDesc input = context.input(0);
    const std::size_t rank = input.dims.size();
    Dims order = context.node.attributes.integers("perm");
    if (order.empty())
        for (std::size_t d = rank; d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
    if (order.size() != rank) failInput("Transpose's perm has {} entries for rank {}", order.size(), rank);
    std::vector<std::size_t> inStrides(rank, 1), strides(rank);
    for (std::size_t d = rank; d-- > 1;) inStrides[d - 1] = inStrides[d] * static_cast<std::size_t>(input.dims[d]);
    TensorDesc output{input.type, Dims(rank), Layout::Plain};
    for (std::size_t d = 0; d < rank; ++d) {
        const std::size_t from = normalizedAxis(order[d], rank);
        output.dims[d] = input.dims[from];
        strides[d] = inStrides[from];
    }
    const std::size_t size = elementSize(input.type);
    return {{output}, makeKernel([=, dims = output.dims](const KernelArguments& a) {
                if (size == 4)
                    transposeLoop(static_cast<const std::uint32_t*>(a.inputs[0]),
                                  static_cast<std::uint32_t*>(a.outputs[0]), dims, strides);
                else if (size == 8)
                    transposeLoop(static_cast<const std::uint64_t*>(a.inputs[0]),
                                  static_cast<std::uint64_t*>(a.outputs[0]), dims, strides);
                else
                    transposeLoop(static_cast<const std::uint8_t*>(a.inputs[0]),
                                  static_cast<std::uint8_t*>(a.outputs[0]), dims, strides);
            })};
}

CompiledNode compileConcat(const NodeContext& context) {
    TensorDesc output = context.input(0);
    const std::size_t rank = output.dims.size();
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), rank);
    output.dims[axis] = 0;
    std::size_t outer = 1, inner = elementSize(output.type);
    for (std::size_t d = 0; d < axis; ++d) outer *= static_cast<std::size_t>(output.dims[d]);
    for (std::size_t d = axis + 1; d < rank; ++d) inner *= static_cast<std::size_t>(output.dims[d]);
    std::vector<std::size_t> runs;  // bytes of each input for one outer index
    for (std::size_t i = 0; i < context.inputs.size(); ++i) {
        const TensorDesc& input = context.input(i);
        Dims expected = output.dims;
        if (input.dims.size() == rank) expected[axis] = input.dims[axis];
        if (input.type != output.type || input.dims != expected)
            failInput("Concat cannot join {} and {}", toString(context.input(0).dims), toString(input.dims));
        runs.push_back(static_cast<std::size_t>(input.dims[axis]) * inner);
        output.dims[axis] += input.dims[axis];
    }
    return {{output}, makeKernel([=](const KernelArguments& a) {
                auto* out = static_cast<std::byte*>(a.outputs[0]);
                for (std::size_t o = 0; o < outer; ++o)
                    for (std::size_t i = 0; i < runs.size(); ++i) {
                        std::memcpy(out, static_cast<const std::byte*>(a.inputs[i]) + o * runs[i], runs[i]);
                        out += runs[i];
                    }
            })};
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

CompiledNode compileGather(const NodeContext& context) {
    const TensorDesc data = context.input(0);
    const std::vector<std::int64_t> indices = context.needConstant(1, "the indices of a Gather").toInt64s();
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), data.dims.size());
    std::size_t outer = 1, inner = elementSize(data.type);
    for (std::size_t d = 0; d < axis; ++d) outer *= static_cast<std::size_t>(data.dims[d]);
    for (std::size_t d = axis + 1; d < data.dims.size(); ++d) inner *= static_cast<std::size_t>(data.dims[d]);
    std::vector<std::size_t> rows;
    for (const std::int64_t index : indices) rows.push_back(normalizedAxis(index, static_cast<std::size_t>(data.dims[axis])));
    TensorDesc output{data.type, data.dims, Layout::Plain};
    const Dims& indexDims = context.input(1).dims;
    output.dims.erase(output.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    output.dims.insert(output.dims.begin() + static_cast<std::ptrdiff_t>(axis), indexDims.begin(), indexDims.end());
    const std::size_t extent = static_cast<std::size_t>(data.dims[axis]);
    return {{output}, makeKernel([=](const KernelArguments& a) {
                const auto* in = static_cast<const std::byte*>(a.inputs[0]);
                auto* out = static_cast<std::byte*>(a.outputs[0]);
                for (std::size_t o = 0; o < outer; ++o)
                    for (const std::size_t row : rows) {
                        std::memcpy(out, in + (o * extent + row) * inner, inner);
                        out += inner;
                    }
            })};
}

}  // namespace

void addShapes(OperatorTable& table) {
    const auto any = LayoutPolicy::Any;
    const auto plain = LayoutPolicy::Plain;
    table["Identity"] = {compileIdentity, any, false};
    table["Dropout"] = {compileIdentity, any, false};
    table["Flatten"] = {compileFlatten, plain, false};
    table["Reshape"] = {compileReshape, plain, false};
    table["Squeeze"] = {compileSqueeze, plain, false};
    table["Unsqueeze"] = {compileUnsqueeze, plain, false};
    table["Transpose"] = {compileTranspose, plain, false};
    table["Concat"] = {compileConcat, plain, false};
    table["Shape"] = {compileShape, any, false};
    table["Gather"] = {compileGather, plain, false};
}

}  // namespace quantloupe
