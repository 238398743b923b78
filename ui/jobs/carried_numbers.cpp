// SPDX-License-Identifier: Apache-2.0
#include "jobs/carried_numbers.h"

#include <utility>

#include "jobs/freed_in_background.h"

namespace quantloupe::ui {

namespace {

void carry(const LayerResult& from, LayerResult& to) {
    if (!to.local) to.local = from.local;
    if (!to.weight) to.weight = from.weight;
    if (!to.weightRangeRatio) to.weightRangeRatio = from.weightRangeRatio;
    if (to.activationBits == 0) to.activationBits = from.activationBits;
    if (to.weightBits == 0) to.weightBits = from.weightBits;
    if (!to.cumulative) to.cumulative = from.cumulative;
    if (!to.leaveOneOut) to.leaveOneOut = from.leaveOneOut;
}

}  // namespace

ShownEvaluation withNumbersOf(const EvaluationPtr& before, EvaluationPtr evaluation) {
    ShownEvaluation shown;
    shown.ownAccuracy = evaluation->quantized || evaluation->complete;
    if (before && !evaluation->complete && before->layers.size() == evaluation->layers.size()) {
        Evaluation merged = *evaluation;
        for (std::size_t i = 0; i < merged.layers.size(); ++i) carry(before->layers[i], merged.layers[i]);
        if (before->quantized && !merged.quantized) {
            merged.floating = before->floating;
            merged.prepared = before->prepared;
            merged.quantized = before->quantized;
            merged.rough = before->rough;
        }
        evaluation = std::make_shared<const Evaluation>(std::move(merged));
    }
    shown.layers = freedInBackground(std::make_shared<std::vector<LayerResult>>(evaluation->layers));
    shown.evaluation = freedInBackground(std::move(evaluation));
    return shown;
}

}  // namespace quantloupe::ui
