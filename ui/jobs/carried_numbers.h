// SPDX-License-Identifier: Apache-2.0
#pragma once
// While a configuration is being evaluated, the numbers of the previous one stay visible. Created on the
// engine's thread: a network of 10,000 layers has megabytes of results, and copying them must not block the
// window. Any thread.

#include "results/evaluation.h"

namespace quantloupe::ui {

/// A snapshot as shown in the window.
struct ShownEvaluation {
    EvaluationPtr evaluation;
    /// the evaluation's, for the receiver to take and to change
    std::shared_ptr<std::vector<LayerResult>> layers;
    bool ownAccuracy = false;  ///< its accuracies are no longer those of before
};

/// `evaluation` with what it does not know yet taken from `before` (may be null): numbers of layers, and, as
/// they belong together, all accuracies until the quantized network's is there. A complete one stays as it
/// is.
ShownEvaluation withNumbersOf(const EvaluationPtr& before, EvaluationPtr evaluation);

}  // namespace quantloupe::ui
