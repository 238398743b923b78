// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a tensor is from its float reference, streamed: sums in double, one pass, mergeable in a fixed order.

#include <cstddef>

#include "session/evaluation.h"

namespace quantloupe {

/// Sums over the elements of a reference f and a tensor under test q.
struct DifferenceSums {
    double squaredDifference = 0;  ///< sum (q - f)^2
    double squaredReference = 0;   ///< sum f^2
    double squaredTested = 0;      ///< sum q^2
    double product = 0;            ///< sum q f
    double maxAbsolute = 0;        ///< max |q - f|

    void add(const float* reference, const float* tested, std::size_t count);
    void merge(const DifferenceSums& other);

    /// QS = |q - f| / |f|: 0 where nothing differs, infinite where f is all zero and q is not. Cosine: 1 if both are all
    /// zero, 0 if one is. SQNR = -20 log10(QS). Formulas: Ascend Model Accuracy Analyzer, CLIKA ACE's QS.
    TensorDifference result() const;
};

}  // namespace quantloupe
