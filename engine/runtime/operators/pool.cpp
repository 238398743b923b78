// SPDX-License-Identifier: Apache-2.0
// MaxPool, MaxUnpool, AveragePool, LpPool, and the global ones.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "runtime/operators/max_pool.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/positions.h"
#include "runtime/ordered/ordered_rows.h"

namespace quantloupe {
namespace {

/// Calls start() and end() for each window of each channel in row-major order, and tap(offset, position)
/// between them for each value within the input.
template <typename Start, typename Tap, typename End>
void forEachWindow(const TensorDesc& input, const Window& window, Start start, Tap tap, End end) {
    const std::vector<std::ptrdiff_t> strides = input.strides();
    const std::size_t rank = window.kernel.size();
    Dims position(rank);
    forEachPosition({input.dims[0], input.dims[1]}, [&](const Dims& plane) {
        forEachPosition(window.output, [&](const Dims& at) {
            start();
            forEachPosition(window.kernel, [&](const Dims& step) {
                std::ptrdiff_t offset = plane[0] * strides[0] + plane[1] * strides[1];
                for (std::size_t d = 0; d < rank; ++d) {
                    position[d] =
                        at[d] * window.strides[d] - window.padBegin[d] + step[d] * window.dilations[d];
                    if (position[d] < 0 || position[d] >= input.dims[d + 2]) return;
                    offset += position[d] * strides[d + 2];
                }
                tap(offset, position);
            });
            end(plane);
        });
    });
}

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
    return withArithmeticType(input.type, "MaxPool", [&]<typename T>(T) -> CompiledNode {
        return {{output, indices}, makeKernel([=, input = input](const KernelArguments& a) {
                    const auto* in = static_cast<const T*>(a.inputs[0]);
                    auto* out = static_cast<T*>(a.outputs[0]);
                    auto* positions =
                        a.outputs.size() > 1 ? static_cast<std::int64_t*>(a.outputs[1]) : nullptr;
                    T best{};
                    std::int64_t found = -1;  // within the channel
                    forEachWindow(
                        input, window,
                        [&] {
                            best = std::numeric_limits<T>::lowest();
                            found = -1;
                        },
                        [&](std::ptrdiff_t offset, const Dims& position) {
                            if (found >= 0 && !(in[offset] > best)) return;
                            best = in[offset];
                            found = 0;
                            for (std::size_t d = 0; d < rank; ++d) found += position[d] * indexSteps[d];
                        },
                        [&](const Dims& plane) {
                            *out++ = best;
                            const std::int64_t first =
                                (plane[0] * input.dims[1] + plane[1]) * elementCount(spatial);
                            if (positions != nullptr) *positions++ = found < 0 ? found : first + found;
                        });
                })};
    });
}

/// LpPool: the p-th root of the sum of |x|^p.
CompiledNode compileLpPool(const NodeContext& context, const Window& window) {
    const TensorDesc& input = context.input(0);
    TensorDesc output{DataType::Float32, {input.dims[0], input.dims[1]}, Layout::Plain};
    output.dims.insert(output.dims.end(), window.output.begin(), window.output.end());
    const std::int64_t p = context.node.attributes.integer("p", 2);
    if (p < 1) failInput("{} has no norm of order {}", context.node.op, p);
    return {{output}, makeKernel([=, input = input](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                const auto order = static_cast<double>(p);
                double sum = 0;
                forEachWindow(
                    input, window, [&] { sum = 0; },
                    [&](std::ptrdiff_t offset, const Dims&) {
                        const double x = std::fabs(static_cast<double>(in[offset]));
                        sum += p == 1 ? x : p == 2 ? x * x : std::pow(x, order);
                    },
                    [&](const Dims&) {
                        *out++ = static_cast<float>(p == 1   ? sum
                                                    : p == 2 ? std::sqrt(sum)
                                                             : std::pow(sum, 1 / order));
                    });
            })};
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

enum class Pooling { Max, Average, Norm };

CompiledNode compilePool(const NodeContext& context, Pooling kind, bool global) {
    const bool average = kind == Pooling::Average;
    if (kind != Pooling::Max || global) requireFloat(context, 0);
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
    if (kind == Pooling::Norm) return compileLpPool(context, window);
    const bool indices = context.node.outputs.size() > 1 && context.node.outputs[1].valid();
    if (!average && (indices || input.type != DataType::Float32)) return compilePlainMaxPool(context, window);
    TensorDesc output{DataType::Float32, {input.dims[0], input.dims[1]}, Layout::ChannelsLast};
    output.dims.insert(output.dims.end(), window.output.begin(), window.output.end());
    if (!average) return {{output}, makeMaxPool(input, window)};
    const bool withPadding = context.node.attributes.integer("count_include_pad", 0) != 0;
    // As in ONNX Runtime.
    const bool oneAfterAnother =
        !global && (std::max(context.opset(), context.exportOpset) >= 19 ||
                    (withPadding && context.node.attributes.integer("ceil_mode", 0) != 0));
    return {{output}, makeOrderedAverage(input, window, withPadding, oneAfterAnother)};
}

}  // namespace

void addPools(OperatorTable& table) {
    const auto add = [&](const std::string& name, Pooling kind, LayoutPolicy layout) {
        table[name] = {[=](const NodeContext& context) { return compilePool(context, kind, false); }, layout,
                       false};
        table["Global" + name] = {
            [=](const NodeContext& context) { return compilePool(context, kind, true); }, layout, false};
    };
    add("MaxPool", Pooling::Max, LayoutPolicy::ChannelsLast);
    add("AveragePool", Pooling::Average, LayoutPolicy::ChannelsLast);
    add("LpPool", Pooling::Norm, LayoutPolicy::Plain);
    table["MaxUnpool"] = {compileMaxUnpool};
}

}  // namespace quantloupe
