// SPDX-License-Identifier: Apache-2.0
#include "quantize/plan.h"

#include <set>

#include "base/error.h"

namespace quantloupe {
namespace {

const LayerSettings* settingsOf(const Prepared& prepared, const Unit& unit, const QuantizationConfig& config) {
    const Node& source = prepared.source->node(prepared.sourceOf[unit.layer.index()]);
    const auto found = config.layers.find(source.name);
    return found == config.layers.end() ? nullptr : &found->second;
}

WeightScheme weightScheme(const QuantizationConfig& config, const LayerSettings* settings) {
    WeightScheme scheme = config.quantization.weight;
    if (settings != nullptr) {
        scheme.bits = settings->weightBits.value_or(scheme.bits);
        scheme.perChannel = settings->weightPerChannel.value_or(scheme.perChannel);
    }
    return scheme;
}

void addTo(VersionBuilder& builder, const TensorQuantizer& q) {
    builder.add(q.scale).add(q.zeroPoint).add(q.quantMin).add(q.quantMax);
}

class PlanResolver {
  public:
    PlanResolver(std::shared_ptr<const Prepared> prepared, UnitList units, const Statistics& statistics,
                 const QuantizationConfig& config, WeightCache& weights)
        : m_statistics(statistics), m_config(config), m_weights(weights) {
        m_plan.prepared = std::move(prepared);
        m_plan.units = std::move(units);
    }

    Plan resolve() {
        // A layer's own activation setting is that of the tensor it makes.
        for (const Unit& unit : m_plan.units.units)
            if (const LayerSettings* settings = settingsOf(*m_plan.prepared, unit, m_config))
                if (settings->activationSymmetric) m_symmetric[unit.output] = *settings->activationSymmetric;
        for (const Unit& unit : m_plan.units.units) resolveUnit(unit);
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
    const TensorQuantizer& quantizerOf(TensorId tensor) {
        if (const auto found = m_known.find(tensor); found != m_known.end()) return found->second;
        const auto range = m_statistics.find(tensor);
        if (range == m_statistics.end())
            fail(ErrorKind::Internal, "'{}' was not calibrated", m_plan.prepared->graph->tensor(tensor).name);
        ActivationScheme scheme = m_config.quantization.activation;
        if (const auto own = m_symmetric.find(tensor); own != m_symmetric.end()) scheme.symmetric = own->second;
        return m_known.emplace(tensor, quantizerForRange(range->second.min, range->second.max, scheme)).first->second;
    }

    void resolveUnit(const Unit& unit) {
        const Graph& graph = *m_plan.prepared->graph;
        const Node& node = graph.node(unit.layer);
        UnitQuantizers quantizers;
        VersionBuilder builder;
        for (const TensorId input : unit.inputs) {
            quantizers.inputs.push_back(quantizerOf(input));
            addTo(builder, quantizers.inputs.back());
        }
        if (unit.kind == UnitKind::PassesScale && unit.quantized) m_known[unit.output] = quantizers.inputs[0];
        quantizers.output = unit.kind == UnitKind::PassesScale ? quantizers.inputs[0] : quantizerOf(unit.output);
        addTo(builder, quantizers.output);
        if (unit.weight.valid()) {
            const LayerSettings* settings = settingsOf(*m_plan.prepared, unit, m_config);
            const WeightScheme scheme = weightScheme(m_config, settings);
            try {
                quantizers.weight = m_weights.quantize(*graph.constantOf(unit.weight), scheme, unit.weightAxis);
                if (unit.bias.valid())
                    quantizers.bias = std::make_shared<const ConstantQuantizer>(quantizeBias(
                        *graph.constantOf(unit.bias), quantizers.inputs[0].scale, quantizers.weight->scales));
            } catch (Error& error) {
                error.addContext(fmt::format("layer '{}'", node.name));
                throw;
            }
            builder.add(graph.constantOf(unit.weight)->version());
            builder.add(scheme.bits).add(scheme.perChannel).add(scheme.restricted);
            if (quantizers.bias) {
                builder.add(graph.constantOf(unit.bias)->version());
                if (quantizers.bias->saturated > 0 && unit.quantized)
                    m_plan.notices.push_back(
                        fmt::format("layer '{}': {} bias values do not fit int32 and are clipped; keep it in float",
                                    node.name, quantizers.bias->saturated));
            }
        }
        builder.add(std::string_view(node.name)).add(unit.activation.valid());
        quantizers.version = builder.finish();
        if (unit.quantized) {
            for (std::size_t i = 0; i < unit.inputs.size(); ++i) m_plan.tensors[unit.inputs[i]] = quantizers.inputs[i];
            m_plan.tensors[unit.output] = quantizers.output;
        }
        m_plan.quantizers.push_back(std::move(quantizers));
    }

    const Statistics& m_statistics;
    const QuantizationConfig& m_config;
    WeightCache& m_weights;
    Plan m_plan;
    std::unordered_map<TensorId, TensorQuantizer> m_known;
    std::unordered_map<TensorId, bool> m_symmetric;
};

}  // namespace

std::shared_ptr<const ConstantQuantizer> WeightCache::quantize(const Constant& weight, const WeightScheme& scheme,
                                                               int axis) {
    const Version version = VersionBuilder()
                                .add(weight.version())
                                .add(scheme.bits)
                                .add(scheme.restricted)
                                .add(scheme.perChannel ? axis : -1)
                                .finish();
    if (const auto* known = m_known.find(version)) return *known;
    return m_known.store(version, std::make_shared<const ConstantQuantizer>(quantizeWeight(weight, scheme, axis)));
}

Plan resolvePlan(std::shared_ptr<const Prepared> prepared, UnitList units, const Statistics& statistics,
                 const QuantizationConfig& config, WeightCache& weights) {
    return PlanResolver(std::move(prepared), std::move(units), statistics, config, weights).resolve();
}

std::shared_ptr<const ConstantQuantizer> quantizedWeight(const Prepared& prepared, const Unit& unit,
                                                         const QuantizationConfig& config, WeightCache& weights) {
    const WeightScheme scheme = weightScheme(config, settingsOf(prepared, unit, config));
    return weights.quantize(*prepared.graph->constantOf(unit.weight), scheme, unit.weightAxis);
}

std::vector<TensorId> calibratedTensors(const UnitList& units) {
    std::set<TensorId> tensors;
    for (const Unit& unit : units.units) {
        tensors.insert(unit.inputs.begin(), unit.inputs.end());
        tensors.insert(unit.output);
    }
    return {tensors.begin(), tensors.end()};
}

namespace {

void useQuantized(ProgramSpec& spec, const Unit& unit, const UnitQuantizers& own) {
    if (own.weight) {
        spec.constants[unit.weight] = own.weight->dequantized;
        spec.codes[unit.weight] = own.weight;
    }
    if (own.bias) {
        spec.constants[unit.bias] = own.bias->dequantized;
        spec.codes[unit.bias] = own.bias;
    }
}

}  // namespace

ProgramSpec Plan::networkSpec(const std::map<TensorId, TensorDesc>& inputs, std::vector<TensorId> observed) const {
    ProgramSpec spec;
    spec.graph = prepared->graph;
    spec.inputs = inputs;
    spec.observed = std::move(observed);
    spec.arithmetic = arithmetic;
    for (const auto& [tensor, quantizer] : tensors) spec.quantizers.emplace(tensor, quantizer.fakeQuant());
    for (std::size_t u = 0; u < units.units.size(); ++u)
        if (units.units[u].quantized) useQuantized(spec, units.units[u], quantizers[u]);
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
    for (std::size_t i = 0; i < unit.inputs.size(); ++i) spec.quantizers[unit.inputs[i]] = own.inputs[i].fakeQuant();
    spec.quantizers[unit.output] = own.output.fakeQuant();
    useQuantized(spec, unit, own);
    return spec;
}

}  // namespace quantloupe
