// SPDX-License-Identifier: Apache-2.0
#include "session/studies/compare_configs.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "session/session_impl.h"

namespace quantloupe {
namespace {

std::vector<SampleId> inDataOrder(const Session::Impl& session, const std::vector<std::size_t>& samples) {
    std::vector<SampleId> list;
    for (const std::size_t s : samples)
        list.push_back({session.order[s], session.evaluationData->sampleName(s)});
    std::sort(list.begin(), list.end(),
              [](const SampleId& a, const SampleId& b) { return a.index < b.index; });
    return list;
}

std::string inDecibels(const ConfigComparison& comparison) {
    if (comparison.sqnrGain) return fmt::format("{:+.2f} dB SQNR of the outputs", *comparison.sqnrGain);
    const auto exact = [](const EvaluationPtr& e) {
        return e->quantized->sqnrDb && std::isinf(*e->quantized->sqnrDb);
    };
    if (exact(comparison.before) && exact(comparison.after))
        return "the outputs of both equal those of the float network";
    if (exact(comparison.after)) return "the outputs now equal those of the float network";
    return "the outputs no longer equal those of the float network";
}

}  // namespace

ConfigComparison compareConfigs(Session& session, const QuantizationConfig& before,
                                const QuantizationConfig& after, const EvaluationObserver& observer,
                                const CancelToken& cancel) {
    Session::Impl& impl = session.internal();
    impl.requireData();
    ConfigComparison comparison;
    comparison.before = session.evaluate(before, Depth::Accuracy, observer, cancel);
    comparison.after = session.evaluate(after, Depth::Accuracy, observer, cancel);
    const Evaluation &a = *comparison.before, &b = *comparison.after;
    const double gain = b.quantized->sqnrDb.value_or(0.0) - a.quantized->sqnrDb.value_or(0.0);
    if (std::isfinite(gain)) comparison.sqnrGain = gain;
    if (a.classes->empty() || a.classes->size() != b.classes->size()) {
        comparison.text = inDecibels(comparison);
        return comparison;
    }
    const Flips flips = findFlips(*a.classes, *b.classes, *a.rightClasses);
    comparison.paired = comparePaired(flips);
    comparison.fixed = inDataOrder(impl, flips.fixed);
    comparison.broken = inDataOrder(impl, flips.broken);
    comparison.text = describe(*comparison.paired);
    return comparison;
}

FlippedSamples flippedSamples(Session& session, const QuantizationConfig& config, const CancelToken& cancel) {
    Session::Impl& impl = session.internal();
    impl.requireData();
    const EvaluationPtr evaluation = session.evaluate(config, Depth::Accuracy, {}, cancel);
    const auto outputs = impl.completeOutputs(nullptr, {impl.workers, cancel, {}});
    const std::vector<std::int32_t> floating = classesOf(*outputs, impl.evaluationBatches->samples());
    if (floating.empty())
        failInput("the network's first output is not a list of classes, so images have no predicted class");
    const std::vector<std::int32_t>& quantized = *evaluation->classes;
    const Dataset& data = *impl.evaluationData;
    FlippedSamples flipped{{}, data.classNames(), floating.size()};
    for (std::size_t s = 0; s < floating.size(); ++s) {
        if (floating[s] == quantized[s]) continue;
        FlippedSample sample{
            {impl.order[s], data.sampleName(s)}, FlippedSample::Kind::Other, {}, floating[s], quantized[s]};
        if (const auto label = data.label(s)) sample.label = *label;
        if (sample.label == floating[s]) sample.kind = FlippedSample::Kind::Broken;
        if (sample.label == quantized[s]) sample.kind = FlippedSample::Kind::Fixed;
        flipped.samples.push_back(std::move(sample));
    }
    std::sort(flipped.samples.begin(), flipped.samples.end(),
              [](const auto& a, const auto& b) { return a.sample.index < b.sample.index; });
    return flipped;
}

}  // namespace quantloupe
