// SPDX-License-Identifier: Apache-2.0
#include "quantize/plan.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/error.h"
#include "base/short_text.h"
#include "quantize/calibration/power_of_two.h"
#include "quantize/float16.h"
#include "quantize/npu_moves.h"
#include "quantize/npu_positions.h"
#include "quantize/raised_scales.h"
#include "quantize/storage_types.h"

namespace quantloupe {
namespace {

const LayerSettings* settingsOf(const Prepared& prepared, const Unit& unit,
                                const QuantizationConfig& config) {
    const Node& source = prepared.source->node(prepared.sourceOf[unit.layer.index()]);
    return config.settingsOf(source.name);
}

void addTo(VersionBuilder& builder, const TensorQuantizer& q) {
    builder.add(q.scale).add(q.zeroPoint).add(q.quantMin).add(q.quantMax).add(q.rounding);
}

class PlanResolver {
  public:
    PlanResolver(std::shared_ptr<const Prepared> prepared, UnitList units, const Statistics& statistics,
                 const QuantizationConfig& config, QuantizerCache& cache, const Refinements& refinements)
        : m_statistics(statistics), m_config(config), m_cache(cache), m_refinements(refinements) {
        m_plan.prepared = std::move(prepared);
        m_plan.units = std::move(units);
    }

    Plan resolve() {
        // A layer's own activation setting applies to its output, or to its input if only that is quantized.
        // The layer that produces a tensor has priority.
        for (const bool produces : {true, false})
            for (const Unit& unit : m_plan.units.units)
                if (const LayerSettings* settings = settingsOf(*m_plan.prepared, unit, m_config);
                    settings != nullptr && unit.quantizesOutput == produces)
                    m_settings.try_emplace(produces ? unit.output : unit.inputs[0], settings);
        for (const Unit& unit : m_plan.units.units)
            if (unit.rangeOf.valid()) m_rangeOf[unit.output] = unit.rangeOf;
        for (const NodeId id : m_plan.prepared->conversions) followOrigin(m_plan.prepared->graph->node(id));
        requireFinite(*m_plan.prepared, m_plan.units, m_statistics, m_rangeOf);
        for (const Unit& unit : m_plan.units.units) resolveUnit(unit);
        if (anyRule(m_config.quantization.npuPositions) && moveToNpuPositions()) {
            m_plan.quantizers.clear();
            m_plan.tensors.clear();
            m_plan.notices.clear();
            for (const Unit& unit : m_plan.units.units) resolveUnit(unit);
        }
        m_plan.notices.insert(m_plan.notices.end(), m_npuNotices.begin(), m_npuNotices.end());
        addCalibrationNotices();
        followExportOpset();
        VersionBuilder builder;
        builder.add(m_plan.prepared->version);
        for (std::size_t u = 0; u < m_plan.units.units.size(); ++u) {
            const Unit& unit = m_plan.units.units[u];
            builder.add(unit.quantized).add(unit.activation.value).add(m_plan.quantizers[u].version);
        }
        m_plan.version = builder.finish();
        return std::move(m_plan);
    }

  private:
    /// Adds the opset of the exported model to the versions of AveragePool units, whose results depend on it.
    void followExportOpset() {
        const Graph& graph = *m_plan.prepared->graph;
        const auto pools = [&](const Node& node) { return node.op == "AveragePool"; };
        m_plan.exportOpset =
            std::ranges::any_of(graph.nodes(), pools) ? storageTypesOf(m_plan, true).opset : graph.opset();
        for (std::size_t u = 0; u < m_plan.units.units.size(); ++u)
            if (pools(graph.node(m_plan.units.units[u].layer))) {
                Version& version = m_plan.quantizers[u].version;
                version = VersionBuilder().add(version).add(m_plan.exportOpset).finish();
            }
    }

    /// Gives the output of a conversion the range and the calibration settings of its input.
    void followOrigin(const Node& conversion) {
        const TensorId from = conversion.input(0), to = conversion.output();
        if (const auto settings = m_settings.find(from); settings != m_settings.end())
            m_settings[to] = settings->second;
        // Otherwise it keeps its own range, because it has the same values.
        if (const auto range = m_rangeOf.find(from); range != m_rangeOf.end()) m_rangeOf[to] = range->second;
        m_origin[to] = from;
    }

    bool hasUnitRange(TensorId tensor) const {
        const auto origin = m_origin.find(tensor);
        return m_unitRanges.contains(origin == m_origin.end() ? tensor : origin->second);
    }

    const TensorQuantizer& quantizerOf(TensorId tensor) {
        if (const auto found = m_known.find(tensor); found != m_known.end()) return found->second;
        const auto other = m_rangeOf.find(tensor);
        const auto range = m_statistics.find(other == m_rangeOf.end() ? tensor : other->second);
        if (range == m_statistics.end())
            fail(ErrorKind::Internal, "'{}' was not calibrated", m_plan.prepared->graph->tensor(tensor).name);
        const auto own = m_settings.find(tensor);
        TensorCalibration how =
            tensorCalibrationOf(m_config, own == m_settings.end() ? nullptr : own->second);
        if (const auto bits = m_plan.prepared->activationBits.find(tensor);
            bits != m_plan.prepared->activationBits.end())
            how.scheme.bits = bits->second;
        TensorQuantizer quantizer =
            m_results.emplace(tensor, m_cache.activation(range->second, how)).first->second.quantizer;
        const bool power = how.scheme.powerOfTwo || isPowerOfTwo(how.method);
        // Quark's power-of-two calibration also calibrates these tensors.
        if (hasUnitRange(tensor) && !(power && m_plan.prepared->operators == OperatorSet::Quark)) {
            m_results.erase(tensor);
            quantizer = quantizerForRange(0, 1, how.scheme);
            if (power) roundToPowerOfTwo(quantizer, how.scheme);
        }
        quantizer.rounding = m_config.quantization.rounding;
        return m_known.emplace(tensor, quantizer).first->second;
    }

    std::shared_ptr<const ConstantQuantizer> constantQuantizer(const Unit& unit, const UnitConstant& constant,
                                                               const UnitQuantizers& known) {
        const LayerSettings* settings = settingsOf(*m_plan.prepared, unit, m_config);
        const Constant& values = *m_plan.prepared->graph->constantOf(constant.tensor);
        if (constant.role == ConstantRole::NormBias) {
            const int bits = biasBitsOf(m_config, settings);
            if (bits == kFloatBias || known.constants.empty()) return nullptr;
            return std::make_shared<const ConstantQuantizer>(
                quantizeBias(values, bits, known.inputs[0].scale, known.constants[0]->scales));
        }
        WeightScheme scheme;
        if (constant.role != ConstantRole::Operand || m_plan.prepared->operators == OperatorSet::Quark) {
            scheme = weightSchemeOf(m_config, settings, m_plan.prepared->graph->node(unit.layer));
        } else {
            const TensorCalibration how = tensorCalibrationOf(m_config, settings);
            scheme.bits = how.scheme.bits;
            scheme.isSigned = how.scheme.isSigned;
            scheme.symmetric = how.scheme.symmetric;
            scheme.powerOfTwo = how.scheme.powerOfTwo || isPowerOfTwo(how.method);
            if (how.method == CalibrationMethod::PowerOfTwoMinMse) scheme.method = WeightMethod::Mse;
        }
        const bool channels = constant.role == ConstantRole::Matrix && values.dims().size() > 1;
        scheme.perChannel = scheme.perChannel && channels;
        return m_cache.weight(values, scheme, channels ? 1 : 0, m_config.quantization.rounding);
    }

    /// Applies the NPU's rules; returns whether a scale changed.
    bool moveToNpuPositions() {
        NpuMoves moves = npuMoves(m_plan, m_config.quantization.npuPositions);
        m_npuNotices = std::move(moves.notices);
        for (const auto& [tensor, scale] : moves.activations) m_known.at(tensor).scale = scale;
        m_constantScales = std::move(moves.constants);
        return !moves.activations.empty() || !m_constantScales.empty();
    }

    /// Returns `quantizer`, with the scale that the NPU's rules require if they change it.
    std::shared_ptr<const ConstantQuantizer> moved(TensorId tensor,
                                                   std::shared_ptr<const ConstantQuantizer> quantizer) const {
        const auto scale = m_constantScales.find(tensor);
        if (scale == m_constantScales.end() || !quantizer) return quantizer;
        return std::make_shared<const ConstantQuantizer>(withScale(*quantizer, scale->second));
    }

    /// Raises the weight's scales if the operator set does so (raised_scales.h). Not called for learned
    /// rounding, which keeps the scales that it was learned with, nor for powers of two.
    void raise(const Unit& unit, int biasBits, UnitQuantizers& quantizers) const {
        const Graph& graph = *m_plan.prepared->graph;
        const Constant* bias = quantizers.correctedBias ? quantizers.correctedBias.get()
                               : unit.bias.valid()      ? graph.constantOf(unit.bias)
                                                        : nullptr;
        const bool ownOutput = unit.quantizesOutput && !unit.activation.valid();
        const auto scales = raisedScales(m_plan.prepared->operators,
                                         {*quantizers.weight, bias, quantizers.inputs[0].scale,
                                          ownOutput ? &quantizers.output : nullptr, biasBits == 32});
        if (!scales) return;
        quantizers.weight = std::make_shared<const ConstantQuantizer>(roundedAnew(
            *quantizers.weight, *graph.constantOf(unit.weight), *scales, m_config.quantization.rounding));
    }

    void noticeSaturation(const Unit& unit, const ConstantQuantizer& bias) {
        if (bias.saturated == 0 || !unit.quantized) return;
        m_plan.notices.push_back(
            fmt::format("layer '{}': {} bias values do not fit int32 and are clipped; keep it in float",
                        m_plan.prepared->graph->node(unit.layer).name, bias.saturated));
    }

    void resolveUnit(const Unit& unit) {
        const Node& node = m_plan.prepared->graph->node(unit.layer);
        if (unit.float16) {
            m_plan.quantizers.push_back(resolveFloat16(m_plan, unit, m_statistics));
            return;
        }
        UnitQuantizers quantizers;
        VersionBuilder builder;
        resolveTensors(unit, quantizers, builder);
        try {
            if (unit.weight.valid()) resolveWeight(unit, quantizers, builder);
            resolveConstants(unit, quantizers, builder);
        } catch (Error& error) {
            error.addContext(fmt::format("layer '{}'", node.name));
            throw;
        }
        builder.add(std::string_view(node.name)).add(unit.activation.valid());
        quantizers.version = builder.finish();
        if (unit.quantized) {
            for (std::size_t i = 0; i < unit.inputs.size(); ++i)
                m_plan.tensors[unit.inputs[i]] = quantizers.inputs[i];
            if (unit.quantizesOutput) m_plan.tensors[unit.output] = quantizers.output;
            for (const TensorId other : unit.otherOutputs) m_plan.tensors[other] = quantizers.output;
        }
        m_plan.quantizers.push_back(std::move(quantizers));
    }

    /// Resolves the quantizers of the inputs and the output.
    void resolveTensors(const Unit& unit, UnitQuantizers& quantizers, VersionBuilder& builder) {
        if (unit.unitRange) m_unitRanges.insert(unit.output);
        for (const TensorId input : unit.inputs) {
            quantizers.inputs.push_back(quantizerOf(input));
            addTo(builder, quantizers.inputs.back());
        }
        if (unit.kind == UnitKind::PassesScale && unit.quantized) {
            m_known[unit.output] = quantizers.inputs[0];
            for (const TensorId other : unit.otherOutputs) m_known[other] = quantizers.inputs[0];
        }
        if (!unit.quantizesOutput) return;
        quantizers.output =
            unit.kind == UnitKind::PassesScale ? quantizers.inputs[0] : quantizerOf(unit.output);
        addTo(builder, quantizers.output);
    }

    /// Resolves the quantizers of the weight and the bias.
    void resolveWeight(const Unit& unit, UnitQuantizers& quantizers, VersionBuilder& builder) {
        const Graph& graph = *m_plan.prepared->graph;
        const Node& node = graph.node(unit.layer);
        const Constant& weight = *graph.constantOf(unit.weight);
        const LayerSettings* settings = settingsOf(*m_plan.prepared, unit, m_config);
        const WeightScheme scheme = weightSchemeOf(m_config, settings, node);
        const int biasBits = biasBitsOf(m_config, settings);
        if (const auto corrected = m_refinements.biases.find(unit.bias);
            unit.bias.valid() && corrected != m_refinements.biases.end())
            quantizers.correctedBias = corrected->second;
        const auto learned = m_refinements.weights.find(unit.weight);
        if (learned != m_refinements.weights.end()) {
            quantizers.weight = learned->second;
        } else {
            quantizers.weight =
                m_cache.weight(weight, scheme, unit.weightAxis, m_config.quantization.rounding);
            if (!scheme.powerOfTwo) raise(unit, biasBits, quantizers);
        }
        quantizers.weight = moved(unit.weight, std::move(quantizers.weight));
        if (unit.bias.valid() && biasBits != kFloatBias)
            quantizers.bias = std::make_shared<const ConstantQuantizer>(quantizeBias(
                quantizers.correctedBias ? *quantizers.correctedBias : *graph.constantOf(unit.bias), biasBits,
                quantizers.inputs[0].scale, quantizers.weight->scales));
        quantizers.bias = moved(unit.bias, std::move(quantizers.bias));
        builder.add(weight.version());
        quantloupe::addTo(builder, scheme);
        builder.add(biasBits);
        for (const float scale : quantizers.weight->scales) builder.add(scale);
        if (quantizers.correctedBias) builder.add(quantizers.correctedBias->version());
        if (learned != m_refinements.weights.end()) builder.add(learned->second->dequantized->version());
        if (quantizers.bias)
            builder.add(graph.constantOf(unit.bias)->version()).add(quantizers.bias->scales[0]);
        if (quantizers.weight->vanished && unit.quantized)
            m_plan.notices.push_back(fmt::format(
                "layer '{}': all its weights round to 0 with {} bits; give it more bits, scales per "
                "channel, or keep it in float",
                node.name, scheme.bits));
        if (quantizers.bias) noticeSaturation(unit, *quantizers.bias);
    }

    void resolveConstants(const Unit& unit, UnitQuantizers& quantizers, VersionBuilder& builder) {
        for (const UnitConstant& constant : unit.constants) {
            quantizers.constants.push_back(
                moved(constant.tensor, constantQuantizer(unit, constant, quantizers)));
            if (!quantizers.constants.back()) continue;
            builder.add(quantizers.constants.back()->dequantized->version());
            noticeSaturation(unit, *quantizers.constants.back());
        }
    }

    /// Adds each notice of the calibration once, with the tensors that it applies to.
    void addCalibrationNotices() {
        std::map<std::string, std::vector<std::string>> tensorsByNotice;
        std::size_t approximate = 0;
        for (const auto& [tensor, result] : m_results) {
            if (!m_plan.tensors.contains(tensor)) continue;
            if (result.approximate) ++approximate;
            if (!result.notice.empty())
                tensorsByNotice[result.notice].push_back(
                    fmt::format("'{}'", m_plan.prepared->graph->tensor(tensor).name));
        }
        for (const auto& [notice, tensors] : tensorsByNotice)
            m_plan.notices.push_back(fmt::format("calibration of {}: {}", shortList(tensors, 3), notice));
        if (approximate > 0)
            m_plan.notices.push_back(fmt::format(
                "calibration: the scales of {} tensors were computed from histograms instead of all values",
                approximate));
    }

    const Statistics& m_statistics;
    const QuantizationConfig& m_config;
    QuantizerCache& m_cache;
    const Refinements& m_refinements;
    Plan m_plan;
    std::unordered_map<TensorId, TensorQuantizer> m_known;
    std::map<TensorId, CalibrationResult> m_results;
    std::unordered_map<TensorId, const LayerSettings*> m_settings;
    std::unordered_map<TensorId, TensorId> m_origin;       ///< the tensor that a conversion reads
    std::unordered_map<TensorId, TensorId> m_rangeOf;      ///< tensors that take the range of another one
    std::set<TensorId> m_unitRanges;                       ///< outputs of Softmax, with the range 0 to 1
    std::unordered_map<TensorId, float> m_constantScales;  ///< scales changed by the NPU's rules
    std::vector<std::string> m_npuNotices;
};

}  // namespace

Plan resolvePlan(std::shared_ptr<const Prepared> prepared, UnitList units, const Statistics& statistics,
                 const QuantizationConfig& config, QuantizerCache& cache, const Refinements& refinements) {
    return PlanResolver(std::move(prepared), std::move(units), statistics, config, cache, refinements)
        .resolve();
}

std::shared_ptr<const ConstantQuantizer> quantizedWeight(const Prepared& prepared, const Unit& unit,
                                                         const QuantizationConfig& config,
                                                         QuantizerCache& cache) {
    const WeightScheme scheme =
        weightSchemeOf(config, settingsOf(prepared, unit, config), prepared.graph->node(unit.layer));
    return cache.weight(*prepared.graph->constantOf(unit.weight), scheme, unit.weightAxis,
                        config.quantization.rounding);
}

std::vector<TensorId> calibratedTensors(const UnitList& units) {
    std::set<TensorId> tensors;
    for (const Unit& unit : units.units) {
        tensors.insert(unit.inputs.begin(), unit.inputs.end());
        tensors.insert(unit.otherOutputs.begin(), unit.otherOutputs.end());
        if (unit.quantizesOutput) tensors.insert(unit.output);
    }
    return {tensors.begin(), tensors.end()};
}

namespace {

void useQuantized(ProgramSpec& spec, const Unit& unit, const UnitQuantizers& own) {
    for (const auto& [tensor, half] : own.halves) spec.constants[tensor] = half;
    if (own.weight) {
        spec.constants[unit.weight] = own.weight->dequantized;
        spec.codes[unit.weight] = own.weight;
    }
    if (own.correctedBias) spec.constants[unit.bias] = own.correctedBias;
    if (own.bias) {
        spec.constants[unit.bias] = own.bias->dequantized;
        // Integer kernels cannot add a bias with its own scale; without codes, they leave the unit to the
        // float simulation.
        if (own.bias->inProductScale) spec.codes[unit.bias] = own.bias;
    }
    for (std::size_t i = 0; i < unit.constants.size(); ++i)
        if (own.constants[i]) spec.constants[unit.constants[i].tensor] = own.constants[i]->dequantized;
}

}  // namespace

ProgramSpec Plan::networkSpec(const std::map<TensorId, TensorDesc>& inputs,
                              std::vector<TensorId> observed) const {
    ProgramSpec spec;
    spec.graph = prepared->graph;
    spec.inputs = inputs;
    spec.observed = std::move(observed);
    spec.arithmetic = arithmetic;
    spec.exportOpset = exportOpset;
    for (const auto& [tensor, quantizer] : tensors) spec.quantizers.emplace(tensor, quantizer.fakeQuant());
    for (std::size_t u = 0; u < units.units.size(); ++u)
        if (units.units[u].quantized || units.units[u].float16)
            useQuantized(spec, units.units[u], quantizers[u]);
    return spec;
}

ProgramSpec Plan::unitSpec(std::size_t index, const std::map<TensorId, TensorDesc>& inputs) const {
    const Unit& unit = units.units[index];
    const UnitQuantizers& own = quantizers[index];
    ProgramSpec spec;
    spec.graph = prepared->graph;
    spec.inputs = inputs;
    spec.observed = {unit.output};
    spec.arithmetic = arithmetic;
    spec.exportOpset = exportOpset;
    for (std::size_t i = 0; i < unit.inputs.size(); ++i)
        spec.quantizers[unit.inputs[i]] = own.inputs[i].fakeQuant();
    if (unit.quantizesOutput || unit.float16) spec.quantizers[unit.output] = own.output.fakeQuant();
    useQuantized(spec, unit, own);
    return spec;
}

}  // namespace quantloupe
