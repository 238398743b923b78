// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: Transpose, Concat, Split, Slice, Expand, Tile, DepthToSpace, SpaceToDepth,
// CenterCropPad.
#include <cstring>
#include <limits>

#include "base/error.h"
#include "runtime/operators/broadcast.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/strided.h"

namespace quantloupe {
namespace {

using Steps = StridedLoops::Steps;

CompiledNode copied(const TensorDesc& output, const Steps& steps, std::ptrdiff_t start = 0) {
    return {{output}, makeKernel([copy = stridedCopy(output, steps, start)](const KernelArguments& a) {
                copy(a.inputs[0], a.outputs[0]);
            })};
}

CompiledNode compileTranspose(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    const std::size_t rank = input.dims.size();
    Dims order = context.node.attributes.integers("perm");
    if (order.empty())
        for (std::size_t d = rank; d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
    if (order.size() != rank) failInput("Transpose's perm has {} entries for rank {}", order.size(), rank);
    const Steps strides = input.strides();
    TensorDesc output{input.type, Dims(rank), Layout::Plain};
    Steps steps(rank);
    std::vector<bool> seen(rank, false);
    for (std::size_t d = 0; d < rank; ++d) {
        const std::size_t from = normalizedAxis(order[d], rank);
        if (seen[from]) failInput("Transpose's perm names dimension {} twice", from);
        seen[from] = true;
        output.dims[d] = input.dims[from];
        steps[d] = strides[from];
    }
    // Between NHWC and NCHW nothing needs to move: the result has the other layout.
    const bool last =
        input.type == DataType::Float32 && rank >= 3 && rank <= 5 && context.constant(0) == nullptr;
    for (const Layout layout : {Layout::Plain, Layout::ChannelsLast}) {
        if (layout == Layout::ChannelsLast && !last) continue;
        TensorDesc view = output;
        view.layout = layout;
        const Steps wanted = view.strides();
        bool same = true;
        for (std::size_t d = 0; d < rank; ++d) same = same && (view.dims[d] == 1 || wanted[d] == steps[d]);
        if (same) return {{view}, nullptr};
    }
    return copied(output, steps);
}

CompiledNode compileConcat(const NodeContext& context) {
    TensorDesc output = context.input(0);
    const std::size_t rank = output.dims.size();
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), rank);
    output.dims[axis] = 0;
    for (std::size_t i = 0; i < context.inputs.size(); ++i) {
        const TensorDesc& input = context.input(i);
        Dims expected = output.dims;
        if (input.dims.size() == rank) expected[axis] = input.dims[axis];
        if (input.type != output.type || input.dims != expected)
            failInput("Concat cannot join {} and {}", toString(context.input(0).dims), toString(input.dims));
        output.dims[axis] += input.dims[axis];
    }
    std::size_t outer = 1, inner = elementSize(output.type);
    bool before = true;
    for (const std::size_t d : output.memoryOrder()) {
        if (d == axis)
            before = false;
        else
            (before ? outer : inner) *= static_cast<std::size_t>(output.dims[d]);
    }
    std::vector<std::size_t> runs;  // bytes of each input for one outer index
    for (const TensorDesc& input : context.inputs)
        runs.push_back(static_cast<std::size_t>(input.dims[axis]) * inner);
    return {{output}, makeKernel([=](const KernelArguments& a) {
                auto* out = static_cast<std::byte*>(a.outputs[0]);
                for (std::size_t o = 0; o < outer; ++o)
                    for (std::size_t i = 0; i < runs.size(); ++i) {
                        if (runs[i] > 0)
                            std::memcpy(out, static_cast<const std::byte*>(a.inputs[i]) + o * runs[i],
                                        runs[i]);
                        out += runs[i];
                    }
            })};
}

CompiledNode compileSplit(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), input.dims.size());
    const auto parts = static_cast<std::int64_t>(context.node.outputs.size());
    Dims sizes = context.node.attributes.integers("split");
    if (context.has(1)) sizes = context.needConstant(1, "the sizes of a Split").toInt64s();
    if (sizes.empty()) {
        const std::int64_t each = (input.dims[axis] + parts - 1) / parts;  // the last may be smaller
        for (std::int64_t left = input.dims[axis], p = 0; p < parts; ++p, left -= each)
            sizes.push_back(std::clamp<std::int64_t>(left, 0, each));
    }
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes)
        sum += size < 0 ? failInput("Split's size {} is negative", size), 0 : size;
    if (sum != input.dims[axis] || sizes.size() != static_cast<std::size_t>(parts))
        failInput("Split into {} parts of [{}] does not fit {}", parts, fmt::join(sizes, ", "),
                  toString(input.dims));

    CompiledNode result;
    std::vector<std::function<void(const void*, void*)>> copies;
    std::ptrdiff_t start = 0;
    for (const std::int64_t size : sizes) {
        TensorDesc output = input;
        output.dims[axis] = size;
        result.outputs.push_back(output);
        copies.push_back(stridedCopy(output, input.strides(), start));
        start += input.strides()[axis] * size;
    }
    result.kernel = makeKernel([copies](const KernelArguments& a) {
        for (std::size_t i = 0; i < copies.size(); ++i)
            if (a.outputs[i] != nullptr) copies[i](a.inputs[0], a.outputs[i]);
    });
    return result;
}

CompiledNode compileSlice(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    const std::size_t rank = input.dims.size();
    const bool attributes = context.opset() < 10;
    const auto list = [&](std::size_t i, const char* name) -> Dims {
        if (attributes) return context.node.attributes.integers(name);
        return context.has(i) ? context.needConstant(i, fmt::format("Slice's {}", name)).toInt64s() : Dims();
    };
    const Dims starts = list(1, "starts"), ends = list(2, "ends");
    Dims axes = list(3, "axes"), strides = attributes ? Dims() : list(4, "steps");
    if (axes.empty())
        for (std::size_t d = 0; d < starts.size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
    if (strides.empty()) strides.assign(starts.size(), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size() || strides.size() != starts.size())
        failInput("Slice's starts, ends, axes and steps differ in length");

    TensorDesc output = input;
    Steps steps = input.strides();
    std::ptrdiff_t start = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t d = normalizedAxis(axes[i], rank);
        const std::int64_t extent = input.dims[d], longest = std::max<std::int64_t>(extent, 1);
        if (strides[i] == 0) failInput("Slice's step is 0");
        const std::int64_t stride = std::clamp(strides[i], -longest, longest);  // a longer one has no effect
        const std::int64_t lowest = stride > 0 ? 0 : -1, highest = stride > 0 ? extent : extent - 1;
        const auto place = [&](std::int64_t at) {
            return std::clamp(at < 0 ? std::max(at, -extent - 1) + extent : std::min(at, extent), lowest,
                              highest);
        };
        const std::int64_t from =
            stride > 0 ? place(starts[i]) : std::max<std::int64_t>(place(starts[i]), extent == 0 ? -1 : 0);
        // As in ONNX Runtime, the largest numbers mean "to the end" in both directions.
        const bool whole = ends[i] == std::numeric_limits<std::int64_t>::max() ||
                           ends[i] == std::numeric_limits<std::int32_t>::max();
        const std::int64_t to = stride < 0 && whole ? lowest : place(ends[i]);
        const std::int64_t room = stride > 0 ? to - from : from - to, size = std::abs(stride);
        output.dims[d] = room <= 0 ? 0 : 1 + (room - 1) / size;
        start += from * steps[d];
        steps[d] *= stride;
    }
    if (output.dims == input.dims && start == 0 && steps == input.strides()) return {{output}, nullptr};
    return copied(output, steps, output.count() == 0 ? 0 : start);
}

CompiledNode compileExpand(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    const TensorDesc output{input.type,
                            broadcastDims(input.dims, context.needConstant(1, "Expand's shape").toInt64s()),
                            Layout::Plain};
    if (output.dims == input.dims && input.layout == Layout::Plain) return {{output}, nullptr};
    return copied(output, broadcastSteps(input, output.dims));
}

CompiledNode compileTile(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    const Dims repeats = context.needConstant(1, "Tile's repeats").toInt64s();
    if (repeats.size() != input.dims.size())
        failInput("Tile has {} repeats for rank {}", repeats.size(), input.dims.size());
    // walk: each dimension as (repeat, extent)
    TensorDesc output{input.type, {}, Layout::Plain}, walk = output;
    Steps steps;
    for (std::size_t d = 0; d < repeats.size(); ++d) {
        if (repeats[d] < 0) failInput("Tile's repeat {} is negative", repeats[d]);
        output.dims.push_back(input.dims[d] * repeats[d]);
        walk.dims.insert(walk.dims.end(), {repeats[d], input.dims[d]});
        steps.insert(steps.end(), {0, input.strides()[d]});
    }
    CompiledNode result = copied(walk, steps);
    result.outputs = {output};
    return result;
}

/// For both directions between a block of pixels and channels: a transposition of split dimensions. `order`
/// permutes the input's.
CompiledNode regroup(const NodeContext& context, const Dims& apart, const std::vector<std::size_t>& order,
                     Dims made) {
    const TensorDesc whole{context.input(0).type, apart, Layout::Plain};
    TensorDesc walk{whole.type, {}, Layout::Plain};
    Steps steps;
    for (const std::size_t d : order) {
        walk.dims.push_back(apart[d]);
        steps.push_back(whole.strides()[d]);
    }
    CompiledNode result = copied(walk, steps);
    result.outputs = {{whole.type, std::move(made), Layout::Plain}};
    return result;
}

CompiledNode compileBlocks(const NodeContext& context, bool toSpace) {
    const Dims& d = context.input(0).dims;
    const std::int64_t b = context.node.attributes.integer("blocksize", 0);
    if (d.size() != 4 || b < 1) failInput("{} needs a rank of 4 and a positive blocksize", context.node.op);
    if (toSpace ? d[1] % (b * b) != 0 : d[2] % b != 0 || d[3] % b != 0)
        failInput("{} with blocks of {} does not fit {}", context.node.op, b, toString(d));
    const std::string mode = context.node.attributes.text("mode", "DCR");
    if (mode != "DCR" && mode != "CRD") failInput("{} has no mode '{}'", context.node.op, mode);
    if (!toSpace) {
        const std::vector<std::size_t> order = mode == "CRD" ? std::vector<std::size_t>{0, 1, 3, 5, 2, 4}
                                                             : std::vector<std::size_t>{0, 3, 5, 1, 2, 4};
        return regroup(context, {d[0], d[1], d[2] / b, b, d[3] / b, b}, order,
                       {d[0], d[1] * b * b, d[2] / b, d[3] / b});
    }
    const Dims made{d[0], d[1] / (b * b), d[2] * b, d[3] * b};
    if (mode == "CRD") return regroup(context, {d[0], made[1], b, b, d[2], d[3]}, {0, 1, 4, 2, 5, 3}, made);
    return regroup(context, {d[0], b, b, made[1], d[2], d[3]}, {0, 3, 4, 1, 5, 2}, made);
}

/// Cuts the same number of elements from both ends of each axis, or adds zeros; an odd one at the end.
CompiledNode compileCenterCropPad(const NodeContext& context) {
    const TensorDesc input = context.input(0);
    const Dims target = context.needConstant(1, "the shape of a CenterCropPad").toInt64s();
    Dims axes = context.node.attributes.integers("axes");
    if (axes.empty())
        for (std::size_t d = 0; d < input.dims.size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
    if (target.size() != axes.size())
        failInput("CenterCropPad has {} extents for {} axes", target.size(), axes.size());
    TensorDesc output{input.type, input.dims, Layout::Plain}, copied = output;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t d = normalizedAxis(axes[i], input.dims.size());
        if (target[i] < 0 || target[i] > std::numeric_limits<std::int32_t>::max())
            failInput("CenterCropPad has an extent of {}", target[i]);
        output.dims[d] = target[i];
        copied.dims[d] = std::min(target[i], input.dims[d]);
    }
    std::ptrdiff_t from = 0, to = 0;
    for (std::size_t d = 0; d < input.dims.size(); ++d) {
        from += (input.dims[d] - copied.dims[d]) / 2 * input.strides()[d];
        to += (output.dims[d] - copied.dims[d]) / 2 * output.strides()[d];
    }
    const StridedLoops loops(extentsInMemoryOrder(copied), {inMemoryOrder(copied, input.strides()),
                                                            inMemoryOrder(copied, output.strides())});
    return {{output},
            makeKernel([=, size = static_cast<std::ptrdiff_t>(elementSize(input.type)),
                        bytes = output.bytes()](const KernelArguments& a) {
                std::memset(a.outputs[0], 0, bytes);
                loops.forEachRow([&](const std::ptrdiff_t* offsets) {
                    const auto* in = static_cast<const std::byte*>(a.inputs[0]) + (from + offsets[0]) * size;
                    auto* out = static_cast<std::byte*>(a.outputs[0]) + (to + offsets[1]) * size;
                    for (std::size_t i = 0; i < loops.inner(); ++i) {
                        const auto at = static_cast<std::ptrdiff_t>(i) * size;
                        std::memcpy(out + at * loops.innerStep(1), in + at * loops.innerStep(0),
                                    static_cast<std::size_t>(size));
                    }
                });
            })};
}

}  // namespace

void addMoves(OperatorTable& table) {
    const auto any = LayoutPolicy::Any;
    const auto plain = LayoutPolicy::Plain;
    table["Transpose"] = {compileTranspose, any, false};
    table["Concat"] = {compileConcat, LayoutPolicy::Joined};
    table["Split"] = {compileSplit, any, false};
    table["Slice"] = {compileSlice, any, false};
    table["Expand"] = {compileExpand, any, false};
    table["Tile"] = {compileTile, any, false};
    table["DepthToSpace"] = {[](const NodeContext& c) { return compileBlocks(c, true); }, plain, false};
    table["CenterCropPad"] = {compileCenterCropPad, plain, false};
    table["SpaceToDepth"] = {[](const NodeContext& c) { return compileBlocks(c, false); }, plain, false};
}

}  // namespace quantloupe
