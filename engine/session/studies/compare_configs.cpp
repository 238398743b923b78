// SPDX-License-Identifier: Apache-2.0
#include "session/studies/compare_configs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "session/session_parts.h"
#include "session/studies/evaluation_gain.h"

namespace quantloupe {
namespace {

std::vector<SampleId> inDataOrder(const SessionSamples& samples, const std::vector<std::size_t>& chosen) {
    std::vector<SampleId> list;
    for (const std::size_t s : chosen)
        list.push_back({samples.order()[s], samples.evaluation()->sampleName(s)});
    std::sort(list.begin(), list.end(),
              [](const SampleId& a, const SampleId& b) { return a.index < b.index; });
    return list;
}

/// Returns the samples whose own rate (mAP, mIoU, token accuracy) changed, the largest loss first.
FlippedSamples changedScores(const SessionSamples& samples, const Evaluation& evaluation) {
    const std::vector<double>&before = evaluation.floatScores->samples, &after = evaluation.scores->samples;
    const Dataset& data = *samples.evaluation();
    FlippedSamples changed{{}, data.classNames(), after.size()};
    for (std::size_t s = 0; s < after.size(); ++s) {
        if (!(before[s] < after[s] || before[s] > after[s])) continue;  // also without labels
        FlippedSample sample;
        sample.sample = {samples.order()[s], data.sampleName(s)};
        sample.kind = after[s] < before[s] ? FlippedSample::Kind::Broken : FlippedSample::Kind::Fixed;
        sample.floatScore = before[s];
        sample.quantizedScore = after[s];
        changed.samples.push_back(std::move(sample));
    }
    std::sort(changed.samples.begin(), changed.samples.end(), [](const auto& a, const auto& b) {
        return std::pair(*a.quantizedScore - *a.floatScore, a.sample.index) <
               std::pair(*b.quantizedScore - *b.floatScore, b.sample.index);
    });
    return changed;
}

/// Returns all samples of a detector or a segmentation network without labels.
FlippedSamples everySample(const SessionSamples& samples) {
    const Dataset& data = *samples.evaluation();
    FlippedSamples all{{}, data.classNames(), data.size()};
    for (std::size_t s = 0; s < data.size(); ++s) {
        FlippedSample sample;
        sample.sample = {samples.order()[s], data.sampleName(s)};
        sample.floating = sample.quantized = -1;
        all.samples.push_back(std::move(sample));
    }
    std::sort(all.samples.begin(), all.samples.end(),
              [](const auto& a, const auto& b) { return a.sample.index < b.sample.index; });
    return all;
}

/// Returns the samples by index, with their classes.
FlippedSamples describedSamples(const SessionSamples& samples, const Evaluation& evaluation,
                                const std::vector<std::size_t>& chosen) {
    const std::vector<std::int32_t>&floating = *evaluation.floatClasses, &quantized = *evaluation.classes;
    if (floating.empty())
        failInput("no output of the network is a list of classes, so samples have no predicted class");
    const Dataset& data = *samples.evaluation();
    FlippedSamples described{{}, data.classNames(), floating.size()};
    for (const std::size_t s : chosen) {
        if (s >= floating.size()) continue;
        FlippedSample sample;
        sample.sample = {samples.order()[s], data.sampleName(s)};
        sample.floating = floating[s];
        sample.quantized = quantized[s];
        if (const auto label = data.label(s)) sample.label = *label;
        const bool rightBefore = sample.label == floating[s], rightAfter = sample.label == quantized[s];
        if (rightBefore && !rightAfter) sample.kind = FlippedSample::Kind::Broken;
        if (rightAfter && !rightBefore) sample.kind = FlippedSample::Kind::Fixed;
        described.samples.push_back(std::move(sample));
    }
    std::sort(described.samples.begin(), described.samples.end(),
              [](const auto& a, const auto& b) { return a.sample.index < b.sample.index; });
    return described;
}

std::string inDecibels(const ConfigComparison& comparison) {
    if (comparison.sqnrGain) return fmt::format("{:+.2f} dB SQNR of the outputs", *comparison.sqnrGain);
    const auto unknown = [](const EvaluationPtr& e) {
        return !e->quantized->sqnrDb || std::isnan(*e->quantized->sqnrDb);
    };
    if (unknown(comparison.before) || unknown(comparison.after))
        return "the SQNR of the outputs is undefined, so they cannot be compared";
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto exact = [](const EvaluationPtr& e) { return *e->quantized->sqnrDb == kInfinity; };
    if (*comparison.after->quantized->sqnrDb == -kInfinity)
        return "the outputs of the float network are all 0, but those of the quantized network are not";
    if (exact(comparison.before) && exact(comparison.after))
        return "the outputs of both equal those of the float network";
    if (exact(comparison.after)) return "the outputs now equal those of the float network";
    return "the outputs no longer equal those of the float network";
}

/// Returns "metric 1.016 before, 0.9042 after (better by 0.1118)".
std::string metricChange(const Accuracy& before, const Accuracy& after) {
    const double gain = metricGain(before, after, TaskMetric::User);
    return fmt::format(
        "metric {:.5g} before, {:.5g} after ({})", *before.userMetric, *after.userMetric,
        gain == 0 ? "the same" : fmt::format("{} by {:.4g}", gain > 0 ? "better" : "worse", std::abs(gain)));
}

}  // namespace

ConfigComparison compareConfigs(Session& session, const QuantizationConfig& before,
                                const QuantizationConfig& after, const EvaluationObserver& observer,
                                const CancelToken& cancel) {
    SessionParts& parts = partsOf(session);
    const SessionSamples& samples = parts.samples;
    samples.require();
    const KeptState kept(parts.predictor);
    ConfigComparison comparison;
    comparison.before = session.evaluate(before, Depth::Accuracy, observer, cancel);
    comparison.after = session.evaluate(after, Depth::Accuracy, observer, cancel);
    const Evaluation &a = *comparison.before, &b = *comparison.after;
    if (a.quantized->userMetric && b.quantized->userMetric)
        comparison.text = metricChange(*a.quantized, *b.quantized) + "; ";
    const auto &sqnrBefore = a.quantized->sqnrDb, &sqnrAfter = b.quantized->sqnrDb;
    if (sqnrBefore && sqnrAfter && std::isfinite(*sqnrAfter - *sqnrBefore))
        comparison.sqnrGain = *sqnrAfter - *sqnrBefore;
    if (const auto graded = a.scores ? compareEvaluations(a, b) : std::nullopt) {
        std::vector<std::size_t> better, worse;
        for (std::size_t s = 0; s < a.scores->samples.size(); ++s) {
            const double change = b.scores->samples[s] - a.scores->samples[s];
            if (change > 0) better.push_back(s);
            if (change < 0) worse.push_back(s);
        }
        comparison.paired = graded;
        comparison.fixed = inDataOrder(samples, better);
        comparison.broken = inDataOrder(samples, worse);
        comparison.text += describe(*graded);
        return comparison;
    }
    if (a.classes->empty() || a.classes->size() != b.classes->size()) {
        comparison.text += inDecibels(comparison);
        return comparison;
    }
    const Flips flips = findFlips(*a.classes, *b.classes, *a.rightClasses);
    comparison.paired = comparePaired(flips);
    comparison.fixed = inDataOrder(samples, flips.fixed);
    comparison.broken = inDataOrder(samples, flips.broken);
    comparison.text += describe(*comparison.paired);
    return comparison;
}

FlippedSamples flippedSamples(Session& session, const QuantizationConfig& config, const CancelToken& cancel) {
    SessionSamples& samples = partsOf(session).samples;
    samples.require();
    const EvaluationPtr evaluation = session.evaluate(config, Depth::Accuracy, {}, cancel);
    if (evaluation->scores) return changedScores(samples, *evaluation);
    if (samples.judge() != nullptr) return everySample(samples);
    std::vector<std::size_t> changed;
    const std::vector<std::int32_t>&floating = *evaluation->floatClasses, &quantized = *evaluation->classes;
    for (std::size_t s = 0; s < floating.size(); ++s)
        if (floating[s] != quantized[s]) changed.push_back(s);
    return describedSamples(samples, *evaluation, changed);
}

FlippedSamples chosenSamples(Session& session, const QuantizationConfig& config,
                             const std::vector<std::size_t>& chosen, const CancelToken& cancel) {
    const SessionSamples& samples = partsOf(session).samples;
    samples.require();
    return describedSamples(samples, *session.evaluate(config, Depth::Accuracy, {}, cancel), chosen);
}

}  // namespace quantloupe
