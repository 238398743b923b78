// SPDX-License-Identifier: Apache-2.0
#pragma once
// While a configuration is being evaluated, the numbers of the previous one stay visible. The combined
// results are created on the engine's thread, because a network with 10,000 layers has megabytes of results,
// and copying them must not block the window. Any thread.

#include "results/evaluation.h"

namespace quantloupe::ui {

/// A snapshot as shown in the window.
struct ShownEvaluation {
    EvaluationPtr evaluation;
    /// results of the layers, which the receiver may move from or change
    std::shared_ptr<std::vector<LayerResult>> layers;
    bool ownAccuracy = false;  ///< the accuracies belong to this evaluation
};

/// Returns `evaluation` with missing numbers taken from `before` (may be null): numbers of layers and, until
/// the accuracy of the quantized network is available, all accuracies, because they belong together. A
/// complete evaluation is returned unchanged.
ShownEvaluation withNumbersOf(const EvaluationPtr& before, EvaluationPtr evaluation);

}  // namespace quantloupe::ui
