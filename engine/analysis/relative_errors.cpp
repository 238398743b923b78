// SPDX-License-Identifier: Apache-2.0
#include "analysis/relative_errors.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/simd.h"

namespace quantloupe {
namespace {

constexpr std::size_t kRowLanes = 4;
using Doubles = double __attribute__((vector_size(kRowLanes * sizeof(double))));
using Bits = long long __attribute__((vector_size(kRowLanes * sizeof(double))));
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

/// Sums in four lanes, so that the order of the additions is the same for every instruction set.
QUANTLOUPE_SIMD void addRows(const float* reference, const float* tested, std::size_t rows,
                             double* accumulated, double* largest) {
    Doubles sum = {}, max = {};
    const Bits magnitude = Bits{} + std::numeric_limits<long long>::max();
    for (std::size_t row = 0; row < rows; ++row, reference += kRowLanes, tested += kRowLanes) {
        const Doubles f = {reference[0], reference[1], reference[2], reference[3]};
        const Doubles q = {tested[0], tested[1], tested[2], tested[3]};
        const Doubles size = reinterpret_cast<Doubles>(reinterpret_cast<Bits>(f) & magnitude);
        const Doubles error = reinterpret_cast<Doubles>(reinterpret_cast<Bits>(q - f) & magnitude);
        const Doubles ratio =
            (size > kEpsilon ? error : Doubles{}) / (size > kEpsilon ? size : Doubles{} + 1);
        sum += ratio;
        max = ratio > max ? ratio : max;
    }
    std::memcpy(accumulated, &sum, sizeof sum);
    std::memcpy(largest, &max, sizeof max);
}

}  // namespace

void RelativeErrorSums::add(const float* reference, const float* tested, std::size_t elements) {
    const std::size_t rows = elements / kRowLanes;
    double sum[kRowLanes], largest[kRowLanes];
    addRows(reference, tested, rows, sum, largest);
    for (std::size_t i = 0; i < kRowLanes; ++i) merge({sum[i], largest[i], rows});
    for (std::size_t i = rows * kRowLanes; i < elements; ++i) {
        const double f = std::fabs(static_cast<double>(reference[i]));
        const double error = std::fabs(static_cast<double>(tested[i]) - static_cast<double>(reference[i]));
        const double ratio = f > kEpsilon ? error / f : 0;
        merge({ratio, ratio, 1});
    }
}

void RelativeErrorSums::merge(const RelativeErrorSums& other) {
    accumulated += other.accumulated;
    max = std::fmax(max, other.max);
    count += other.count;
}

void RelativeErrorSums::put(TensorDifference& difference) const {
    difference.accumulatedRelative = accumulated;
    difference.maxRelative = std::isnan(accumulated) ? accumulated : max;
    difference.meanRelative = count == 0 ? 0 : accumulated / static_cast<double>(count);
}

}  // namespace quantloupe
