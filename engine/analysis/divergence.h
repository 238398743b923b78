// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kullback-Leibler divergence of two tensors, as the Ascend Model Accuracy Analyzer (msaccucmp, the versions
// since 2025) defines it: each tensor is scaled from its own minimum and maximum to 0 to 1 (a constant tensor
// stays as it is), every element raised to at least e = FLT_EPSILON, and divided by the sum; then sum P ln(P
// / Q) over the elements, P from the tensor under test, Q from the reference. Below e it counts as 0.
//
// Note what this measures: the tensor is treated as a distribution over *positions*, with values as weights.
// Scaling or shifting a tensor does not change the result.
//
// Streaming: the definition needs the minimum and maximum before the first element, and the Analyzer compares
// the dumps of one inference. Therefore the divergence is computed per sample (one image's tensor), exactly,
// in two passes over the values in memory,
//     KL = T / U - ln U + ln V,   U = sum u, V = sum v, T = sum u ln(u / v),   u, v the raised elements,
// and averaged over samples. For a single sample it equals the Analyzer's result. It depends neither on the
// batch size nor on the number of threads. Cost: one logarithm per element, about 25 times the sums of
// tensor_metrics.h, so it is only computed on request.

#include <cstddef>

#include "results/evaluation.h"

namespace quantloupe {

/// Returns the divergence of one sample. NaN if a value is not finite; 0 without elements.
double klDivergence(const float* reference, const float* tested, std::size_t count);

/// Mean over samples.
struct DivergenceSums {
    double sum = 0;
    double max = 0;  ///< over samples; ignores NaN
    std::size_t samples = 0;

    /// Adds a sample of `count` elements; ignored if `count` is 0.
    void addSample(const float* reference, const float* tested, std::size_t count);
    void merge(const DivergenceSums& other);

    double mean() const { return samples == 0 ? 0 : sum / static_cast<double>(samples); }
    /// Sets klDivergence to the mean.
    void put(TensorDifference& difference) const { difference.klDivergence = mean(); }
};

}  // namespace quantloupe
