// SPDX-License-Identifier: Apache-2.0
// TopK: the largest or smallest entries along an axis. Equal ones keep the order of their indices, as ONNX
// specifies.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

CompiledNode compileTopK(const NodeContext& context) {
    const TensorDesc& desc = context.input(0);
    const Attributes& attributes = context.node.attributes;
    if (desc.dims.empty()) failInput("TopK needs at least one dimension");
    const std::size_t axis = normalizedAxis(attributes.integer("axis", -1), desc.dims.size());
    // Up to opset 9 k is an attribute.
    const std::int64_t wanted =
        context.has(1) ? integerOf(context.needConstant(1, "TopK's k")) : attributes.integer("k", 0);
    const bool largest = attributes.integer("largest", 1) != 0;
    const auto extent = static_cast<std::size_t>(desc.dims[axis]);
    if (wanted < 0 || wanted > desc.dims[axis])
        failInput("TopK's k is {}, but the axis has {} entries", wanted, extent);
    const auto count = static_cast<std::size_t>(wanted);
    const auto inner = static_cast<std::size_t>(desc.strides()[axis]);
    const std::size_t outer = desc.count() == 0 ? 0 : desc.count() / (extent * inner);
    TensorDesc values{desc.type, desc.dims, Layout::Plain};
    values.dims[axis] = wanted;
    return withArithmeticType(desc.type, "TopK", [&]<typename T>(T) -> CompiledNode {
        return {{values, {DataType::Int64, values.dims, Layout::Plain}},
                makeKernel([=](const KernelArguments& a) {
                    std::vector<std::size_t> order(extent);
                    for (std::size_t o = 0; o < outer; ++o)
                        for (std::size_t i = 0; i < inner; ++i) {
                            const T* in = static_cast<const T*>(a.inputs[0]) + o * extent * inner + i;
                            std::iota(order.begin(), order.end(), std::size_t{0});
                            std::partial_sort(order.begin(),
                                              order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                                              [&](std::size_t left, std::size_t right) {
                                                  const T x = in[left * inner], y = in[right * inner];
                                                  return x == y ? left < right : largest ? x > y : x < y;
                                              });
                            for (std::size_t k = 0; k < count; ++k) {
                                const std::size_t to = (o * count + k) * inner + i;
                                if (a.outputs[0]) static_cast<T*>(a.outputs[0])[to] = in[order[k] * inner];
                                if (a.outputs.size() > 1 && a.outputs[1])
                                    static_cast<std::int64_t*>(a.outputs[1])[to] =
                                        static_cast<std::int64_t>(order[k]);
                            }
                        }
                })};
    });
}

}  // namespace

void addSorts(OperatorTable& table) { table["TopK"] = {compileTopK}; }

}  // namespace quantloupe
