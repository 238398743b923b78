// SPDX-License-Identifier: Apache-2.0
#include "session/stages/unit_metrics.h"

#include "session/caches/tensor_versions.h"
#include "session/stages/unit_comparison.h"

namespace quantloupe {

UnitMetrics::UnitMetrics(SessionParts& parts, std::shared_ptr<const Prepared> prepared, const UnitList& units,
                         std::shared_ptr<const Plan> plan)
    : m_parts(parts), m_prepared(std::move(prepared)), m_units(units), m_plan(std::move(plan)) {
    const auto inputs = parts.samples.batches().inputsOf(*m_prepared->graph);
    const auto floating =
        tensorVersions(floatProgram(m_prepared->graph, inputs, {}), parts.samples.version());
    const auto quantized = tensorVersions(m_plan->networkSpec(inputs, {}), parts.samples.version());
    for (const Unit& unit : units.units) {
        const std::size_t output = unit.output.index();
        m_float.push_back(floating[output]);
        m_cumulative.push_back(VersionBuilder().add(floating[output]).add(quantized[output]).finish());
    }
}

Version UnitMetrics::localVersion(std::size_t unit) const {
    return VersionBuilder()
        .add(m_float[unit])
        .add(m_units.units[unit].quantizesOutput)
        .add(m_prepared->operators)
        .add(m_plan->quantizers[unit].version)
        .finish();
}

LayerResult& UnitMetrics::layerOf(std::vector<LayerResult>& layers, std::size_t unit) const {
    return layers[m_prepared->sourceOf[m_units.units[unit].layer.index()].index()];
}

void UnitMetrics::fillKnown(std::vector<LayerResult>& layers) const {
    if (const MeasuredSweep* sweep = m_parts.results.sweeps.find(m_plan->version)) sweep->fill(layers);
    for (std::size_t u = 0; u < m_units.units.size(); ++u) {
        LayerResult& layer = layerOf(layers, u);
        if (const auto* known = m_parts.results.local.find(localVersion(u))) layer.local = known->result();
        if (const auto* known = m_parts.results.cumulative.find(m_cumulative[u]))
            layer.cumulative = known->result();
    }
}

void UnitMetrics::measure(std::vector<LayerResult>& layers, const RunControl& control,
                          NetworkOutputs& outputs) {
    fillKnown(layers);
    std::vector<std::size_t> local, cumulative;
    for (std::size_t u = 0; u < m_units.units.size(); ++u) {
        const LayerResult& layer = layerOf(layers, u);
        if (!layer.local) local.push_back(u);
        if (!layer.cumulative) cumulative.push_back(u);
    }
    m_parts.work.local += local.size();
    m_parts.work.cumulative += cumulative.size();
    if (local.empty() && cumulative.empty()) return;
    const ResumeOptions resume = m_parts.runner.sharedResumeOptions(m_prepared->graph);
    UnitComparison comparison{*m_plan, m_parts.samples.batches(), resume, m_parts.runner.kernels()};
    comparison.local = local;
    comparison.cumulative = cumulative;
    comparison.floatOutputs = outputs.known == 0 ? &outputs : nullptr;
    comparison.floatEnds = m_parts.samples.part().endsOf(*m_prepared->graph);
    const UnitDifferences measured = measureUnits(std::move(comparison), control);
    for (std::size_t i = 0; i < local.size(); ++i)
        m_parts.results.local.store(localVersion(local[i]), measured.local[i]);
    for (std::size_t i = 0; i < cumulative.size(); ++i)
        m_parts.results.cumulative.store(m_cumulative[cumulative[i]], measured.cumulative[i]);
    fillKnown(layers);
}

}  // namespace quantloupe
