// SPDX-License-Identifier: Apache-2.0
#include "session/stages/layer_metrics.h"

#include "analysis/divergence.h"
#include "analysis/relative_errors.h"
#include "session/session_parts.h"
#include "session/stages/unit_comparison.h"

namespace quantloupe {
namespace {

struct AllSums {
    DifferenceSums plain;
    RelativeErrorSums relative;
    DivergenceSums divergence;
    bool compared = false;

    void add(const ComparedTensor& tensor, bool elementwise) {
        compared = true;
        plain.add(tensor.reference, tensor.tested, tensor.elements);
        if (!elementwise) return;
        relative.add(tensor.reference, tensor.tested, tensor.elements);
        const std::size_t each = tensor.elements / tensor.samples;
        for (std::size_t s = 0; s < tensor.samples; ++s)
            divergence.addSample(tensor.reference + s * each, tensor.tested + s * each, each);
    }
    void merge(const AllSums& other) {
        compared = compared || other.compared;
        plain.merge(other.plain);
        relative.merge(other.relative);
        divergence.merge(other.divergence);
    }
    std::optional<TensorDifference> result(bool elementwise) const {
        if (!compared) return std::nullopt;
        TensorDifference difference = plain.result();
        if (elementwise) {
            relative.put(difference);
            divergence.put(difference);
        }
        return difference;
    }
};

/// Sums by chunk and unit. They are merged in the order of the chunks, so that the result does not depend on
/// the number of threads.
struct SumsByChunk {
    SumsByChunk(std::size_t chunks, std::size_t units) : sums(chunks, std::vector<AllSums>(units)) {}
    AllSums& operator[](const ComparedTensor& tensor) { return sums[tensor.chunk][tensor.index]; }
    /// For shareChunks().
    std::span<std::byte> bytes(std::size_t chunk) {
        static_assert(std::is_trivially_copyable_v<AllSums>);
        return std::as_writable_bytes(std::span(sums[chunk]));
    }
    AllSums merged(std::size_t unit) const {
        AllSums all;
        for (const auto& chunk : sums) all.merge(chunk[unit]);
        return all;
    }
    std::vector<std::vector<AllSums>> sums;
};

}  // namespace

std::vector<LayerMetrics> measureLayers(Session& session, const QuantizationConfig& config,
                                        const LayerMetricsOptions& options,
                                        const EvaluationObserver& observer, const CancelToken& cancel) {
    SessionParts& parts = partsOf(session);
    parts.samples.requireEvaluable();
    const SampleBatches& batches = parts.samples.batches();
    RunControl control = parts.runner.sharedControl(cancel);
    if (observer.progress)
        control.progress = [&](std::size_t done, std::size_t total) {
            observer.progress({"all metrics", done, total});
        };
    const auto plan = parts.plan(config, control);
    const Prepared& prepared = *plan->prepared;
    const bool fromSource = options.reference == MetricReference::Source;
    SourceReference source;
    if (fromSource) source = sourceReference(prepared, plan->units, config.transforms.highBiasFold);

    std::vector<LayerMetrics> metrics;
    std::vector<std::size_t> measured;
    const std::size_t count = plan->units.units.size();
    for (std::size_t u = 0; u < count; ++u) {
        const Unit& unit = plan->units.units[u];
        LayerMetrics entry;
        entry.node = prepared.sourceOf[unit.layer.index()];
        if (fromSource) entry.reason = source.units[u].reason;
        if (options.only.valid() && options.only != entry.node) entry.reason = "it was not requested";
        if (entry.reason.empty()) measured.push_back(u);
        metrics.push_back(std::move(entry));
    }
    ResumeOptions resume = parts.runner.sharedResumeOptions(prepared.graph);
    ResumeOptions sourceResume = parts.runner.sharedResumeOptions(prepared.source);
    resume.keep = sourceResume.keep = false;
    UnitComparison comparison{*plan, batches, resume, parts.runner.kernels()};
    comparison.parts = options.parts;
    comparison.cumulative = measured;
    for (const std::size_t u : measured) {
        const Unit& unit = plan->units.units[u];
        if (options.parts != QuantizedParts::Weights || unit.weight.valid() || !unit.constants.empty())
            comparison.local.push_back(u);
    }
    if (fromSource) {
        comparison.source = &source;
        comparison.sourceOptions = &sourceResume;
    }
    const std::size_t chunks = batches.chunks();
    SumsByChunk local(chunks, comparison.local.size()), cumulative(chunks, measured.size());
    comparison.compareLocal = [&](const ComparedTensor& t) { local[t].add(t, options.elementwise); };
    comparison.compareCumulative = [&](const ComparedTensor& t) {
        cumulative[t].add(t, options.elementwise);
    };
    if (control.group == nullptr) {
        compareUnits(comparison, control);
    } else {
        shareChunks(
            *control.group, "all metrics", 0, chunks, [&] { compareUnits(comparison, control); },
            [&](std::size_t chunk) { return local.bytes(chunk); });
        shareChunks(
            *control.group, "all metrics", 0, chunks, [] {},
            [&](std::size_t chunk) { return cumulative.bytes(chunk); });
    }

    for (std::size_t i = 0; i < comparison.local.size(); ++i)
        metrics[comparison.local[i]].local = local.merged(i).result(options.elementwise);
    for (std::size_t i = 0; i < measured.size(); ++i)
        metrics[measured[i]].cumulative = cumulative.merged(i).result(options.elementwise);
    for (const std::size_t u : measured) {
        if (!metrics[u].local && metrics[u].cumulative) metrics[u].reason = "it has no weight";
        if (!metrics[u].cumulative) metrics[u].reason = "its output is not float32";
    }
    return metrics;
}

}  // namespace quantloupe
