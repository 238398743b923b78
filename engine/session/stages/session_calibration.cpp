// SPDX-License-Identifier: Apache-2.0
// Calibration before there is a plan: ranges of tensors, and maxima of their channels. Results are cached by
// the content of the tensors, so that after a change of the graph only downstream tensors are calibrated
// again.
#include "model/quantized_model.h"
#include "quantize/calibrated_network.h"
#include "session/caches/tensor_versions.h"
#include "session/session_impl.h"

namespace quantloupe {
namespace {

/// Calibration reads its samples only once or twice, so only a few are kept decoded.
constexpr std::size_t kCalibrationSampleBytes = std::size_t{32} << 20;

}  // namespace

void Session::Impl::openCalibration(const QuantizationConfig& config) {
    chooseBatch();
    const std::size_t count =
        std::min(calibrationData->size(), static_cast<std::size_t>(std::max(config.calibration.samples, 1)));
    if (calibrationBatches && calibrationSamples == count) return;
    calibrationBatches =
        std::make_unique<SampleBatches>(subset(calibrationData, spreadEvenly(calibrationData->size(), count)),
                                        *model.graph, batch, kCalibrationSampleBytes);
    calibrationSamples = count;
}

Version Session::Impl::calibrationVersion() const {
    return VersionBuilder()
        .add(calibrationBatches->dataset().version())
        .add(calibrationSamples)
        .add(calibrationBatches->batch())
        .finish();
}

const Statistics& Session::Impl::statistics(const Prepared& quantized, const UnitList& units,
                                            const QuantizationConfig& config, const RunControl& control) {
    openCalibration(config);
    const std::optional<Prepared> changed = calibratedNetwork(quantized, units, config, quantizers);
    const Prepared& graph = changed ? *changed : quantized;
    const std::vector<TensorId> tensors = calibratedTensors(units);
    const Version version = VersionBuilder().add(graph.version).add(calibrationSamples).finish();
    if (ranges.find(version) == nullptr)
        ranges.store(version, {{},
                               tensorVersions(
                                   floatProgram(graph.graph, calibrationBatches->inputsOf(*graph.graph), {}),
                                   calibrationVersion())});
    auto& [known, contents] = *ranges.find(version);
    std::vector<TensorId> missing;
    for (const TensorId tensor : tensors) {
        if (known.contains(tensor)) continue;
        if (const TensorStatistics* same = tensorRanges.find(contents[tensor.index()]))
            known[tensor] = *same;
        else
            missing.push_back(tensor);
    }
    if (!missing.empty()) known.merge(calibrateRanges(graph, missing, *calibrationBatches, control));
    work.calibrated += missing.size();
    addMissingDistributions(graph, tensors, statisticsNeeds(config), *calibrationBatches, control, known);
    for (const TensorId tensor : tensors) {
        const TensorStatistics& now = known.at(tensor);
        const TensorStatistics* kept = tensorRanges.find(contents[tensor.index()]);
        if (kept == nullptr || kept->distribution != now.distribution ||
            kept->votes.size() != now.votes.size())
            tensorRanges.store(contents[tensor.index()], now);
    }
    return known;
}

Prepared Session::Impl::migrate(Prepared made, const QuantizationConfig& config, const RunControl& control) {
    if (quantizationOperators(*model.graph) > 0) return made;
    if (!calibrationData) {
        made.notices.emplace_back(
            "no outliers are migrated yet: measuring the channel ranges needs calibration data");
        return made;
    }
    openCalibration(config);
    const Version version = VersionBuilder().add(made.graph->version()).add(calibrationVersion()).finish();
    if (channelMaxima.find(version) == nullptr)
        channelMaxima.store(
            version, measureChannelMaxima(made, migratableTensors(made), *calibrationBatches, control));
    return migrateOutliers(std::move(made), *channelMaxima.find(version), config.refine.migration,
                           config.quantization.placement);
}

}  // namespace quantloupe
