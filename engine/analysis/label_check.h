// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the accuracy of the float network shows that the labels or the preprocessing are wrong.

#include <string>

#include "results/evaluation.h"

namespace quantloupe {

struct LabelProblem {
    std::string text;            ///< empty: there is none
    bool preprocessing = false;  ///< whether wrong preprocessing is a likely cause
};

/// Finds a problem if the float network is not significantly better on these labels than always predicting
/// the most frequent class, or if its mAP or mIoU is below 1 %. If most samples of each class are predicted
/// as one other class, the labels have another order than the network's classes. Needs at least 20 samples
/// and two classes. Evaluation::labelNotice takes precedence: then there is no other problem.
LabelProblem labelProblem(const Evaluation& evaluation);

}  // namespace quantloupe
