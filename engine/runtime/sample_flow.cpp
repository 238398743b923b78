// SPDX-License-Identifier: Apache-2.0
#include "runtime/sample_flow.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "runtime/operators.h"

namespace quantloupe {
namespace {

/// The dimension that the samples are in: it runs through [before, samples, after].
struct SampleAxis {
    std::size_t axis = 0;
    std::int64_t before = 1, after = 1;
    bool operator==(const SampleAxis&) const = default;
};
using Found = std::optional<SampleAxis>;

std::int64_t product(const Dims& dims, std::size_t begin, std::size_t end) {
    std::int64_t result = 1;
    for (std::size_t d = begin; d < end; ++d) result *= dims[d];
    return result;
}

/// Nothing where the samples are not within one dimension.
Found axisOf(const TensorDesc& desc) {
    const auto axis = sampleDimension(desc);
    if (!axis) return {};
    const std::int64_t block = product(desc.dims, 0, desc.dims.size()) / (desc.samples.runs * desc.samples.count);
    const std::int64_t after = block / product(desc.dims, *axis + 1, desc.dims.size());
    return SampleAxis{*axis, desc.dims[*axis] / (desc.samples.count * after), after};
}

SampleLayout layoutOf(const Dims& dims, const Found& axis, std::int64_t count) {
    if (!axis || axis->axis >= dims.size() || dims[axis->axis] != axis->before * count * axis->after)
        return SampleLayout::mixed();
    return {product(dims, 0, axis->axis) * axis->before, count};
}

/// One node: its inputs with their sample axes.
class Flow {
  public:
    Flow(const NodeContext& context, std::int64_t count, const TensorDesc& output, const ConstantsOfOne& one)
        : m_context(context), m_count(count) {
        for (const TensorDesc& input : context.inputs) m_axes.push_back(axisOf(input));
        if (!one) return;
        for (std::size_t i = 0; i < context.inputs.size(); ++i) {
            const Constant* constant = context.constant(i);
            if (constant == nullptr || context.graph.tensor(node().inputs[i]).constant || describesShape(i, output)) continue;
            const ConstantPtr alone = one(node().inputs[i]);
            if (!alone || alone->dims() != constant->dims() || alone->version() != constant->version()) m_growing[i] = alone;
        }
    }

    const Node& node() const { return m_context.node; }
    const NodeContext& context() const { return m_context; }
    std::size_t inputs() const { return m_context.inputs.size(); }
    const Dims& dims(std::size_t i) const { return m_context.inputs[i].dims; }
    bool has(std::size_t i) const { return m_context.has(i); }
    bool perSample(std::size_t i) const { return has(i) && m_context.inputs[i].samples.perSample(); }
    /// Of an input that is per sample; nothing if it is not within one dimension.
    const Found& axis(std::size_t i) const { return m_axes[i]; }
    bool onlyFirstIsPerSample() const {
        for (std::size_t i = 1; i < inputs(); ++i)
            if (perSample(i)) return false;
        return perSample(0);
    }

    /// Whether each sample meets the values of input i, which does not depend on the samples, that it would meet in a batch
    /// of its own; `axis` is the dimension of the input that meets the samples.
    bool sameForAll(std::size_t i, const SampleAxis& axis) const {
        if (!has(i)) return true;
        const Dims& own = dims(i);
        const auto growing = m_growing.find(i);
        if (axis.axis >= own.size() || own[axis.axis] == 1) return growing == m_growing.end();
        const Constant* constant = m_context.constant(i);
        if (constant == nullptr || own[axis.axis] != axis.before * m_count * axis.after) return false;
        const std::int64_t runs = product(own, 0, axis.axis) * axis.before;
        const std::size_t block = constant->bytes().size() / static_cast<std::size_t>(std::max<std::int64_t>(1, runs * m_count));
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
        for (std::int64_t run = 0; run < runs; ++run, at += block * static_cast<std::size_t>(m_count), first += block)
            if (std::memcmp(at, first, block) != 0) return false;
        m_growing.erase(growing);
        return true;
    }
    /// Whether no input depends on the batch size, but for those that sameForAll() accepted.
    bool settled() const { return m_growing.empty(); }

    std::int64_t integer(const char* name, std::int64_t fallback) const { return node().attributes.integer(name, fallback); }
    /// An axis attribute, counted from the front.
    std::size_t axisAttribute(std::int64_t fallback, std::size_t rank, const char* name = "axis") const {
        return normalizedAxis(integer(name, fallback), rank);
    }
    /// Axes given as an attribute or as input `i`, counted from the front.
    std::set<std::size_t> axes(std::size_t i, std::size_t rank) const {
        Dims list = node().attributes.integers("axes");
        if (const Constant* given = m_context.constant(i)) list = given->toInt64s();
        std::set<std::size_t> result;
        for (const std::int64_t axis : list) result.insert(normalizedAxis(axis, rank));
        return result;
    }

  private:
    /// Inputs whose whole effect is the shape of the result, which is compared with that of a batch of one.
    bool describesShape(std::size_t i, const TensorDesc& output) const {
        if (i == 0) return node().op == "ConstantOfShape";
        return node().op == "Reshape" || node().op == "Expand" || node().op == "Tile" ||
               (node().op == "Slice" && output.dims == dims(0));
    }

    const NodeContext& m_context;
    std::int64_t m_count;
    std::vector<Found> m_axes;
    mutable std::map<std::size_t, ConstantPtr> m_growing;  ///< inputs that are other constants in a batch of one, with those
};

/// Inputs [first, last) are aligned at their last dimension, as broadcasting does it. The axis within `rank` dimensions.
Found aligned(const Flow& flow, std::size_t rank, std::size_t first, std::size_t last) {
    Found result;
    for (std::size_t i = first; i < last; ++i) {
        if (!flow.perSample(i)) continue;
        Found axis = flow.axis(i);
        if (!axis) return {};
        axis->axis += rank - flow.dims(i).size();
        if (result && *result != *axis) return {};
        result = axis;
    }
    if (!result) return {};
    for (std::size_t i = first; i < last; ++i) {
        if (!flow.has(i) || flow.perSample(i)) continue;
        const std::size_t missing = rank - flow.dims(i).size();
        if (result->axis < missing) continue;
        if (!flow.sameForAll(i, {result->axis - missing, result->before, result->after})) return {};
    }
    return result;
}

Found elementwise(const Flow& flow, const Dims& output, std::size_t) {
    return aligned(flow, output.size(), 0, flow.inputs());
}

/// The samples are the first dimension, which the operator does not touch; all other inputs are parameters.
Found leading(const Flow& flow, const Dims& output, std::size_t) {
    const Found& axis = flow.axis(0);
    if (!flow.onlyFirstIsPerSample() || !axis || axis->axis != 0 || output.empty() || output[0] != flow.dims(0)[0]) return {};
    return axis;
}

/// Keeps the axis unless it is among those that the operator works along.
Found keptUnless(const Flow& flow, const std::function<bool(std::size_t axis)>& touched) {
    const Found& axis = flow.axis(0);
    if (!flow.onlyFirstIsPerSample() || !axis || touched(axis->axis)) return {};
    return axis;
}

Found alongAxis(const Flow& flow, const Dims&, std::size_t) {
    const std::size_t axis = flow.axisAttribute(flow.node().op == "CumSum" ? 0 : -1, flow.dims(0).size());
    if (flow.node().op == "CumSum") {
        const Constant* given = flow.context().constant(1);
        const std::size_t along = given == nullptr ? 0 : normalizedAxis(given->toInt64s().at(0), flow.dims(0).size());
        return given == nullptr ? Found() : keptUnless(flow, [&](std::size_t a) { return a == along; });
    }
    return keptUnless(flow, [&](std::size_t a) { return a == axis; });
}

Found softmax(const Flow& flow, const Dims&, std::size_t) {
    const bool flattened = flow.context().opset() < 13;
    const std::size_t axis = flow.axisAttribute(flattened ? 1 : -1, flow.dims(0).size());
    return keptUnless(flow, [&](std::size_t a) { return flattened ? a >= axis : a == axis; });
}

/// Works on all dimensions from an axis on.
Found fromAxis(const Flow& flow, const Dims&, std::size_t) {
    const std::size_t axis = flow.axisAttribute(-1, flow.dims(0).size());
    return keptUnless(flow, [&](std::size_t a) { return a >= axis; });
}

/// Input 0 and a mask are aligned; works along the last dimension.
Found lastDimension(const Flow& flow, const Dims& output, std::size_t) {
    const Found axis = aligned(flow, output.size(), 0, flow.inputs());
    return axis && axis->axis + 1 < output.size() ? axis : Found();
}

Found matrices(const Flow& flow, const Dims& output, std::size_t) {
    return keptUnless(flow, [&](std::size_t a) { return a + 2 >= output.size(); });
}

/// The same extent as before means that nothing happened along that dimension.
Found whereKept(const Flow& flow, const Dims& output, std::size_t) {
    return keptUnless(flow, [&](std::size_t a) { return a >= output.size() || output[a] != flow.dims(0)[a]; });
}

Found slice(const Flow& flow, const Dims& output, std::size_t) {
    const Found axis = whereKept(flow, output, 0);
    if (!axis) return {};
    Dims axes = flow.node().attributes.integers("axes"), steps;
    if (const Constant* given = flow.context().constant(3)) axes = given->toInt64s();
    if (const Constant* given = flow.context().constant(4)) steps = given->toInt64s();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::size_t d = axes.empty() ? i : normalizedAxis(axes[i], flow.dims(0).size());
        if (d == axis->axis && steps[i] != 1) return {};  // it reverses the samples
    }
    return axis;
}

Found transpose(const Flow& flow, const Dims& output, std::size_t) {
    Found axis = flow.axis(0);
    if (!axis) return {};
    const Dims order = flow.node().attributes.integers("perm");
    if (order.empty()) axis->axis = output.size() - 1 - axis->axis;
    else
        axis->axis = static_cast<std::size_t>(
            std::find(order.begin(), order.end(), static_cast<std::int64_t>(axis->axis)) - order.begin());
    return axis;
}

Found concat(const Flow& flow, const Dims& output, std::size_t) {
    const std::size_t along = flow.axisAttribute(0, output.size());
    Found result;
    for (std::size_t i = 0; i < flow.inputs(); ++i) {
        if (!flow.perSample(i)) continue;
        const Found& axis = flow.axis(i);
        if (!axis) return {};
        if (!result) {
            result = axis;
        } else if (axis->axis != result->axis || axis->after != result->after) {
            return {};
        } else if (axis->axis == along) {
            result->before += axis->before;
        } else if (axis->before != result->before) {
            return {};
        }
    }
    for (std::size_t i = 0; i < flow.inputs(); ++i)
        if (!flow.perSample(i) && (result->axis == along || !flow.sameForAll(i, *result))) return {};
    return result;
}

Found reduction(const Flow& flow, const Dims&, std::size_t) {
    const std::size_t rank = flow.dims(0).size();
    const bool arg = flow.node().op.starts_with("Arg");
    std::set<std::size_t> axes;
    if (arg) axes = {flow.axisAttribute(0, rank)};
    else axes = flow.axes(1, rank);
    if (axes.empty() && flow.integer("noop_with_empty_axes", 0) == 0)
        for (std::size_t d = 0; d < rank; ++d) axes.insert(d);
    Found axis = keptUnless(flow, [&](std::size_t a) { return axes.contains(a); });
    if (axis && flow.integer("keepdims", 1) == 0) {
        const auto before = std::count_if(axes.begin(), axes.end(), [&](std::size_t a) { return a < axis->axis; });
        axis->axis -= static_cast<std::size_t>(before);
    }
    return axis;
}

Found matMul(const Flow& flow, const Dims& output, std::size_t) {
    const std::size_t rank[2] = {flow.dims(0).size(), flow.dims(1).size()};
    if (rank[0] < 2 || rank[1] < 2 || output.size() < 2) return {};
    Found result;
    for (std::size_t i = 0; i < 2; ++i) {
        if (!flow.perSample(i)) continue;
        Found axis = flow.axis(i);
        if (!axis) return {};
        const std::size_t fromEnd = rank[i] - axis->axis;
        const bool rows = fromEnd == 2 && i == 0, columns = fromEnd == 1 && i == 1;
        if (fromEnd < 3 && !((rows || columns) && !flow.perSample(1 - i))) return {};
        axis->axis = output.size() - fromEnd;
        if (result && *result != *axis) return {};
        result = axis;
    }
    if (!result) return {};
    const std::size_t fromEnd = output.size() - result->axis;
    for (std::size_t i = 0; i < 2; ++i)
        if (!flow.perSample(i) && fromEnd >= 3 && rank[i] >= fromEnd &&
            !flow.sameForAll(i, {rank[i] - fromEnd, result->before, result->after}))
            return {};
    return result;
}

Found gemm(const Flow& flow, const Dims& output, std::size_t) {
    if (!flow.perSample(0) || flow.perSample(1) || output.size() != 2) return {};
    Found axis = flow.axis(0);
    if (!axis || axis->axis != (flow.integer("transA", 0) != 0 ? 1u : 0u)) return {};
    axis->axis = 0;
    if (!flow.has(2) || flow.dims(2).size() < 2) return flow.perSample(2) ? Found() : axis;
    if (flow.perSample(2)) return flow.axis(2) == axis ? axis : Found();
    return flow.sameForAll(2, *axis) ? axis : Found();
}

Found expand(const Flow& flow, const Dims& output, std::size_t) {
    return flow.perSample(1) ? Found() : aligned(flow, output.size(), 0, 1);
}

Found tile(const Flow& flow, const Dims& output, std::size_t) {
    Found axis = flow.axis(0);
    if (!flow.onlyFirstIsPerSample() || !axis) return {};
    axis->before *= output[axis->axis] / flow.dims(0)[axis->axis];
    return axis;
}

Found gather(const Flow& flow, const Dims&, std::size_t) {
    const std::size_t along = flow.axisAttribute(0, flow.dims(0).size()), rank = flow.dims(1).size();
    if (flow.perSample(0) && flow.perSample(1)) return {};
    if (flow.perSample(1)) {
        Found axis = flow.axis(1);
        if (axis) axis->axis += along;
        return axis;
    }
    Found axis = flow.axis(0);
    if (!axis || axis->axis == along) return {};
    if (axis->axis > along) axis->axis += rank - 1;
    return axis;
}

Found alongElements(const Flow& flow, const Dims& output, std::size_t) {
    const Found axis = aligned(flow, output.size(), 0, flow.inputs());
    return axis && axis->axis != flow.axisAttribute(0, output.size()) ? axis : Found();
}

Found gatherNd(const Flow& flow, const Dims&, std::size_t) {
    const auto batchDims = static_cast<std::size_t>(flow.integer("batch_dims", 0));
    const bool first = flow.perSample(0), second = flow.perSample(1);
    const Found axis = flow.axis(first ? 0 : 1);
    if (!axis) return {};
    if (first && second && flow.axis(0) != flow.axis(1)) return {};
    if (!first && second && batchDims == 0) return axis->axis + 1 < flow.dims(1).size() ? axis : Found();
    if (axis->axis >= batchDims) return {};
    return flow.perSample(first ? 1 : 0) || flow.sameForAll(first ? 1 : 0, *axis) ? axis : Found();
}

Found oneHot(const Flow& flow, const Dims& output, std::size_t) {
    Found axis = flow.axis(0);
    if (!flow.onlyFirstIsPerSample() || !axis) return {};
    if (flow.axisAttribute(-1, output.size()) <= axis->axis) ++axis->axis;
    return axis;
}

Found einsum(const Flow& flow, const Dims&, std::size_t) {
    std::string equation = flow.node().attributes.text("equation", "");
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    if (arrow == std::string::npos || equation.find('.') != std::string::npos) return {};
    std::vector<std::string> terms{""};
    for (const char c : equation.substr(0, arrow))
        if (c == ',') terms.emplace_back();
        else terms.back() += c;
    if (terms.size() != flow.inputs()) return {};
    std::optional<char> label;
    Found result;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (!flow.perSample(i)) continue;
        const Found& axis = flow.axis(i);
        if (!axis || axis->axis >= terms[i].size()) return {};
        const char own = terms[i][axis->axis];
        if ((label && *label != own) || std::count(terms[i].begin(), terms[i].end(), own) != 1) return {};
        if (result && (result->before != axis->before || result->after != axis->after)) return {};
        label = own;
        result = axis;
    }
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const std::size_t at = terms[i].find(*label);
        if (!flow.perSample(i) && at != std::string::npos && !flow.sameForAll(i, {at, result->before, result->after})) return {};
    }
    const std::size_t made = equation.substr(arrow + 2).find(*label);
    if (made == std::string::npos) return {};
    result->axis = made;
    return result;
}

Found recurrence(const Flow& flow, const Dims&, std::size_t output) {
    const bool batchFirst = flow.integer("layout", 0) != 0;
    const auto expected = [&](std::size_t i) { return std::size_t(i == 4 || batchFirst ? 0 : 1); };
    Found result;
    for (const std::size_t i : {0, 4, 5, 6}) {
        if (i >= flow.inputs() || !flow.has(i)) continue;
        if (flow.perSample(i)) {
            const Found& axis = flow.axis(i);
            if (!axis || axis->axis != expected(i) || axis->before != 1 || axis->after != 1) return {};
        } else if (i == 0 || !flow.sameForAll(i, {expected(i), 1, 1})) {
            return {};
        }
    }
    for (const std::size_t i : {1, 2, 3, 7})
        if (i < flow.inputs() && flow.perSample(i)) return {};
    return SampleAxis{std::size_t(batchFirst ? 0 : output == 0 ? 2 : 1), 1, 1};
}

Found gridSample(const Flow& flow, const Dims& output, std::size_t) {
    for (const std::size_t i : {0, 1}) {
        const Found& axis = flow.axis(i);
        if (flow.perSample(i) ? !axis || axis->axis != 0 : !flow.sameForAll(i, {0, 1, 1})) return {};
        if (axis && (axis->before != 1 || axis->after != 1)) return {};
    }
    return output.empty() ? Found() : Found(SampleAxis{});
}

Found batchNorm(const Flow& flow, const Dims& output, std::size_t) {
    return flow.integer("training_mode", 0) == 0 ? leading(flow, output, 0) : Found();
}

using Rule = Found (*)(const Flow&, const Dims& output, std::size_t index);

/// Operators that are missing here mix the samples, as far as is known.
Rule ruleOf(const std::string& op) {
    static const std::map<std::string, Rule, std::less<>> rules = [] {
        std::map<std::string, Rule, std::less<>> all;
        const auto add = [&](Rule rule, std::initializer_list<const char*> ops) {
            for (const char* name : ops) all[name] = rule;
        };
        add(elementwise, {"Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift", "BitwiseAnd",
                          "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil", "Celu", "Clip", "Cos", "Cosh",
                          "DequantizeLinear", "Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater",
                          "GreaterOrEqual", "HardSigmoid", "HardSwish", "IsInf", "IsNaN", "LeakyRelu", "Less", "LessOrEqual",
                          "Log", "Max", "Mean", "Min", "Mish", "Mod", "Mul", "Neg", "Not", "Or", "PRelu", "Pow",
                          "QuantizeLinear", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh",
                          "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tan", "Tanh", "ThresholdedRelu", "Where",
                          "Xor", "QuickGelu", "QLinearAdd", "QLinearMul", "QLinearLeakyRelu", "QLinearSigmoid",
                          kFusedErfGelu});
        add(leading, {"AveragePool", "Conv", "ConvInteger", "ConvTranspose", "DepthToSpace", "GlobalAveragePool", "GlobalLpPool",
                      "GlobalMaxPool", "GroupNormalization", "InstanceNormalization", "LRN", "LpPool", "MaxPool", "QLinearConv",
                      "QLinearAveragePool", "QLinearGlobalAveragePool", "SpaceToDepth"});
        add(alongAxis, {"CumSum", "LpNormalization", "TopK"});
        add(softmax, {"Hardmax", "LogSoftmax", "Softmax"});
        add(fromAxis, {"LayerNormalization", "RMSNormalization"});
        add(lastDimension, {kFusedMaskedSoftmax, kFusedLayerNorm});
        add(matrices, {"Trilu"});
        add(whereKept, {"Pad", "Resize", "Split", "Upsample"});
        add(slice, {"Slice"});
        add(transpose, {"Transpose"});
        add(concat, {"Concat"});
        add(reduction, {"ArgMax", "ArgMin", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                        "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"});
        add(matMul, {"MatMul", "MatMulInteger"});
        add(gemm, {"Gemm"});
        add(expand, {"Expand"});
        add(tile, {"Tile"});
        add(gather, {"Gather"});
        add(alongElements, {"GatherElements", "Scatter", "ScatterElements"});
        add(gatherNd, {"GatherND"});
        add(oneHot, {"OneHot"});
        add(einsum, {"Einsum"});
        add(recurrence, {"GRU", "LSTM", "RNN"});
        add(gridSample, {"GridSample"});
        add(batchNorm, {"BatchNormalization"});
        return all;
    }();
    const auto found = rules.find(op);
    return found == rules.end() ? nullptr : found->second;
}

/// Views keep the order of the elements.
bool isView(const std::string& op) {
    static const std::set<std::string> views{"Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
    return views.contains(op);
}

}  // namespace

std::vector<SampleLayout> followSamples(const NodeContext& context, const std::vector<TensorDesc>& outputs,
                                        const ConstantsOfOne& one) {
    std::vector<SampleLayout> layouts(outputs.size());
    std::int64_t count = 0;
    bool mixed = false;
    for (const TensorDesc& input : context.inputs) {
        mixed = mixed || input.samples.isMixed();
        count = std::max(count, input.samples.count);
    }
    if (count == 0 && !mixed) return layouts;
    const Rule rule = ruleOf(context.node.op);
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
            const Flow flow(context, count, outputs[o], one);
            layouts[o] = layoutOf(outputs[o].dims, rule(flow, outputs[o].dims, o), count);
            if (!flow.settled()) layouts[o] = SampleLayout::mixed();
        }
    }
    return layouts;
}

}  // namespace quantloupe
