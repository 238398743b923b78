// SPDX-License-Identifier: Apache-2.0
// Operators whose output shape depends on the values of their inputs: NonZero, Compress, Unique,
// NonMaxSuppression. They run only if these values are known when the program is compiled, as in the part of
// a network that is evaluated sample by sample (session/stages/evaluated_part.h). The shape of Compress along
// an axis depends only on the condition.
#include <algorithm>
#include <compare>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

/// An operator whose result was computed at compile time.
CompiledNode resultOf(std::vector<ConstantPtr> values) {
    CompiledNode node;
    for (const ConstantPtr& value : values)
        node.outputs.push_back({value->type(), value->dims(), Layout::Plain});
    node.kernel = makeKernel([values = std::move(values)](const KernelArguments& a) {
        for (std::size_t o = 0; o < std::min(values.size(), a.outputs.size()); ++o)
            if (a.outputs[o] != nullptr && !values[o]->bytes().empty())
                std::memcpy(a.outputs[o], values[o]->bytes().data(), values[o]->bytes().size());
    });
    return node;
}

const Constant& known(const NodeContext& context, std::size_t i) {
    if (const Constant* value = context.constant(i)) return *value;
    fail(ErrorKind::Unsupported, "the shape of its result depends on the data");
}

CompiledNode compileNonZero(const NodeContext& context) {
    const Constant& input = known(context, 0);
    const Dims dims = input.dims().empty() ? Dims{1} : input.dims();  // a scalar has one index, as in NumPy
    const std::vector<double> values = input.toDoubles();
    std::vector<std::vector<std::int64_t>> indices(dims.size());
    Dims at(dims.size(), 0);
    for (const double value : values) {
        if (value != 0)
            for (std::size_t d = 0; d < dims.size(); ++d) indices[d].push_back(at[d]);
        for (std::size_t d = dims.size(); d-- > 0 && ++at[d] == dims[d];) at[d] = 0;
    }
    std::vector<std::int64_t> all;
    for (const auto& row : indices) all.insert(all.end(), row.begin(), row.end());
    return resultOf({Constant::fromInt64s(
        {static_cast<std::int64_t>(dims.size()), static_cast<std::int64_t>(indices[0].size())},
        std::move(all))});
}

/// The entries `chosen` along an axis.
ConstantPtr take(const Constant& input, std::size_t axis, const std::vector<std::size_t>& chosen) {
    Dims dims = input.dims();
    std::size_t inner = elementSize(input.type()), outer = 1;
    for (std::size_t d = 0; d < dims.size(); ++d)
        (d < axis ? outer : inner) *= d == axis ? 1 : static_cast<std::size_t>(dims[d]);
    const auto extent = static_cast<std::size_t>(dims[axis]);
    std::vector<std::byte> bytes(outer * chosen.size() * inner);
    std::byte* to = bytes.data();
    for (std::size_t o = 0; o < outer; ++o)
        for (const std::size_t c : chosen) {
            if (inner > 0) std::memcpy(to, input.bytes().data() + (o * extent + c) * inner, inner);
            to += inner;
        }
    dims[axis] = static_cast<std::int64_t>(chosen.size());
    return Constant::fromBytes(input.type(), std::move(dims), std::move(bytes));
}

ConstantPtr flattened(const Constant& input) {
    return Constant::fromBytes(input.type(), {input.size()}, {input.bytes().begin(), input.bytes().end()});
}

std::vector<std::size_t> chosenBy(const std::vector<std::int64_t>& condition, std::int64_t extent) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < std::min(condition.size(), static_cast<std::size_t>(extent)); ++i)
        if (condition[i] != 0) chosen.push_back(i);
    return chosen;
}

CompiledNode compressAlongAxis(const NodeContext& context) {
    TensorDesc output = context.input(0);
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), output.dims.size());
    const AxisExtents split = axisExtents(output.dims, axis);
    const auto chosen = chosenBy(known(context, 1).toInt64s(), output.dims[axis]);
    output.dims[axis] = static_cast<std::int64_t>(chosen.size());
    const std::size_t bytes = split.inner * elementSize(output.type);
    return {{output}, makeKernel([=](const KernelArguments& a) {
                const auto* in = static_cast<const std::byte*>(a.inputs[0]);
                auto* out = static_cast<std::byte*>(a.outputs[0]);
                for (std::size_t o = 0; o < split.outer; ++o, in += split.extent * bytes)
                    for (const std::size_t i : chosen) {
                        std::memcpy(out, in + i * bytes, bytes);
                        out += bytes;
                    }
            })};
}

CompiledNode compileCompress(const NodeContext& context) {
    if (context.constant(0) == nullptr && context.node.attributes.has("axis"))
        return compressAlongAxis(context);
    const Constant& input = known(context, 0);
    const std::vector<std::int64_t> condition = known(context, 1).toInt64s();
    const ConstantPtr flat = context.node.attributes.has("axis") ? nullptr : flattened(input);
    const Constant& from = flat ? *flat : input;
    const std::size_t axis =
        flat ? 0 : normalizedAxis(context.node.attributes.integer("axis", 0), input.dims().size());
    return resultOf({take(from, axis, chosenBy(condition, from.dims()[axis]))});
}

CompiledNode compileUnique(const NodeContext& context) {
    const Constant& input = known(context, 0);
    const ConstantPtr flat = context.node.attributes.has("axis") ? nullptr : flattened(input);
    const Constant& from = flat ? *flat : input;
    const std::size_t axis =
        flat ? 0 : normalizedAxis(context.node.attributes.integer("axis", 0), input.dims().size());
    const auto extent = static_cast<std::size_t>(from.dims()[axis]);
    std::vector<std::vector<double>> entries;
    for (std::size_t i = 0; i < extent; ++i) entries.push_back(take(from, axis, {i})->toDoubles());
    std::vector<std::size_t> first, inverse(extent);
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < extent; ++i) {
        std::size_t u = 0;
        while (u < first.size() && entries[first[u]] != entries[i]) ++u;
        if (u == first.size()) {
            first.push_back(i);
            counts.push_back(0);
        }
        inverse[i] = u;
        ++counts[u];
    }
    std::vector<std::size_t> order(first.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (context.node.attributes.integer("sorted", 1) != 0)
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            const std::vector<double>&x = entries[first[a]], &y = entries[first[b]];
            const auto less = [](double l, double r) { return std::strong_order(l, r) < 0; };  // also NaN
            return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), less);
        });
    std::vector<std::size_t> chosen, place(order.size());
    std::vector<std::int64_t> indices, sortedCounts, inverses;
    for (std::size_t k = 0; k < order.size(); ++k) {
        chosen.push_back(first[order[k]]);
        place[order[k]] = k;
        indices.push_back(static_cast<std::int64_t>(first[order[k]]));
        sortedCounts.push_back(counts[order[k]]);
    }
    for (const std::size_t u : inverse) inverses.push_back(static_cast<std::int64_t>(place[u]));
    const auto list = [](std::vector<std::int64_t> values) {
        const auto count = static_cast<std::int64_t>(values.size());
        return Constant::fromInt64s({count}, std::move(values));
    };
    return resultOf({take(from, axis, chosen), list(std::move(indices)), list(std::move(inverses)),
                     list(std::move(sortedCounts))});
}

struct Box {
    float left, top, right, bottom;
    float area() const { return (right - left) * (bottom - top); }
};

Box boxAt(std::span<const float> boxes, std::size_t i, bool center) {
    const float* b = boxes.data() + 4 * i;
    if (center) return {b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
    return {std::min(b[1], b[3]), std::min(b[0], b[2]), std::max(b[1], b[3]), std::max(b[0], b[2])};
}

/// Intersection over union above the threshold, computed as in ONNX Runtime.
bool overlap(const Box& a, const Box& b, float threshold) {
    const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
    const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    if (width <= 0 || height <= 0 || a.area() <= 0 || b.area() <= 0) return false;
    const float common = width * height, all = a.area() + b.area() - common;
    return all > 0 && common / all > threshold;
}

CompiledNode compileNonMaxSuppression(const NodeContext& context) {
    const Constant& boxes = known(context, 0);
    const Constant& scores = known(context, 1);
    if (boxes.dims().size() != 3 || boxes.dims()[2] != 4 || scores.dims().size() != 3 ||
        scores.dims()[0] != boxes.dims()[0] || scores.dims()[2] != boxes.dims()[1])
        failInput("NonMaxSuppression of boxes {} and scores {} is not possible", toString(boxes.dims()),
                  toString(scores.dims()));
    const auto real = [&](std::size_t i) {
        return context.has(i)
                   ? static_cast<float>(context.needConstant(i, "a threshold of NonMaxSuppression").scalar())
                   : 0.0f;
    };
    const auto most = context.has(2) ? integerOf(context.needConstant(2, "the number of boxes")) : 0;
    const float threshold = real(3), least = real(4);
    const bool hasLeast = context.has(4),
               center = context.node.attributes.integer("center_point_box", 0) != 0;
    const auto count = static_cast<std::size_t>(boxes.dims()[1]);
    std::vector<std::int64_t> selected;
    for (std::int64_t batch = 0; batch < boxes.dims()[0]; ++batch)
        for (std::int64_t label = 0; label < scores.dims()[1]; ++label) {
            const auto all = boxes.floats().subspan(static_cast<std::size_t>(batch) * count * 4, count * 4);
            const float* score =
                scores.floats().data() + static_cast<std::size_t>(batch * scores.dims()[1] + label) * count;
            std::vector<std::size_t> order;
            for (std::size_t i = 0; i < count; ++i)
                if (!hasLeast || score[i] > least) order.push_back(i);
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
            std::vector<Box> kept;
            for (const std::size_t i : order) {
                if (static_cast<std::int64_t>(kept.size()) >= most) break;
                const Box box = boxAt(all, i, center);
                if (std::any_of(kept.begin(), kept.end(),
                                [&](const Box& other) { return overlap(box, other, threshold); }))
                    continue;
                kept.push_back(box);
                selected.insert(selected.end(), {batch, label, static_cast<std::int64_t>(i)});
            }
        }
    const auto rows = static_cast<std::int64_t>(selected.size() / 3);
    return resultOf({Constant::fromInt64s({rows, 3}, std::move(selected))});
}

}  // namespace

void addSelections(OperatorTable& table) {
    const auto plain = LayoutPolicy::Plain;
    table["NonZero"] = {compileNonZero, plain, false};
    table["Compress"] = {compileCompress, plain, false};
    table["Unique"] = {compileUnique, plain, false};
    table["NonMaxSuppression"] = {compileNonMaxSuppression, plain, false};
}

}  // namespace quantloupe
