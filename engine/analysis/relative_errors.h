// SPDX-License-Identifier: Apache-2.0
#pragma once
// Metrics that divide each element's error by the element. More expensive than the sums of tensor_metrics.h
// (one division per element), so they are only computed on request.

#include <cstddef>

#include "results/evaluation.h"

namespace quantloupe {

/// Over the elements of a reference f and a tensor under test q whose |f| > FLT_EPSILON; the others are
/// dropped.
struct RelativeErrorSums {
    double accumulated = 0;  ///< sum |q - f| / |f|: grows with the number of elements
    double max = 0;          ///< max |q / f - 1|
    std::size_t count = 0;   ///< number of all elements, including the dropped ones

    void add(const float* reference, const float* tested, std::size_t count);
    void merge(const RelativeErrorSums& other);

    /// Sets accumulatedRelative, maxRelative and meanRelative = accumulated / count (dropped elements count
    /// as 0). Formulas: Ascend Model Accuracy Analyzer (msaccucmp).
    void put(TensorDifference& difference) const;
};

}  // namespace quantloupe
