// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/simd.h"

namespace quantloupe {
namespace {

// Four doubles fill one register of AVX2; two groups hide the latency of the additions.
constexpr std::size_t kWidth = 4, kGroups = 2, kLanes = kWidth * kGroups;
using Doubles = double __attribute__((vector_size(kWidth * sizeof(double))));
using Floats = float __attribute__((vector_size(kWidth * sizeof(float))));

struct Sums {
    Doubles difference = {}, reference = {}, tested = {}, product = {}, maxAbsolute = {};
};

inline __attribute__((always_inline)) void addGroup(const float* reference, const float* tested, Sums& sums) {
    Floats narrowReference, narrowTested;
    std::memcpy(&narrowReference, reference, sizeof narrowReference);
    std::memcpy(&narrowTested, tested, sizeof narrowTested);
    const Doubles f = __builtin_convertvector(narrowReference, Doubles);
    const Doubles q = __builtin_convertvector(narrowTested, Doubles);
    const Doubles d = q - f;
    const Doubles a = d < 0 ? -d : d;
    sums.difference += d * d;
    sums.reference += f * f;
    sums.tested += q * q;
    sums.product += q * f;
    sums.maxAbsolute = a > sums.maxAbsolute ? a : sums.maxAbsolute;
}

/// Sums in eight lanes: the order of the additions is fixed, whatever the instruction set.
QUANTLOUPE_SIMD void addBlocks(const float* reference, const float* tested, std::size_t blocks, Sums* lanes) {
    Sums first, second;
    for (std::size_t b = 0; b < blocks; ++b, reference += kLanes, tested += kLanes) {
        addGroup(reference, tested, first);
        addGroup(reference + kWidth, tested + kWidth, second);
    }
    lanes[0] = first;
    lanes[1] = second;
}

}  // namespace

void DifferenceSums::add(const float* reference, const float* tested, std::size_t count) {
    Sums lanes[kGroups];
    const std::size_t blocks = count / kLanes;
    addBlocks(reference, tested, blocks, lanes);
    for (const Sums& group : lanes)
        for (std::size_t i = 0; i < kWidth; ++i)
            merge({group.difference[i], group.reference[i], group.tested[i], group.product[i], group.maxAbsolute[i]});
    for (std::size_t i = blocks * kLanes; i < count; ++i) {
        const double f = reference[i], q = tested[i], d = q - f;
        merge({d * d, f * f, q * q, q * f, std::fabs(d)});
    }
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
