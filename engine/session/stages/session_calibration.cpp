// SPDX-License-Identifier: Apache-2.0
// Calibration before there is a plan: ranges of tensors, and maxima of their channels. Results are cached by
// the content of the tensors, so that after a change of the graph only downstream tensors are calibrated
// again.
#include "model/quantized_model.h"
#include "quantize/calibrated_network.h"
#include "session/caches/tensor_versions.h"
#include "session/pipeline.h"

namespace quantloupe {

const Statistics& Pipeline::statistics(const Prepared& quantized, const UnitList& units,
                                       const QuantizationConfig& config, const RunControl& control) {
    const auto& [batches, samplesVersion] = m_samples.calibrationFor(config);
    const std::optional<Prepared> changed = calibratedNetwork(quantized, units, config, m_quantizers);
    const Prepared& graph = changed ? *changed : quantized;
    const std::vector<TensorId> tensors = calibratedTensors(units);
    const Version version = VersionBuilder().add(graph.version).add(batches.samples()).finish();
    if (m_ranges.find(version) == nullptr)
        m_ranges.store(version, {{},
                                 tensorVersions(floatProgram(graph.graph, batches.inputsOf(*graph.graph), {}),
                                                samplesVersion)});
    auto& [known, contents] = *m_ranges.find(version);
    std::vector<TensorId> missing;
    for (const TensorId tensor : tensors) {
        if (known.contains(tensor)) continue;
        if (const TensorStatistics* same = m_tensorRanges.find(contents[tensor.index()]))
            known[tensor] = *same;
        else
            missing.push_back(tensor);
    }
    if (!missing.empty()) known.merge(calibrateRanges(graph, missing, batches, control));
    m_calibrated += missing.size();
    addMissingDistributions(graph, tensors, statisticsNeeds(config), batches, control, known);
    for (const TensorId tensor : tensors) {
        const TensorStatistics& now = known.at(tensor);
        const TensorStatistics* kept = m_tensorRanges.find(contents[tensor.index()]);
        if (kept == nullptr || kept->distribution != now.distribution ||
            kept->votes.size() != now.votes.size())
            m_tensorRanges.store(contents[tensor.index()], now);
    }
    return known;
}

Prepared Pipeline::migrate(Prepared made, const QuantizationConfig& config, const RunControl& control) {
    if (quantizationOperators(*m_source) > 0) return made;
    if (!m_samples.calibration()) {
        made.notices.emplace_back(
            "no outliers are migrated yet: measuring the channel ranges needs calibration data");
        return made;
    }
    const CalibrationSamples& samples = m_samples.calibrationFor(config);
    const Version version = VersionBuilder().add(made.graph->version()).add(samples.version).finish();
    if (m_channelMaxima.find(version) == nullptr) {
        std::vector<TensorId> tensors = migratableTensors(made);
        // Nothing after the evaluated part has values.
        std::erase_if(tensors, [&](TensorId tensor) {
            const NodeId producer = made.graph->tensor(tensor).producer;
            return producer.valid() && m_samples.part().unavailable.contains(made.sourceOf[producer.index()]);
        });
        m_channelMaxima.store(version, measureChannelMaxima(made, tensors, samples.batches, control));
    }
    return migrateOutliers(std::move(made), *m_channelMaxima.find(version), config.refine.migration,
                           config.quantization.placement);
}

}  // namespace quantloupe
