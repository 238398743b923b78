// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/sample_flow.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "runtime/program/sample_rules.h"

namespace quantloupe {
namespace {

/// Empty if the samples do not lie within one dimension.
FoundAxis axisOf(const TensorDesc& desc) {
    const auto axis = sampleDimension(desc);
    if (!axis) return {};
    const std::int64_t block =
        product(desc.dims, 0, desc.dims.size()) / (desc.samples.runs * desc.samples.count);
    const std::int64_t after = block / product(desc.dims, *axis + 1, desc.dims.size());
    return SampleAxis{*axis, desc.dims[*axis] / (desc.samples.count * after), after};
}

SampleLayout layoutOf(const Dims& dims, const FoundAxis& axis, std::int64_t count) {
    if (!axis || axis->axis >= dims.size() || dims[axis->axis] != axis->before * count * axis->after)
        return SampleLayout::mixed();
    return {product(dims, 0, axis->axis) * axis->before, count};
}

/// Views keep the order of the elements.
bool isView(const std::string& op) {
    static const std::set<std::string> views{"Dropout", "Flatten",   "Identity", "Reshape",
                                             "Squeeze", "Unsqueeze", "ZipMap"};
    return views.contains(op);
}

/// Whether a node combines values that all samples share with constants that depend on the batch size.
bool dependsOnCount(const NodeContext& context, const ConstantsOfOne& one) {
    bool changes = false, computed = false;
    for (std::size_t i = 0; i < context.inputs.size(); ++i) {
        if (!context.has(i)) continue;
        const Constant* constant = context.constant(i);
        if (constant == nullptr)
            computed = true;
        else if (!context.graph.tensor(context.node.inputs[i]).constant)
            changes = changes || !isSameConstant(*constant, one(context.node.inputs[i]));
    }
    return computed && changes;
}

}  // namespace

std::int64_t product(const Dims& dims, std::size_t begin, std::size_t end) {
    std::int64_t result = 1;
    for (std::size_t d = begin; d < end; ++d) result *= dims[d];
    return result;
}

SampleFlow::SampleFlow(const NodeContext& context, std::int64_t count, const TensorDesc& output,
                       const ConstantsOfOne& one)
    : m_context(context), m_count(count) {
    for (const TensorDesc& input : context.inputs) m_axes.push_back(axisOf(input));
    if (!one) return;
    for (std::size_t i = 0; i < context.inputs.size(); ++i) {
        const Constant* constant = context.constant(i);
        if (constant == nullptr || context.graph.tensor(node().inputs[i]).constant ||
            describesShape(i, output))
            continue;
        const ConstantPtr alone = one(node().inputs[i]);
        if (!isSameConstant(*constant, alone)) m_growing[i] = alone;
    }
}

bool SampleFlow::sameForAll(std::size_t i, const SampleAxis& axis) const {
    if (!has(i)) return true;
    const Dims& own = dims(i);
    const auto growing = m_growing.find(i);
    if (axis.axis >= own.size() || own[axis.axis] == 1) return growing == m_growing.end();
    const Constant* constant = m_context.constant(i);
    if (constant == nullptr || own[axis.axis] != axis.before * m_count * axis.after) return false;
    const std::int64_t runs = product(own, 0, axis.axis) * axis.before;
    const std::size_t block =
        constant->bytes().size() / static_cast<std::size_t>(std::max<std::int64_t>(1, runs * m_count));
    const std::byte* at = constant->bytes().data();
    for (std::int64_t run = 0; run < runs; ++run, at += block * static_cast<std::size_t>(m_count))
        for (std::int64_t s = 1; s < m_count; ++s)
            if (std::memcmp(at, at + static_cast<std::size_t>(s) * block, block) != 0) return false;
    if (growing == m_growing.end()) return true;
    Dims alone = own;
    alone[axis.axis] /= m_count;
    if (!growing->second || growing->second->dims() != alone) return false;
    at = constant->bytes().data();
    const std::byte* first = growing->second->bytes().data();
    for (std::int64_t run = 0; run < runs;
         ++run, at += block * static_cast<std::size_t>(m_count), first += block)
        if (std::memcmp(at, first, block) != 0) return false;
    m_growing.erase(growing);
    return true;
}

bool SampleFlow::describesShape(std::size_t i, const TensorDesc& output) const {
    if (i == 0) return node().op == "ConstantOfShape";
    if (node().op == "Slice") {  // one that cuts nothing off
        const Constant* steps = m_context.constant(4);
        const bool forward = !has(4) || (steps != nullptr && allOnes(steps->toInt64s()));
        return (i == 1 || i == 2) && forward && output.dims == dims(0);
    }
    return node().op == "Reshape" || node().op == "Expand" || node().op == "AffineGrid" ||
           node().op == "Tile";
}

bool isSameConstant(const Constant& constant, const ConstantPtr& alone) {
    return alone && alone->dims() == constant.dims() && alone->version() == constant.version();
}

std::vector<SampleLayout> followSamples(const NodeContext& context, const std::vector<TensorDesc>& outputs,
                                        const ConstantsOfOne& one) {
    std::vector<SampleLayout> layouts(outputs.size());
    std::int64_t count = 0;
    bool mixed = false;
    for (const TensorDesc& input : context.inputs) {
        mixed = mixed || input.samples.isMixed();
        count = std::max(count, input.samples.count);
    }
    if (count == 0 && !mixed) {
        if (one && dependsOnCount(context, one)) layouts.assign(layouts.size(), SampleLayout::mixed());
        return layouts;
    }
    const SampleRule rule = sampleRuleOf(context.node.op);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        if (mixed) {
            layouts[o] = SampleLayout::mixed();
        } else if (count == 1) {
            layouts[o] = {1, 1};
        } else if (isView(context.node.op)) {
            layouts[o] = context.inputs[0].samples;
        } else if (outputs[o].count() == 0 || rule == nullptr) {
            layouts[o] = SampleLayout::mixed();
        } else {
            const SampleFlow flow(context, count, outputs[o], one);
            layouts[o] = layoutOf(outputs[o].dims, rule(flow, outputs[o].dims, o), count);
            if (!flow.settled()) layouts[o] = SampleLayout::mixed();
        }
    }
    return layouts;
}

}  // namespace quantloupe
