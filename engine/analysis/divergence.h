// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kullback-Leibler divergence of two tensors, as the Ascend Model Accuracy Analyzer (msaccucmp, the versions since 2025)
// defines it: each tensor is scaled from its own minimum and maximum to 0 to 1 (a constant tensor stays as it is),
// every element raised to at least e = FLT_EPSILON, and divided by the sum; then sum P ln(P / Q) over the elements,
// P from the tensor under test, Q from the reference. Below e it counts as 0.
//
// Note what this measures: elements are taken as a distribution over *places*, values as weights. Scaling or shifting a
// tensor changes nothing.
//
// Streaming: the definition needs the minimum and maximum before the first element, and the Analyzer compares the dumps
// of one inference. So a sample (one image's tensor) is the piece here: its divergence is exact, in two passes over
// memory that is at hand,
//     KL = T / U - ln U + ln V,   U = sum u, V = sum v, T = sum u ln(u / v),   u, v the raised elements,
// and samples are averaged. For one sample it is the Analyzer's number. It neither depends on the batch size nor on
// threads. Cost: a logarithm an element, some 25 times tensor_metrics.h's sums: only where asked for.

#include <cstddef>

#include "session/evaluation.h"

namespace quantloupe {

/// Of one sample. NaN where a value is not finite; 0 without elements.
double klDivergence(const float* reference, const float* tested, std::size_t count);

/// The mean over samples.
struct DivergenceSums {
    double sum = 0;
    double max = 0;  ///< of a sample; passes over NaN
    std::size_t samples = 0;

    /// One sample of `count` elements; none counts as no sample.
    void addSample(const float* reference, const float* tested, std::size_t count);
    void merge(const DivergenceSums& other);

    double mean() const { return samples == 0 ? 0 : sum / static_cast<double>(samples); }
    /// Sets klDivergence to the mean.
    void put(TensorDifference& difference) const { difference.klDivergence = mean(); }
};

}  // namespace quantloupe
