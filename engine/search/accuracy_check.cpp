// SPDX-License-Identifier: Apache-2.0
#include "search/accuracy_check.h"

#include <fmt/format.h>

#include <cmath>

#include "search/tune_numbers.h"

namespace quantloupe {

AccuracyCheck checkAccuracy(const Evaluation& evaluation, double maxDrop) {
    const Accuracy& quantized = *evaluation.quantized;
    AccuracyCheck check;
    check.metric = taskMetric(quantized).metric;
    check.maxDrop = maxDrop;
    check.drop = dropOf(*evaluation.floating, quantized);
    check.dropInterval = dropIntervalOf(evaluation);
    check.passed = withinDrop(check.drop, maxDrop);
    if (const auto& interval = check.dropInterval)
        check.certain =
            check.passed ? withinDrop(interval->high, maxDrop) : !withinDrop(interval->low, maxDrop);
    return check;
}

std::string describe(const AccuracyCheck& check) {
    std::string text = check.passed ? "passed: " : "failed: ";
    if (check.metric == TaskMetric::Sqnr && check.drop >= kWorstDrop)
        return text +
               "the outputs cannot be compared with those of the float network, because some are NaN or "
               "infinite, or all float outputs are 0";
    if (check.metric == TaskMetric::Sqnr)
        return text + fmt::format("{:.2f} % relative error; at most {:g} % is allowed", 100 * check.drop,
                                  100 * check.maxDrop);
    const bool above = check.drop < 0;
    if (check.metric == TaskMetric::User)
        return text + fmt::format("the metric is {:.4g} {} than in float; at most {:g} worse is allowed",
                                  std::abs(check.drop), above ? "better" : "worse", check.maxDrop);
    if (check.metric == TaskMetric::Agreement)
        text +=
            fmt::format("{:.2f} % of the samples get another class than in float; at most {:g} % {} allowed",
                        100 * check.drop, 100 * check.maxDrop, check.maxDrop == 0.01 ? "is" : "are");
    else
        text += fmt::format("{} is {} points {} float; at most {:g} {} allowed", traitsOf(check.metric).title,
                            pointsText(std::abs(check.drop)), above ? "above" : "below", 100 * check.maxDrop,
                            check.maxDrop == 0.01 ? "is" : "are");
    if (const auto& interval = check.dropInterval)
        text += fmt::format(" (95 % interval of the drop {} to {} points{})", pointsText(interval->low),
                            pointsText(interval->high), check.certain ? "" : "; may differ on other samples");
    return text;
}

}  // namespace quantloupe
