// SPDX-License-Identifier: Apache-2.0
// Pad: constant, edge, reflect, wrap; negative pads crop before the others pad, as in ONNX Runtime.
#include <cstring>

#include "base/error.h"
#include "base/memory_limit.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

constexpr std::ptrdiff_t kFill = -1;

/// The source of each index of the padded dimension; kFill for the constant.
std::vector<std::ptrdiff_t> sources(std::int64_t extent, std::int64_t begin, std::int64_t end,
                                    const std::string& mode) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    if (std::max({extent, begin, end}) > kMost || std::min(begin, end) < -kMost)
        failInput("Pad by {} and {} is too large", begin, end);
    std::vector<std::ptrdiff_t> result;
    // The part that values are taken from.
    const bool takes = mode != "constant";
    const std::int64_t first = takes ? std::max<std::int64_t>(0, -begin) : 0,
                       taken = takes ? extent - first - std::max<std::int64_t>(0, -end) : extent;
    if (takes && taken <= 0 && std::max(begin, end) > 0)
        failInput("Pad cannot take values from an empty dimension");
    requireMemory(static_cast<std::size_t>(std::max<std::int64_t>(0, begin + extent + end)) *
                  sizeof(std::ptrdiff_t));
    for (std::int64_t i = -begin; i < extent + end; ++i) {
        std::int64_t at = i - first;
        if (mode == "edge") {
            at = std::clamp<std::int64_t>(at, 0, taken - 1);
        } else if (mode == "wrap") {
            at = (at % taken + taken) % taken;
        } else if (mode == "reflect") {
            const std::int64_t period = std::max<std::int64_t>(1, 2 * (taken - 1));
            at = (at % period + period) % period;
            if (at >= taken) at = period - at;
        } else if (mode == "constant") {
            if (i < 0 || i >= extent) at = kFill;
        } else {
            failInput("Pad's mode '{}' is unknown", mode);
        }
        result.push_back(at == kFill ? at : first + at);
    }
    return result;
}

CompiledNode compilePad(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    const std::size_t rank = input.dims.size();
    const bool attributes = context.opset() < 11;
    const Dims pads = padsOf(context);
    const std::size_t size = elementSize(input.type);
    std::vector<std::byte> fill(size, std::byte{0});
    if (attributes) {
        requireFloat(context, 0);
        const float value = context.node.attributes.real("value", 0.0f);
        std::memcpy(fill.data(), &value, sizeof value);
    } else if (context.has(2)) {
        const Constant& value = context.needConstant(2, "Pad's value");
        if (value.type() != input.type || value.size() != 1)
            failInput("Pad's value must be one {}", dataTypeName(input.type));
        std::memcpy(fill.data(), value.bytes().data(), size);
    }

    TensorDesc output = input;
    const std::string mode = context.node.attributes.text("mode", "constant");
    std::vector<std::vector<std::ptrdiff_t>> from;  // in memory order
    std::vector<std::ptrdiff_t> strides;
    for (const std::size_t d : input.memoryOrder()) {
        from.push_back(sources(input.dims[d], pads[d], pads[rank + d], mode));
        output.dims[d] = static_cast<std::int64_t>(from.back().size());
        strides.push_back(input.strides()[d]);
    }
    if (rank == 0) return {{output}, nullptr};
    const std::size_t inner = from.back().size();
    const std::size_t rows = inner == 0 ? 0 : output.count() / inner;
    return {{output}, makeKernel([=](const KernelArguments& a) {
                const auto* in = static_cast<const std::byte*>(a.inputs[0]);
                auto* out = static_cast<std::byte*>(a.outputs[0]);
                std::vector<std::size_t> at(rank, 0);
                for (std::size_t row = 0; row < rows; ++row) {
                    std::ptrdiff_t start = 0;
                    bool outside = false;
                    for (std::size_t d = 0; d + 1 < rank; ++d) {
                        const std::ptrdiff_t source = from[d][at[d]];
                        outside = outside || source == kFill;
                        start += source * strides[d];
                    }
                    for (std::size_t i = 0; i < inner; ++i, out += size) {
                        const bool filled = outside || from[rank - 1][i] == kFill;
                        const std::byte* value =
                            filled ? fill.data()
                                   : in + static_cast<std::size_t>(start + from[rank - 1][i]) * size;
                        std::memcpy(out, value, size);
                    }
                    for (std::size_t d = rank - 1; d-- > 0 && ++at[d] == from[d].size();) at[d] = 0;
                }
            })};
}

}  // namespace

Dims padsOf(const NodeContext& context) {
    const std::size_t rank = context.input(0).dims.size();
    const Dims given = context.opset() < 11 ? context.node.attributes.integers(
                                                  "pads", context.node.attributes.integers("paddings"))
                                            : context.needConstant(1, "Pad's pads").toInt64s();
    Dims axes;
    if (context.has(3))
        axes = context.needConstant(3, "Pad's axes").toInt64s();
    else
        for (std::size_t d = 0; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
    if (given.size() != 2 * axes.size())
        failInput("Pad has {} pads for {} dimensions", given.size(), axes.size());
    Dims pads(2 * rank, 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t d = normalizedAxis(axes[i], rank);
        pads[d] = given[i];
        pads[rank + d] = given[axes.size() + i];
    }
    return pads;
}

void addPads(OperatorTable& table) { table["Pad"] = {compilePad, LayoutPolicy::Any}; }

}  // namespace quantloupe
