// SPDX-License-Identifier: Apache-2.0
// ReduceMean, ReduceSum, ReduceMax. The axes are an attribute up to some opset and an input since.
#include <limits>

#include "base/error.h"
#include "runtime/operators.h"

namespace quantloupe {
namespace {

enum class Reduction { Mean, Sum, Max };

CompiledNode compileReduction(const NodeContext& context, Reduction kind) {
    requireFloat(context, 0);
    const TensorDesc desc = context.input(0);
    const std::size_t rank = desc.dims.size();
    Dims axes = context.node.attributes.integers("axes");
    if (context.has(1)) axes = context.needConstant(1, "the axes of a reduction").toInt64s();
    std::vector<bool> reduced(rank, axes.empty());
    if (axes.empty() && context.node.attributes.integer("noop_with_empty_axes", 0) != 0) return {{desc}, nullptr};
    for (const std::int64_t axis : axes) reduced[normalizedAxis(axis, rank)] = true;
    const bool keep = context.node.attributes.integer("keepdims", 1) != 0;

    TensorDesc output{DataType::Float32, {}, Layout::Plain};
    std::vector<std::size_t> outStride(rank, 0);
    std::size_t outCount = 1;
    for (std::size_t d = rank; d-- > 0;) {
        if (reduced[d]) continue;
        outStride[d] = outCount;
        outCount *= static_cast<std::size_t>(desc.dims[d]);
    }
    for (std::size_t d = 0; d < rank; ++d) {
        if (!reduced[d]) output.dims.push_back(desc.dims[d]);
        else if (keep) output.dims.push_back(1);
    }
    const Dims dims = desc.dims;
    const std::size_t inCount = desc.count();
    const std::size_t each = outCount == 0 ? 0 : inCount / outCount;
    return {{output}, makeKernel([=](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                std::vector<double> sums(outCount, kind == Reduction::Max ? -std::numeric_limits<double>::infinity() : 0);
                Dims at(rank, 0);
                std::size_t target = 0;
                for (std::size_t i = 0; i < inCount; ++i) {
                    if (kind == Reduction::Max) sums[target] = std::max(sums[target], static_cast<double>(in[i]));
                    else sums[target] += in[i];
                    for (std::size_t d = rank; d-- > 0;) {
                        target += outStride[d];
                        if (++at[d] < dims[d]) break;
                        target -= outStride[d] * static_cast<std::size_t>(dims[d]);
                        at[d] = 0;
                    }
                }
                const double divisor = kind == Reduction::Mean ? static_cast<double>(each) : 1.0;
                for (std::size_t i = 0; i < outCount; ++i) out[i] = static_cast<float>(sums[i] / divisor);
            })};
}

}  // namespace

void addReductions(OperatorTable& table) {
    const auto add = [&](const char* name, Reduction kind) {
        table[name] = {[kind](const NodeContext& context) { return compileReduction(context, kind); },
                       LayoutPolicy::Plain, false};
    };
    add("ReduceMean", Reduction::Mean);
    add("ReduceSum", Reduction::Sum);
    add("ReduceMax", Reduction::Max);
}

}  // namespace quantloupe
