// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_metrics.h"

#include <cmath>
#include <limits>

#include "runtime/simd.h"

namespace quantloupe {
namespace {

constexpr std::size_t kLanes = 8;

/// Eight sums side by side: the order of the additions is fixed, whatever the instruction set.
QUANTLOUPE_SIMD void addBlock(const float* reference, const float* tested, std::size_t blocks, double* difference,
                              double* squaredReference, double* squaredTested, double* product, double* maxAbsolute) {
    for (std::size_t b = 0; b < blocks; ++b, reference += kLanes, tested += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const double f = reference[lane], q = tested[lane], d = q - f;
            difference[lane] += d * d;
            squaredReference[lane] += f * f;
            squaredTested[lane] += q * q;
            product[lane] += q * f;
            const double a = d < 0 ? -d : d;
            maxAbsolute[lane] = a > maxAbsolute[lane] ? a : maxAbsolute[lane];
        }
}

}  // namespace

void DifferenceSums::add(const float* reference, const float* tested, std::size_t count) {
    double lanes[5][kLanes] = {};
    const std::size_t blocks = count / kLanes;
    addBlock(reference, tested, blocks, lanes[0], lanes[1], lanes[2], lanes[3], lanes[4]);
    for (std::size_t i = blocks * kLanes; i < count; ++i) {
        const double f = reference[i], q = tested[i], d = q - f;
        lanes[0][0] += d * d;
        lanes[1][0] += f * f;
        lanes[2][0] += q * q;
        lanes[3][0] += q * f;
        lanes[4][0] = std::max(lanes[4][0], std::fabs(d));
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        merge({lanes[0][lane], lanes[1][lane], lanes[2][lane], lanes[3][lane], lanes[4][lane]});
}

void DifferenceSums::merge(const DifferenceSums& other) {
    squaredDifference += other.squaredDifference;
    squaredReference += other.squaredReference;
    squaredTested += other.squaredTested;
    product += other.product;
    maxAbsolute = std::max(maxAbsolute, other.maxAbsolute);
}

TensorDifference DifferenceSums::result() const {
    TensorDifference result;
    const double infinity = std::numeric_limits<double>::infinity();
    if (squaredDifference == 0) result.qs = 0;
    else result.qs = squaredReference == 0 ? infinity : std::sqrt(squaredDifference / squaredReference);
    if (squaredReference == 0 && squaredTested == 0) result.cosine = 1;
    else if (squaredReference == 0 || squaredTested == 0) result.cosine = 0;
    else result.cosine = product / std::sqrt(squaredReference * squaredTested);
    result.sqnrDb = result.qs == 0 ? infinity : -20 * std::log10(result.qs);
    return result;
}

}  // namespace quantloupe
