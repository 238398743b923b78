// SPDX-License-Identifier: Apache-2.0
// ScatterElements (before opset 11: Scatter), ScatterND and OneHot: a copy with individual positions
// overwritten.
#include <cstring>

#include "base/error.h"
#include "runtime/operators/indices.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

/// Writes runs of elements: replaces, adds, multiplies, or takes the minimum or maximum.
template <typename T>
class Write {
  public:
    explicit Write(const NodeContext& context) {
        const std::string how = context.node.attributes.text("reduction", "none");
        if (how == "add")
            m_how = Add;
        else if (how == "mul")
            m_how = Multiply;
        else if (how == "max")
            m_how = Largest;
        else if (how == "min")
            m_how = Smallest;
        else if (how != "none")
            failInput("{} has no reduction '{}'", context.node.op, how);
    }
    void operator()(T* to, const T* from, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i) {
            const T x = to[i], y = from[i];
            to[i] = m_how == Add        ? static_cast<T>(x + y)
                    : m_how == Multiply ? static_cast<T>(x * y)
                    : m_how == Largest  ? std::max(x, y)
                    : m_how == Smallest ? std::min(x, y)
                                        : y;
        }
    }

  private:
    enum { Replace, Add, Multiply, Largest, Smallest } m_how = Replace;
};

CompiledNode compileScatterElements(const NodeContext& context) {
    const TensorDesc& data = context.input(0);
    const TensorDesc& index = context.input(1);
    const std::size_t rank = data.dims.size();
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), rank);
    bool fits = index.dims.size() == rank && context.input(2).dims == index.dims &&
                context.input(2).type == data.type;
    for (std::size_t d = 0; fits && d < rank; ++d) fits = d == axis || index.dims[d] <= data.dims[d];
    if (!fits)
        failInput("{} with indices {} does not fit {}", context.node.op, toString(index.dims),
                  toString(data.dims));
    const Indices indices(context, 1);
    return withNumericType(data.type, context.node.op, [&]<typename T>(T) -> CompiledNode {
        return {{{data.type, data.dims, Layout::Plain}},
                makeKernel([=, write = Write<T>(context), dims = index.dims, strides = data.strides(),
                            count = index.count(), bytes = data.bytes(),
                            extent = static_cast<std::size_t>(data.dims[axis])](const KernelArguments& a) {
                    auto* out = static_cast<T*>(a.outputs[0]);
                    std::memcpy(out, a.inputs[0], bytes);
                    Dims at(rank, 0);
                    for (std::size_t i = 0; i < count; ++i) {
                        std::size_t to =
                            indices.at(a.inputs[1], i, extent) * static_cast<std::size_t>(strides[axis]);
                        for (std::size_t d = 0; d < rank; ++d)
                            if (d != axis) to += static_cast<std::size_t>(at[d] * strides[d]);
                        write(out + to, static_cast<const T*>(a.inputs[2]) + i, 1);
                        for (std::size_t d = rank; d-- > 0 && ++at[d] == dims[d];) at[d] = 0;
                    }
                })};
    });
}

CompiledNode compileScatterNd(const NodeContext& context) {
    const TensorDesc& data = context.input(0);
    const TensorDesc& index = context.input(1);
    if (index.dims.empty() || index.dims.back() < 0 ||
        static_cast<std::size_t>(index.dims.back()) > data.dims.size() || context.input(2).type != data.type)
        failInput("ScatterND with indices {} does not fit {}", toString(index.dims), toString(data.dims));
    const auto depth = static_cast<std::size_t>(index.dims.back());
    std::size_t run = 1;
    for (std::size_t d = depth; d < data.dims.size(); ++d) run *= static_cast<std::size_t>(data.dims[d]);
    const std::size_t writes = depth == 0 ? 1 : index.count() / depth;
    if (context.input(2).count() != writes * run)
        failInput("ScatterND's updates {} do not fit indices {} into {}", toString(context.input(2).dims),
                  toString(index.dims), toString(data.dims));
    const Indices indices(context, 1);
    return withNumericType(data.type, context.node.op, [&]<typename T>(T) -> CompiledNode {
        return {{{data.type, data.dims, Layout::Plain}},
                makeKernel([=, write = Write<T>(context), dims = data.dims,
                            bytes = data.bytes()](const KernelArguments& a) {
                    auto* out = static_cast<T*>(a.outputs[0]);
                    std::memcpy(out, a.inputs[0], bytes);
                    for (std::size_t i = 0; i < writes; ++i) {
                        std::size_t to = 0;
                        for (std::size_t d = 0; d < depth; ++d) {
                            const auto extent = static_cast<std::size_t>(dims[d]);
                            to = to * extent + indices.at(a.inputs[1], i * depth + d, extent);
                        }
                        write(out + to * run, static_cast<const T*>(a.inputs[2]) + i * run, run);
                    }
                })};
    });
}

/// Writes rows into a cache, in each sample from its own position on.
CompiledNode compileTensorScatter(const NodeContext& context) {
    const TensorDesc &cache = context.input(0), &update = context.input(1);
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", -2), cache.dims.size());
    Dims expected = cache.dims;
    if (update.dims.size() == expected.size()) expected[axis] = std::min(expected[axis], update.dims[axis]);
    if (axis == 0 || update.dims != expected || update.type != cache.type ||
        (context.has(2) &&
         (context.input(2).type != DataType::Int64 || context.input(2).dims != Dims{cache.dims[0]})))
        failInput("TensorScatter of {} along axis {} does not fit {}", toString(update.dims), axis,
                  toString(cache.dims));
    const std::string mode = context.node.attributes.text("mode", "linear");
    if (mode != "linear" && mode != "circular") failInput("TensorScatter has no mode '{}'", mode);
    const std::int64_t extent = cache.dims[axis], added = update.dims[axis];
    const std::size_t row = static_cast<std::size_t>(cache.strides()[axis]) * elementSize(cache.type);
    const std::int64_t lines =
        elementCount({cache.dims.begin() + 1, cache.dims.begin() + static_cast<std::ptrdiff_t>(axis)});
    return {
        {{cache.type, cache.dims, Layout::Plain}},
        makeKernel([=, samples = cache.dims[0], hasStarts = context.has(2), circular = mode == "circular",
                    bytes = cache.bytes()](const KernelArguments& a) {
            auto* out = static_cast<std::byte*>(a.outputs[0]);
            const auto* in = static_cast<const std::byte*>(a.inputs[1]);
            std::memcpy(out, a.inputs[0], bytes);
            for (std::int64_t s = 0; s < samples; ++s) {
                const std::int64_t start = hasStarts ? static_cast<const std::int64_t*>(a.inputs[2])[s] : 0;
                if (start < 0 || (!circular && start > extent - added))
                    failInput("TensorScatter writes {} rows from row {} on into {}", added, start, extent);
                for (std::int64_t line = s * lines; line < (s + 1) * lines; ++line)
                    for (std::int64_t k = 0; k < added; ++k, in += row) {
                        const std::int64_t to = line * extent + (start % extent + k) % extent;
                        std::memcpy(out + static_cast<std::size_t>(to) * row, in, row);
                    }
            }
        })};
}

/// Indices outside the depth produce a row of off values.
CompiledNode compileOneHot(const NodeContext& context) {
    const TensorDesc& index = context.input(0);
    const auto depth = static_cast<std::int64_t>(context.needConstant(1, "OneHot's depth").scalar());
    if (depth < 0) failInput("OneHot's depth is {}", depth);
    if (context.input(2).count() != 2) failInput("OneHot's values must be two: off and on");
    const std::size_t axis =
        normalizedAxis(context.node.attributes.integer("axis", -1), index.dims.size() + 1);
    TensorDesc output{context.input(2).type, index.dims, Layout::Plain};
    output.dims.insert(output.dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
    std::size_t inner = 1;
    for (std::size_t d = axis; d < index.dims.size(); ++d) inner *= static_cast<std::size_t>(index.dims[d]);
    return withNumericType(index.type, "OneHot", [&]<typename T>(T) -> CompiledNode {
        return {{output},
                makeKernel([=, size = elementSize(output.type), all = output.count(),
                            count = index.count()](const KernelArguments& a) {
                    const auto* values = static_cast<const std::byte*>(a.inputs[2]);
                    auto* out = static_cast<std::byte*>(a.outputs[0]);
                    for (std::size_t i = 0; i < all; ++i) std::memcpy(out + i * size, values, size);
                    for (std::size_t i = 0; i < count; ++i) {
                        auto at = static_cast<std::int64_t>(static_cast<const T*>(a.inputs[0])[i]);
                        if (at < 0) at += depth;
                        if (at < 0 || at >= depth) continue;
                        const std::size_t to =
                            (i / inner * static_cast<std::size_t>(depth) + static_cast<std::size_t>(at)) *
                                inner +
                            i % inner;
                        std::memcpy(out + to * size, values + size, size);
                    }
                })};
    });
}

}  // namespace

void addScatters(OperatorTable& table) {
    table["Scatter"] = {compileScatterElements};
    table["ScatterElements"] = {compileScatterElements};
    table["ScatterND"] = {compileScatterNd};
    table["TensorScatter"] = {compileTensorScatter};
    table["OneHot"] = {compileOneHot};
}

}  // namespace quantloupe
