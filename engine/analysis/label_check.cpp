// SPDX-License-Identifier: Apache-2.0
#include "analysis/label_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/class_results.h"
#include "analysis/task_metrics.h"
#include "base/short_text.h"

namespace quantloupe {
namespace {

/// Number of samples by label or by predicted class.
using Counts = std::map<std::int32_t, std::size_t>;

Counts::value_type largest(const Counts& counts) {
    return *std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
}

/// Describes how labels and classes are swapped if each label is mostly predicted as another class of its
/// own; otherwise empty. `least`: the accuracy that the swapped labels must have.
std::string otherOrder(const Evaluation& evaluation, const Counts& labels, std::size_t all, double least) {
    constexpr std::size_t kEnough = 5;  // the prediction of a single sample always looks like an order
    std::map<std::int32_t, Counts> predicted;
    const auto &right = *evaluation.rightClasses, &classes = *evaluation.floatClasses;
    for (std::size_t s = 0; s < right.size() && s < classes.size(); ++s)
        if (right[s] >= 0) ++predicted[right[s]][classes[s]];
    std::set<std::int32_t> used;
    std::vector<std::string> pairs;
    std::size_t explained = 0;
    for (const auto& [label, counts] : predicted) {
        if (labels.at(label) < kEnough) continue;
        const auto [most, count] = largest(counts);
        if (2 * count <= labels.at(label) || most == kNoClass || !used.insert(most).second) return {};
        explained += count;
        if (most != label)
            pairs.push_back(fmt::format("'{}' as class {}", shortName(classNameOf(evaluation, label)), most));
    }
    const double share = static_cast<double>(explained) / static_cast<double>(all);
    return share < least || pairs.empty() ? std::string() : shortList(pairs);
}

/// A detector or a segmentation network that finds almost nothing.
LabelProblem nothingFound(const Accuracy& floating) {
    constexpr double kAlmostNothing = 0.01;
    for (const auto& [name, rate] : {std::pair("mAP", floating.map), std::pair("mIoU", floating.miou)})
        if (rate && *rate < kAlmostNothing)
            return {
                fmt::format("The {} of the float network is {:.1f} %. The labels, the preprocessing or the "
                            "decoding of the outputs are probably wrong.",
                            name, 100 * *rate),
                true};
    return {};
}

}  // namespace

LabelProblem labelProblem(const Evaluation& evaluation) {
    constexpr std::size_t kEnough = 20;
    if (!evaluation.floating || evaluation.randomInputs || evaluation.floating->samples < kEnough ||
        !evaluation.labelNotice.empty())
        return {};
    if (!evaluation.floating->top1 || !evaluation.rightClasses || !evaluation.floatClasses)
        return nothingFound(*evaluation.floating);
    Counts labels;
    std::size_t all = 0;
    for (const std::int32_t label : *evaluation.rightClasses) {
        if (label < 0) continue;
        ++all;
        ++labels[label];
    }
    if (labels.size() < 2) return {};
    const double top1 = *evaluation.floating->top1,
                 chance = static_cast<double>(largest(labels).second) / static_cast<double>(all);
    // Two standard deviations of the accuracy of a random guess on so many samples.
    const double margin = 2 * std::sqrt(chance * (1 - chance) / static_cast<double>(all));
    if (top1 > chance + margin) return {};
    const std::string accuracy = fmt::format("The accuracy of the float network is {:.1f} %", 100 * top1);
    const double least = std::clamp(chance + 0.3, 0.7, 0.95);
    if (const std::string order = otherOrder(evaluation, labels, all, least); !order.empty())
        return {fmt::format(
                    "{}, because the labels have another order than the network's classes: most samples are "
                    "predicted as follows: {}. Number the folders in the order of the network's classes "
                    "(00_cat, 01_dog), or change the labels.",
                    accuracy, order),
                false};
    if (top1 < chance - margin)
        return {
            fmt::format("{}, far below chance level ({:.1f} %). The labels or the preprocessing are probably "
                        "wrong.",
                        accuracy, 100 * chance),
            true};
    return {
        fmt::format("{}, not clearly better than always predicting the most frequent class ({:.1f} %). The "
                    "preprocessing or the labels are probably wrong.",
                    accuracy, 100 * chance),
        true};
}

}  // namespace quantloupe
