// SPDX-License-Identifier: Apache-2.0
// MaxPool, MaxUnpool, AveragePool, GlobalAveragePool, GlobalMaxPool.
#include <algorithm>

#include "base/error.h"
#include "runtime/dnnl_adapter.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/positions.h"
#include "runtime/ordered/ordered_rows.h"

namespace quantloupe {
namespace {

/// MaxPool of any number, with plain loops. Output 1 contains the position of each maximum within the whole
/// input, as if it were row-major, or column-major in the spatial dimensions with storage_order 1.
CompiledNode compilePlainMaxPool(const NodeContext& context, const Window& window) {
    const TensorDesc& input = context.input(0);
    const std::size_t rank = window.kernel.size();
    const bool columnMajor = context.node.attributes.integer("storage_order", 0) != 0;
    const Dims spatial(input.dims.begin() + 2, input.dims.end());
    Dims indexSteps(rank, 1);
    for (std::size_t d = 1; d < rank; ++d) {
        if (columnMajor)
            indexSteps[d] = indexSteps[d - 1] * spatial[d - 1];
        else
            indexSteps[rank - 1 - d] = indexSteps[rank - d] * spatial[rank - d];
    }
    TensorDesc output{input.type, {input.dims[0], input.dims[1]}, Layout::Plain};
    output.dims.insert(output.dims.end(), window.output.begin(), window.output.end());
    TensorDesc indices = output;
    indices.type = DataType::Int64;
    const std::vector<std::ptrdiff_t> strides = input.strides();
    return withArithmeticType(input.type, "MaxPool", [&]<typename T>(T) -> CompiledNode {
        return {{output, indices}, makeKernel([=](const KernelArguments& a) {
                    const auto* in = static_cast<const T*>(a.inputs[0]);
                    auto* out = static_cast<T*>(a.outputs[0]);
                    auto* positions =
                        a.outputs.size() > 1 ? static_cast<std::int64_t*>(a.outputs[1]) : nullptr;
                    const std::int64_t perChannel = elementCount(spatial);
                    forEachPosition({input.dims[0], input.dims[1]}, [&](const Dims& plane) {
                        const std::ptrdiff_t start = plane[0] * strides[0] + plane[1] * strides[1];
                        const std::int64_t first = (plane[0] * input.dims[1] + plane[1]) * perChannel;
                        forEachPosition(window.output, [&](const Dims& at) {
                            T best = std::numeric_limits<T>::lowest();
                            std::int64_t found = -1;
                            forEachPosition(window.kernel, [&](const Dims& tap) {
                                std::ptrdiff_t offset = start;
                                std::int64_t index = first;
                                for (std::size_t d = 0; d < rank; ++d) {
                                    const std::int64_t x = at[d] * window.strides[d] - window.padBegin[d] +
                                                           tap[d] * window.dilations[d];
                                    if (x < 0 || x >= spatial[d]) return;
                                    offset += x * strides[d + 2];
                                    index += x * indexSteps[d];
                                }
                                if (found >= 0 && !(in[offset] > best)) return;
                                best = in[offset];
                                found = index;
                            });
                            *out++ = best;
                            if (positions != nullptr) *positions++ = found;
                        });
                    });
                })};
    });
}

/// The inverse of MaxPool: each value goes to the position in the output that MaxPool found it at, all others
/// are 0. With a given output shape, ONNX's own test expects positions in the smallest possible output; like
/// ONNX Runtime, this function uses those in the output, which MaxPool returns.
CompiledNode compileMaxUnpool(const NodeContext& context) {
    requireFloat(context, 0);
    const TensorDesc &input = context.input(0), &indices = context.input(1);
    if (input.dims.size() < 3 || indices.dims != input.dims || indices.type != DataType::Int64)
        failInput("MaxUnpool of {} needs as many indices, not {}", toString(input.dims),
                  toString(indices.dims));
    const std::size_t rank = input.dims.size() - 2;
    const Attributes& attributes = context.node.attributes;
    const Dims kernel = attributes.integers("kernel_shape"),
               strides = attributes.integers("strides", Dims(rank, 1)),
               pads = attributes.integers("pads", Dims(2 * rank, 0));
    if (kernel.size() != rank || strides.size() != rank || pads.size() != 2 * rank)
        failInput("kernel_shape, strides and pads of MaxUnpool do not fit {}", toString(input.dims));
    Dims smallest(input.dims.begin(), input.dims.begin() + 2);
    for (std::size_t d = 0; d < rank; ++d)
        smallest.push_back((input.dims[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[rank + d]);
    TensorDesc output{DataType::Float32, smallest, Layout::Plain};
    if (context.has(2)) output.dims = context.needConstant(2, "the output shape of a MaxUnpool").toInt64s();
    if (output.dims.size() != smallest.size() ||
        !std::ranges::equal(output.dims, smallest, std::ranges::greater_equal()) ||
        std::ranges::any_of(output.dims, [](std::int64_t extent) { return extent < 0; }))
        failInput("MaxUnpool of {} does not fit an output of {}", toString(input.dims),
                  toString(output.dims));
    return {{output}, makeKernel([count = input.count(), size = output.count()](const KernelArguments& a) {
                const auto* values = static_cast<const float*>(a.inputs[0]);
                const auto* positions = static_cast<const std::int64_t*>(a.inputs[1]);
                auto* out = static_cast<float*>(a.outputs[0]);
                std::fill_n(out, size, 0.0f);
                for (std::size_t i = 0; i < count; ++i) {
                    if (positions[i] < 0 || positions[i] >= static_cast<std::int64_t>(size))
                        failInput("MaxUnpool has the index {} in {} values", positions[i], size);
                    out[positions[i]] = values[i];
                }
            })};
}

CompiledNode compilePool(const NodeContext& context, bool average, bool global) {
    if (average || global) requireFloat(context, 0);
    const TensorDesc& input = context.input(0);
    if (input.dims.size() < 3)
        failInput("pooling needs a batch, channels and at least one spatial dimension");
    if (input.dims.size() > 5) fail(ErrorKind::Unsupported, "pooling needs 1 to 3 spatial dimensions");
    const Dims spatial(input.dims.begin() + 2, input.dims.end());
    Window window;
    if (global) {
        const std::size_t rank = spatial.size();
        window = {spatial, Dims(rank, 1), Dims(rank, 1), Dims(rank, 0), Dims(rank, 0), Dims(rank, 1)};
    } else {
        window = windowOf(context, spatial, {});
    }
    const bool indices = context.node.outputs.size() > 1 && context.node.outputs[1].valid();
    if (!average && (indices || input.type != DataType::Float32)) return compilePlainMaxPool(context, window);
    TensorDesc output{DataType::Float32, {input.dims[0], input.dims[1]}, Layout::ChannelsLast};
    output.dims.insert(output.dims.end(), window.output.begin(), window.output.end());
    if (!average) return {{output}, makeMaxPool(input, output, window)};
    const bool withPadding = context.node.attributes.integer("count_include_pad", 0) != 0;
    const bool oneAfterAnother = !global && std::max(context.opset(), context.exportOpset) >= 19;
    return {{output}, makeOrderedAverage(input, window, withPadding, oneAfterAnother)};
}

}  // namespace

void addPools(OperatorTable& table) {
    const auto add = [&](const char* name, bool average, bool global) {
        table[name] = {[=](const NodeContext& context) { return compilePool(context, average, global); },
                       LayoutPolicy::ChannelsLast, false};
    };
    add("MaxPool", false, false);
    add("AveragePool", true, false);
    add("GlobalMaxPool", false, true);
    add("GlobalAveragePool", true, true);
    table["MaxUnpool"] = {compileMaxUnpool, LayoutPolicy::Plain, false};
}

}  // namespace quantloupe
