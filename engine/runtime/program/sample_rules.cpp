// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/sample_rules.h"

#include <algorithm>
#include <utility>

#include "model/operator_signatures.h"

namespace quantloupe {
namespace {

/// The axis within `rank` dimensions for inputs [first, last), which are aligned at their last dimension as
/// in broadcasting.
FoundAxis aligned(const SampleFlow& flow, std::size_t rank, std::size_t first, std::size_t last) {
    FoundAxis result;
    for (std::size_t i = first; i < last; ++i) {
        if (!flow.perSample(i)) continue;
        FoundAxis axis = flow.axis(i);
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

FoundAxis elementwise(const SampleFlow& flow, const Dims& output, std::size_t) {
    return aligned(flow, output.size(), 0, flow.inputs());
}

/// QuantizeLinear and DequantizeLinear: scales and zero points in one dimension belong to `axis`.
FoundAxis coded(const SampleFlow& flow, const Dims& output, std::size_t o) {
    if (!flow.onlyFirstIsPerSample() || !flow.axis(0)) return elementwise(flow, output, o);
    const auto rank = static_cast<std::int64_t>(output.size());
    const std::int64_t given = flow.integer("axis", 1), axis = given < 0 ? given + rank : given;
    FoundAxis found = flow.axis(0);
    for (std::size_t i = 1; i < flow.inputs(); ++i) {
        if (!flow.has(i)) continue;
        const Dims& dims = flow.dims(i);
        if (dims.size() != 1) return elementwise(flow, output, o);
        if (dims[0] > 1 && std::cmp_equal(axis, found->axis) &&
            !flow.sameForAll(i, {0, found->before, found->after}))
            return {};
    }
    return found;
}

/// The samples are the first dimension, which the operator does not change; all other inputs are parameters.
FoundAxis leading(const SampleFlow& flow, const Dims& output, std::size_t) {
    const FoundAxis& axis = flow.axis(0);
    if (!flow.onlyFirstIsPerSample() || !axis || axis->axis != 0 || output.empty() ||
        output[0] != flow.dims(0)[0])
        return {};
    return axis;
}

/// Keeps the axis unless the operator works along it.
FoundAxis keptUnless(const SampleFlow& flow, const std::function<bool(std::size_t axis)>& touched) {
    const FoundAxis& axis = flow.axis(0);
    if (!flow.onlyFirstIsPerSample() || !axis || touched(axis->axis)) return {};
    return axis;
}

FoundAxis alongAxis(const SampleFlow& flow, const Dims&, std::size_t) {
    const std::size_t axis = flow.axisAttribute(-1, flow.dims(0).size());
    return keptUnless(flow, [&](std::size_t a) { return a == axis; });
}

FoundAxis running(const SampleFlow& flow, const Dims&, std::size_t) {
    const Constant* given = flow.context().constant(1);
    if (given == nullptr) return {};
    const std::size_t axis = normalizedAxis(given->toInt64s().at(0), flow.dims(0).size());
    return keptUnless(flow, [&](std::size_t a) { return a == axis; });
}

FoundAxis softmax(const SampleFlow& flow, const Dims&, std::size_t) {
    const bool flattened = flow.context().opset() < 13;
    const std::size_t axis = flow.axisAttribute(flattened ? 1 : -1, flow.dims(0).size());
    return keptUnless(flow, [&](std::size_t a) { return flattened ? a >= axis : a == axis; });
}

/// For operators that work on all dimensions from an axis on.
FoundAxis fromAxis(const SampleFlow& flow, const Dims&, std::size_t) {
    const std::size_t axis = flow.axisAttribute(-1, flow.dims(0).size());
    return keptUnless(flow, [&](std::size_t a) { return a >= axis; });
}

/// Input 0 and a mask are aligned; the operator works along the last dimension.
FoundAxis lastDimension(const SampleFlow& flow, const Dims& output, std::size_t) {
    const FoundAxis axis = aligned(flow, output.size(), 0, flow.inputs());
    return axis && axis->axis + 1 < output.size() ? axis : FoundAxis();
}

FoundAxis matrices(const SampleFlow& flow, const Dims&, std::size_t) {
    return keptUnless(flow, [&](std::size_t a) { return a + 2 >= flow.dims(0).size(); });
}

FoundAxis maxPool(const SampleFlow& flow, const Dims& output, std::size_t index) {
    return index == 0 ? leading(flow, output, 0) : FoundAxis();  // positions in the whole batch
}

FoundAxis fourier(const SampleFlow& flow, const Dims&, std::size_t) {
    const std::size_t rank = flow.dims(0).size();
    std::int64_t given = flow.integer("axis", flow.context().opset() >= 20 ? -2 : 1);
    if (const Constant* axis = flow.context().constant(2)) given = axis->toInt64s().at(0);
    const std::size_t along = normalizedAxis(given, rank);
    return keptUnless(flow, [&](std::size_t a) { return a == along || a + 1 == rank; });
}

FoundAxis meanVariance(const SampleFlow& flow, const Dims&, std::size_t) {
    std::set<std::size_t> axes;
    for (const std::int64_t axis : flow.node().attributes.integers("axes", {0, 2, 3}))
        axes.insert(normalizedAxis(axis, flow.dims(0).size()));
    return keptUnless(flow, [&](std::size_t a) { return axes.contains(a); });
}

FoundAxis pad(const SampleFlow& flow, const Dims&, std::size_t) {
    const Dims pads = padsOf(flow.context());
    return keptUnless(flow,
                      [&](std::size_t a) { return pads[a] != 0 || pads[flow.dims(0).size() + a] != 0; });
}

/// Not by the extent, which can be unchanged because it was rounded.
FoundAxis resize(const SampleFlow& flow, const Dims&, std::size_t) {
    const std::vector<double> scales = resizeScales(flow.context());
    return keptUnless(flow, [&](std::size_t a) { return scales[a] != 1.0; });
}

/// An unchanged extent means that the operator did nothing along that dimension.
FoundAxis whereKept(const SampleFlow& flow, const Dims& output, std::size_t) {
    return keptUnless(flow,
                      [&](std::size_t a) { return a >= output.size() || output[a] != flow.dims(0)[a]; });
}

FoundAxis slice(const SampleFlow& flow, const Dims& output, std::size_t) {
    const FoundAxis axis = whereKept(flow, output, 0);
    if (!axis) return {};
    Dims axes = flow.node().attributes.integers("axes"), steps;
    if (const Constant* given = flow.context().constant(3)) axes = given->toInt64s();
    if (const Constant* given = flow.context().constant(4)) steps = given->toInt64s();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::size_t d = axes.empty() ? i : normalizedAxis(axes[i], flow.dims(0).size());
        if (d == axis->axis && steps[i] != 1) return {};  // a step other than 1 reverses or skips samples
    }
    return axis;
}

FoundAxis transpose(const SampleFlow& flow, const Dims& output, std::size_t) {
    FoundAxis axis = flow.axis(0);
    if (!axis) return {};
    const Dims order = flow.node().attributes.integers("perm");
    if (order.empty())
        axis->axis = output.size() - 1 - axis->axis;
    else
        axis->axis = static_cast<std::size_t>(
            std::find(order.begin(), order.end(), static_cast<std::int64_t>(axis->axis)) - order.begin());
    return axis;
}

FoundAxis concat(const SampleFlow& flow, const Dims& output, std::size_t) {
    const std::size_t along = flow.axisAttribute(0, output.size());
    FoundAxis result;
    for (std::size_t i = 0; i < flow.inputs(); ++i) {
        if (!flow.perSample(i)) continue;
        const FoundAxis& axis = flow.axis(i);
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

FoundAxis reduction(const SampleFlow& flow, const Dims&, std::size_t) {
    const std::size_t rank = flow.dims(0).size();
    const bool arg = flow.node().op.starts_with("Arg");
    std::set<std::size_t> axes;
    if (arg)
        axes = {flow.axisAttribute(0, rank)};
    else
        axes = flow.axes(1, rank);
    if (axes.empty() && flow.integer("noop_with_empty_axes", 0) == 0)
        for (std::size_t d = 0; d < rank; ++d) axes.insert(d);
    FoundAxis axis = keptUnless(flow, [&](std::size_t a) { return axes.contains(a); });
    if (axis && flow.integer("keepdims", 1) == 0) {
        const auto before =
            std::count_if(axes.begin(), axes.end(), [&](std::size_t a) { return a < axis->axis; });
        axis->axis -= static_cast<std::size_t>(before);
    }
    return axis;
}

FoundAxis expand(const SampleFlow& flow, const Dims& output, std::size_t) {
    return flow.perSample(1) ? FoundAxis() : aligned(flow, output.size(), 0, 1);
}

FoundAxis tile(const SampleFlow& flow, const Dims& output, std::size_t) {
    FoundAxis axis = flow.axis(0);
    if (!flow.onlyFirstIsPerSample() || !axis) return {};
    axis->before *= output[axis->axis] / flow.dims(0)[axis->axis];
    return axis;
}

FoundAxis gather(const SampleFlow& flow, const Dims&, std::size_t) {
    const std::size_t along = flow.axisAttribute(0, flow.dims(0).size()), rank = flow.dims(1).size();
    if (flow.perSample(0) && flow.perSample(1)) return {};
    if (flow.perSample(1)) {
        FoundAxis axis = flow.axis(1);
        if (axis) axis->axis += along;
        return axis;
    }
    FoundAxis axis = flow.axis(0);
    if (!axis || axis->axis == along) return {};
    if (axis->axis > along) axis->axis += rank - 1;
    return axis;
}

FoundAxis alongElements(const SampleFlow& flow, const Dims& output, std::size_t) {
    const FoundAxis axis = aligned(flow, output.size(), 0, flow.inputs());
    return axis && axis->axis != flow.axisAttribute(0, output.size()) ? axis : FoundAxis();
}

/// Indices and updates do not broadcast: with a single row, only the first sample changes.
FoundAxis scatter(const SampleFlow& flow, const Dims& output, std::size_t index) {
    const FoundAxis axis = alongElements(flow, output, index);
    for (std::size_t i = 0; axis && i < flow.inputs(); ++i)
        if (axis->axis >= flow.dims(i).size() || flow.dims(i)[axis->axis] != output[axis->axis]) return {};
    return axis;
}

FoundAxis gatherNd(const SampleFlow& flow, const Dims&, std::size_t) {
    const auto batchDims = static_cast<std::size_t>(flow.integer("batch_dims", 0));
    const bool first = flow.perSample(0), second = flow.perSample(1);
    const FoundAxis axis = flow.axis(first ? 0 : 1);
    if (!axis) return {};
    if (first && second && flow.axis(0) != flow.axis(1)) return {};
    if (!first && second && batchDims == 0) return axis->axis + 1 < flow.dims(1).size() ? axis : FoundAxis();
    if (axis->axis >= batchDims) return {};
    return flow.perSample(first ? 1 : 0) || flow.sameForAll(first ? 1 : 0, *axis) ? axis : FoundAxis();
}

FoundAxis oneHot(const SampleFlow& flow, const Dims& output, std::size_t) {
    FoundAxis axis = flow.axis(0);
    if (!flow.onlyFirstIsPerSample() || !axis) return {};
    if (flow.axisAttribute(-1, output.size()) <= axis->axis) ++axis->axis;
    return axis;
}

FoundAxis gridSample(const SampleFlow& flow, const Dims& output, std::size_t) {
    for (const std::size_t i : {0, 1}) {
        const FoundAxis& axis = flow.axis(i);
        if (flow.perSample(i) ? !axis || axis->axis != 0 : !flow.sameForAll(i, {0, 1, 1})) return {};
        if (axis && (axis->before != 1 || axis->after != 1)) return {};
    }
    return output.empty() ? FoundAxis() : FoundAxis(SampleAxis{});
}

FoundAxis batchNorm(const SampleFlow& flow, const Dims& output, std::size_t) {
    return flow.integer("training_mode", 0) == 0 ? leading(flow, output, 0) : FoundAxis();
}

}  // namespace

SampleRule sampleRuleOf(const std::string& op) {
    static const std::map<std::string, SampleRule, std::less<>> rules = [] {
        std::map<std::string, SampleRule, std::less<>> all;
        const auto add = [&](SampleRule rule, std::initializer_list<const char*> ops) {
            for (const char* name : ops) all[name] = rule;
        };
        add(coded, {"DequantizeLinear", "QuantizeLinear"});
        add(elementwise, {"CastLike", "QuickGelu", "QLinearAdd", "QLinearMul", "QLinearLeakyRelu",
                          "QLinearSigmoid", kFusedErfGelu});
        add(leading, {"AffineGrid", "AveragePool", "Col2Im", "Conv", "ConvInteger", "ConvTranspose",
                      "DepthToSpace", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool",
                      "GroupNormalization", "InstanceNormalization", "LRN", "LpPool", "QLinearConv",
                      "QLinearAveragePool", "QLinearGlobalAveragePool", "STFT", "SpaceToDepth"});
        add(maxPool, {"MaxPool"});
        add(fourier, {"DFT"});
        add(meanVariance, {"MeanVarianceNormalization"});
        add(alongAxis, {"Compress", "LpNormalization", "TopK"});
        add(running, {"CumProd", "CumSum"});
        add(softmax, {"Hardmax", "LogSoftmax", "Softmax"});
        add(fromAxis, {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"});
        add(lastDimension, {kFusedMaskedSoftmax, kFusedLayerNorm});
        add(matrices, {"Det", "Trilu"});
        add(whereKept, {"Split"});
        add(pad, {"Pad"});
        add(resize, {"Resize", "Upsample"});
        add(slice, {"Slice"});
        add(transpose, {"Transpose"});
        add(concat, {"Concat"});
        add(reduction,
            {"ArgMax", "ArgMin", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
             "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"});
        add(sampleAxisOfMatMul, {"MatMul", "MatMulInteger"});
        add(sampleAxisOfGemm, {"Gemm"});
        add(expand, {"Expand"});
        add(tile, {"Tile"});
        add(gather, {"Gather"});
        add(alongElements, {"GatherElements"});
        add(scatter, {"Scatter", "ScatterElements"});
        add(gatherNd, {"GatherND"});
        add(oneHot, {"OneHot"});
        add(sampleAxisOfEinsum, {"Einsum"});
        add(sampleAxisOfRecurrence, {"GRU", "LSTM", "RNN"});
        add(gridSample, {"GridSample"});
        add(batchNorm, {"BatchNormalization"});
        return all;
    }();
    if (const auto found = rules.find(op); found != rules.end()) return found->second;
    return isElementwise(op) ? elementwise : nullptr;
}

}  // namespace quantloupe
