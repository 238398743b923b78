// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of each class: accuracy of a classifier of samples or tokens, average precision of a detector, IoU
// of a segmentation network; and the confusion matrix of a classifier of samples.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "results/evaluation.h"

namespace quantloupe {

struct ClassResult {
    std::size_t index = 0;
    std::string name;                    ///< the index if there is no name
    std::size_t labels = 0;              ///< number of labels of this class, see ClassResults::unit
    double floating = 0, quantized = 0;  ///< 0 to 1
    double change() const { return quantized - floating; }
};

/// What has a label.
enum class LabelUnit : std::uint8_t { Samples, Tokens, Boxes, Pixels };

struct LabelUnitTraits {
    LabelUnit unit;
    const char* title;
    const char* metric;       ///< of a class, in files
    const char* metricTitle;  ///< in texts
};
inline constexpr LabelUnitTraits kLabelUnits[] = {
    {LabelUnit::Samples, "samples", "accuracy", "accuracy"},
    {LabelUnit::Tokens, "tokens", "accuracy", "accuracy"},
    {LabelUnit::Boxes, "boxes", "ap", "AP@50:95"},
    {LabelUnit::Pixels, "pixels", "iou", "IoU"},
};
inline const LabelUnitTraits& traitsOf(LabelUnit unit) {
    return *std::ranges::find(kLabelUnits, unit, &LabelUnitTraits::unit);
}

struct ClassResults {
    LabelUnit unit = LabelUnit::Samples;
    std::vector<ClassResult> classes = {};  ///< classes that have labels, by index; empty without labels
};
ClassResults classResults(const Evaluation& evaluation);

/// The samples with a given label and a given predicted class.
struct ConfusionCell {
    std::int32_t label = 0, predicted = 0;         ///< predicted: kNoClass if all outputs are NaN
    std::vector<std::size_t> floating, quantized;  ///< samples in the order of Evaluation::classes
};
/// Returns the cells that are not empty, by label and then by predicted class. Empty without labels or
/// without classes.
std::vector<ConfusionCell> confusionCells(const Evaluation& evaluation);

/// Name of a class: its index if it has no name, "none" for kNoClass.
std::string classNameOf(const std::vector<std::string>& names, std::int32_t index);
std::string classNameOf(const Evaluation& evaluation, std::int32_t index);

}  // namespace quantloupe
