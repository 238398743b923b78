// SPDX-License-Identifier: Apache-2.0
#include "analysis/class_results.h"

#include <map>

#include "analysis/task_metrics.h"

namespace quantloupe {
namespace {

bool hasClassLabels(const Evaluation& e) {
    return e.quantized && e.quantized->top1 && e.classes && e.floatClasses && e.rightClasses &&
           !e.classes->empty();
}

ClassResults classifiedResults(const Evaluation& e) {
    std::map<std::int32_t, ClassResult> results;
    for (std::size_t s = 0; s < e.classes->size(); ++s) {
        const std::int32_t label = (*e.rightClasses)[s];
        if (label < 0) continue;
        ClassResult& result = results[label];
        ++result.labels;
        result.floating += (*e.floatClasses)[s] == label;
        result.quantized += (*e.classes)[s] == label;
    }
    ClassResults list;
    for (auto& [label, result] : results) {
        result.index = static_cast<std::size_t>(label);
        result.name = classNameOf(e, label);
        result.floating /= static_cast<double>(result.labels);
        result.quantized /= static_cast<double>(result.labels);
        list.classes.push_back(std::move(result));
    }
    return list;
}

}  // namespace

std::string classNameOf(const std::vector<std::string>& names, std::int32_t index) {
    if (index == kNoClass) return "none";
    const auto i = static_cast<std::size_t>(index);
    return index >= 0 && i < names.size() && !names[i].empty() ? names[i] : std::to_string(index);
}

std::string classNameOf(const Evaluation& evaluation, std::int32_t index) {
    static const std::vector<std::string> kUnnamed;
    return classNameOf(evaluation.classNames ? *evaluation.classNames : kUnnamed, index);
}

ClassResults classResults(const Evaluation& evaluation) {
    if (hasClassLabels(evaluation)) return classifiedResults(evaluation);
    if (!evaluation.scores || !evaluation.floatScores || !evaluation.quantized) return {};
    // Both networks have the same labels, but in a segmentation a class may occur in only one prediction.
    std::map<std::size_t, ClassResult> results;
    const auto read = [&](const TaskScores& scores, double ClassResult::*value) {
        for (const ClassScore& score : scores.classes) {
            ClassResult& result = results[score.index];
            result.labels = score.labels;
            result.*value = score.value;
        }
    };
    read(*evaluation.floatScores, &ClassResult::floating);
    read(*evaluation.scores, &ClassResult::quantized);
    ClassResults list{evaluation.quantized->map    ? LabelUnit::Boxes
                      : evaluation.quantized->miou ? LabelUnit::Pixels
                                                   : LabelUnit::Tokens};
    for (auto& [index, result] : results) {
        if (result.labels == 0) continue;
        result.index = index;
        result.name = classNameOf(evaluation, static_cast<std::int32_t>(index));
        list.classes.push_back(std::move(result));
    }
    return list;
}

std::vector<ConfusionCell> confusionCells(const Evaluation& evaluation) {
    if (!hasClassLabels(evaluation)) return {};
    std::map<std::pair<std::int32_t, std::int32_t>, ConfusionCell> cells;
    for (std::size_t s = 0; s < evaluation.classes->size(); ++s) {
        const std::int32_t label = (*evaluation.rightClasses)[s];
        if (label < 0) continue;
        cells[{label, (*evaluation.floatClasses)[s]}].floating.push_back(s);
        cells[{label, (*evaluation.classes)[s]}].quantized.push_back(s);
    }
    std::vector<ConfusionCell> list;
    for (auto& [place, cell] : cells) {
        std::tie(cell.label, cell.predicted) = place;
        list.push_back(std::move(cell));
    }
    return list;
}

}  // namespace quantloupe
