// SPDX-License-Identifier: Apache-2.0
// Gather, GatherElements, GatherND. Indices may be data (token ids), which are checked at run time.
#include <cstring>

#include "base/error.h"
#include "runtime/operators/indices.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

CompiledNode compileGather(const NodeContext& context) {
    const TensorDesc& data = context.input(0);
    const TensorDesc& index = context.input(1);
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), data.dims.size());
    const AxisExtents split = axisExtents(data.dims, axis);
    const std::size_t bytes = split.inner * elementSize(data.type);
    TensorDesc output{data.type, data.dims, Layout::Plain};
    output.dims.erase(output.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    output.dims.insert(output.dims.begin() + static_cast<std::ptrdiff_t>(axis), index.dims.begin(),
                       index.dims.end());
    const Indices indices(context, 1);
    // Report bad constant indices now rather than during a run.
    if (const Constant* known = context.constant(1))
        for (std::size_t i = 0; i < index.count(); ++i) indices.at(known->bytes().data(), i, split.extent);
    if (index.count() == 1 && split.outer == 1 && split.extent == 1) return {{output}, nullptr};
    return {{output}, makeKernel([=, count = index.count()](const KernelArguments& a) {
                const auto* in = static_cast<const std::byte*>(a.inputs[0]);
                auto* out = static_cast<std::byte*>(a.outputs[0]);
                for (std::size_t o = 0; o < split.outer; ++o)
                    for (std::size_t i = 0; i < count; ++i, out += bytes)
                        std::memcpy(
                            out, in + (o * split.extent + indices.at(a.inputs[1], i, split.extent)) * bytes,
                            bytes);
            })};
}

CompiledNode compileGatherElements(const NodeContext& context) {
    const TensorDesc& data = context.input(0);
    const TensorDesc& index = context.input(1);
    const std::size_t rank = data.dims.size();
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), rank);
    bool fits = index.dims.size() == rank;
    for (std::size_t d = 0; fits && d < rank; ++d) fits = d == axis || index.dims[d] <= data.dims[d];
    if (!fits)
        failInput("GatherElements with indices {} does not fit {}", toString(index.dims),
                  toString(data.dims));
    const Indices indices(context, 1);
    const TensorDesc output{data.type, index.dims, Layout::Plain};
    const auto extent = static_cast<std::size_t>(data.dims[axis]);
    return {{output},
            makeKernel([=, dims = index.dims, strides = data.strides(), count = index.count(),
                        size = elementSize(data.type)](const KernelArguments& a) {
                const auto* in = static_cast<const std::byte*>(a.inputs[0]);
                auto* out = static_cast<std::byte*>(a.outputs[0]);
                Dims at(rank, 0);
                for (std::size_t i = 0; i < count; ++i, out += size) {
                    std::size_t from =
                        indices.at(a.inputs[1], i, extent) * static_cast<std::size_t>(strides[axis]);
                    for (std::size_t d = 0; d < rank; ++d)
                        if (d != axis) from += static_cast<std::size_t>(at[d] * strides[d]);
                    std::memcpy(out, in + from * size, size);
                    for (std::size_t d = rank; d-- > 0 && ++at[d] == dims[d];) at[d] = 0;
                }
            })};
}

CompiledNode compileGatherNd(const NodeContext& context) {
    const TensorDesc& data = context.input(0);
    const TensorDesc& index = context.input(1);
    const auto batchDims = static_cast<std::size_t>(context.node.attributes.integer("batch_dims", 0));
    if (index.dims.empty() || index.dims.size() <= batchDims || index.dims.back() < 1 ||
        batchDims + static_cast<std::size_t>(index.dims.back()) > data.dims.size() ||
        !std::equal(data.dims.begin(), data.dims.begin() + static_cast<std::ptrdiff_t>(batchDims),
                    index.dims.begin()))
        failInput("GatherND with indices {} does not fit {}", toString(index.dims), toString(data.dims));
    const auto depth = static_cast<std::size_t>(index.dims.back());
    TensorDesc output{data.type, {index.dims.begin(), index.dims.end() - 1}, Layout::Plain};
    output.dims.insert(output.dims.end(), data.dims.begin() + static_cast<std::ptrdiff_t>(batchDims + depth),
                       data.dims.end());
    std::size_t batch = 1, inner = elementSize(data.type);
    for (std::size_t d = 0; d < batchDims; ++d) batch *= static_cast<std::size_t>(data.dims[d]);
    for (std::size_t d = batchDims + depth; d < data.dims.size(); ++d)
        inner *= static_cast<std::size_t>(data.dims[d]);
    const std::size_t each = batch == 0 ? 0 : index.count() / (batch * depth);
    const std::size_t block = batch == 0 ? 0 : data.bytes() / batch;
    const Indices indices(context, 1);
    return {
        {output}, makeKernel([=, dims = data.dims](const KernelArguments& a) {
            auto* out = static_cast<std::byte*>(a.outputs[0]);
            for (std::size_t b = 0; b < batch; ++b)
                for (std::size_t i = 0; i < each; ++i, out += inner) {
                    std::size_t from = 0;
                    for (std::size_t d = 0; d < depth; ++d) {
                        const auto extent = static_cast<std::size_t>(dims[batchDims + d]);
                        from = from * extent + indices.at(a.inputs[1], (b * each + i) * depth + d, extent);
                    }
                    std::memcpy(out, static_cast<const std::byte*>(a.inputs[0]) + b * block + from * inner,
                                inner);
                }
        })};
}

/// Reverses the first elements of each sequence of a batch.
CompiledNode compileReverseSequence(const NodeContext& context) {
    const TensorDesc& data = context.input(0);
    const std::int64_t time = context.node.attributes.integer("time_axis", 0),
                       batch = context.node.attributes.integer("batch_axis", 1);
    if (data.dims.size() < 2 || time + batch != 1 || time * batch != 0 ||
        context.input(1).type != DataType::Int64 ||
        context.input(1).dims != Dims{data.dims[static_cast<std::size_t>(batch)]})
        failInput("ReverseSequence of {} with lengths of {} is not possible", toString(data.dims),
                  toString(context.input(1).dims));
    const auto steps = static_cast<std::size_t>(data.dims[static_cast<std::size_t>(time)]);
    const auto sequences = static_cast<std::size_t>(data.dims[static_cast<std::size_t>(batch)]);
    const std::size_t size = steps * sequences == 0 ? 0 : data.bytes() / (steps * sequences);
    const std::size_t timeStep = time == 0 ? sequences * size : size,
                      batchStep = time == 0 ? size : steps * size;
    TensorDesc output{data.type, data.dims, Layout::Plain};
    return {{output}, makeKernel([=](const KernelArguments& a) {
                const auto* lengths = static_cast<const std::int64_t*>(a.inputs[1]);
                for (std::size_t b = 0; b < sequences; ++b) {
                    if (lengths[b] < 0 || lengths[b] > static_cast<std::int64_t>(steps))
                        failInput("ReverseSequence has a length of {}, but {} steps", lengths[b], steps);
                    const auto length = static_cast<std::size_t>(lengths[b]);
                    for (std::size_t t = 0; t < steps; ++t) {
                        const std::size_t from = t < length ? length - 1 - t : t;
                        std::memcpy(
                            static_cast<std::byte*>(a.outputs[0]) + b * batchStep + t * timeStep,
                            static_cast<const std::byte*>(a.inputs[0]) + b * batchStep + from * timeStep,
                            size);
                    }
                }
            })};
}

}  // namespace

void addGathers(OperatorTable& table) {
    table["Gather"] = {compileGather};
    table["GatherElements"] = {compileGatherElements};
    table["GatherND"] = {compileGatherNd};
    table["ReverseSequence"] = {compileReverseSequence};
}

}  // namespace quantloupe
