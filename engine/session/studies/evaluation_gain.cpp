// SPDX-License-Identifier: Apache-2.0
#include "session/studies/evaluation_gain.h"

#include <cmath>

#include "analysis/group_jackknife.h"

namespace quantloupe {
namespace {

/// Both accuracies must have the same kind of rate.
std::optional<PairedComparison> compareScores(const std::optional<Accuracy>& before,
                                              const std::shared_ptr<const TaskScores>& beforeScores,
                                              const std::optional<Accuracy>& after,
                                              const std::shared_ptr<const TaskScores>& afterScores) {
    if (!before || !after || !beforeScores || !afterScores ||
        beforeScores->samples.size() != afterScores->samples.size())
        return std::nullopt;
    const auto a = taskRate(*before), b = taskRate(*after);
    if (!a || !b) return std::nullopt;
    return compareGraded(a->value, *beforeScores, b->value, *afterScores);
}

}  // namespace

std::optional<PairedComparison> compareWithFloat(const Evaluation& evaluation) {
    if (evaluation.scores)
        return compareScores(evaluation.floating, evaluation.floatScores, evaluation.quantized,
                             evaluation.scores);
    if (!evaluation.classes || !evaluation.floatClasses || !evaluation.rightClasses ||
        evaluation.classes->empty())
        return std::nullopt;
    return comparePaired(findFlips(*evaluation.floatClasses, *evaluation.classes, *evaluation.rightClasses));
}

std::optional<PairedComparison> compareEvaluations(const Evaluation& before, const Evaluation& after) {
    if (before.scores || after.scores)
        return compareScores(before.quantized, before.scores, after.quantized, after.scores);
    if (!before.classes || !after.classes || !before.rightClasses || before.classes->empty() ||
        before.classes->size() != after.classes->size() ||
        before.rightClasses->size() != before.classes->size())
        return std::nullopt;
    return comparePaired(findFlips(*before.classes, *after.classes, *before.rightClasses));
}

TaskMetric gainMetric(const Evaluation& evaluation) {
    const Accuracy& accuracy = *evaluation.quantized;
    const TaskMetric metric = taskMetric(accuracy).metric;
    const bool meaningless = metric == TaskMetric::Agreement && !meaningfulRate(evaluation);
    return meaningless && accuracy.sqnrDb ? TaskMetric::Sqnr : metric;
}

EvaluationGain gainBetween(const Evaluation& before, const Evaluation& after, TaskMetric metric) {
    EvaluationGain gain{metric, metricGain(*before.quantized, *after.quantized, metric), {}};
    if (traitsOf(metric).rate) gain.paired = compareEvaluations(before, after);
    return gain;
}

bool EvaluationGain::significant() const {
    constexpr double kLeastDecibels = 0.1;
    if (!std::isfinite(value)) return false;
    if (metric == TaskMetric::Sqnr) return value >= kLeastDecibels;
    return paired ? paired->verdict == ChangeVerdict::Gain : value > 0;
}

}  // namespace quantloupe
