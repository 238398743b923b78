// SPDX-License-Identifier: Apache-2.0
#include "analysis/difference_lanes.h"

#include <cstring>
#include <limits>

#include "runtime/instruction_sets.h"
#include "runtime/simd.h"

#if defined(__x86_64__)
#include "runtime/x86_intrinsics.h"
#endif

namespace quantloupe {
namespace {

// Four doubles fill one AVX2 register. For wider vectors, GCC generates scalar code on processors without
// such registers, so the eight lanes are two groups.
constexpr std::size_t kGroup = 4;
static_assert(DifferenceLanes::kCount == 2 * kGroup);
using Doubles = double __attribute__((vector_size(kGroup * sizeof(double))));
using Bits = long long __attribute__((vector_size(kGroup * sizeof(double))));

inline __attribute__((always_inline)) void load(Doubles& to, const double* from) {
    std::memcpy(&to, from, sizeof to);
}
inline __attribute__((always_inline)) void store(double* to, const Doubles& from) {
    std::memcpy(to, &from, sizeof from);
}

/// Adds four of the eight columns, beginning with column `first`.
QUANTLOUPE_SIMD void addGroup(const float* reference, const float* tested, std::size_t rows,
                              std::size_t stride, DifferenceLanes* lanes, std::size_t first) {
    Doubles difference, squaredF, squaredQ, product, maxAbsolute, absolute, plainF, plainQ;
    load(difference, lanes->difference + first);
    load(squaredF, lanes->reference + first);
    load(squaredQ, lanes->tested + first);
    load(product, lanes->product + first);
    load(maxAbsolute, lanes->maxAbsolute + first);
    load(absolute, lanes->absolute + first);
    load(plainF, lanes->plainReference + first);
    load(plainQ, lanes->plainTested + first);
    const Bits magnitude = Bits{} + std::numeric_limits<long long>::max();
    reference += first;
    tested += first;
    for (std::size_t row = 0; row < rows; ++row, reference += stride, tested += stride) {
        // Written element by element, because this compiles to one converting load, and
        // __builtin_convertvector does not.
        const Doubles f = {reference[0], reference[1], reference[2], reference[3]};
        const Doubles q = {tested[0], tested[1], tested[2], tested[3]};
        const Doubles d = q - f;
        const Doubles a = reinterpret_cast<Doubles>(reinterpret_cast<Bits>(d) & magnitude);
        difference += d * d;
        squaredF += f * f;
        squaredQ += q * q;
        product += q * f;
        maxAbsolute = a > maxAbsolute ? a : maxAbsolute;
        absolute += a;
        plainF += f;
        plainQ += q;
    }
    store(lanes->difference + first, difference);
    store(lanes->reference + first, squaredF);
    store(lanes->tested + first, squaredQ);
    store(lanes->product + first, product);
    store(lanes->maxAbsolute + first, maxAbsolute);
    store(lanes->absolute + first, absolute);
    store(lanes->plainReference + first, plainF);
    store(lanes->plainTested + first, plainQ);
}

void addRows(const float* reference, const float* tested, std::size_t rows, std::size_t stride,
             DifferenceLanes& lanes) {
    addGroup(reference, tested, rows, stride, &lanes, 0);
    addGroup(reference, tested, rows, stride, &lanes, kGroup);
}

#if defined(__x86_64__)
// The same with fused multiply-adds. The results are bit-identical, because the product of two floats is
// exact in double. The square of the difference is not, so it is rounded before it is added.

__attribute__((target("avx2,fma"))) void addGroupAvx2(const float* reference, const float* tested,
                                                      std::size_t rows, std::size_t stride,
                                                      DifferenceLanes& lanes, std::size_t first) {
    __m256d difference = _mm256_loadu_pd(lanes.difference + first),
            squaredF = _mm256_loadu_pd(lanes.reference + first),
            squaredQ = _mm256_loadu_pd(lanes.tested + first),
            product = _mm256_loadu_pd(lanes.product + first),
            maxAbsolute = _mm256_loadu_pd(lanes.maxAbsolute + first),
            absolute = _mm256_loadu_pd(lanes.absolute + first),
            plainF = _mm256_loadu_pd(lanes.plainReference + first),
            plainQ = _mm256_loadu_pd(lanes.plainTested + first);
    const __m256d sign = _mm256_set1_pd(-0.0);
    reference += first;
    tested += first;
    for (std::size_t row = 0; row < rows; ++row, reference += stride, tested += stride) {
        const __m256d f = _mm256_cvtps_pd(_mm_loadu_ps(reference)), q = _mm256_cvtps_pd(_mm_loadu_ps(tested));
        const __m256d d = _mm256_sub_pd(q, f), a = _mm256_andnot_pd(sign, d);
        difference = _mm256_add_pd(difference, _mm256_mul_pd(d, d));
        squaredF = _mm256_fmadd_pd(f, f, squaredF);
        squaredQ = _mm256_fmadd_pd(q, q, squaredQ);
        product = _mm256_fmadd_pd(q, f, product);
        maxAbsolute = _mm256_max_pd(a, maxAbsolute);  // the second operand if one is NaN
        absolute = _mm256_add_pd(absolute, a);
        plainF = _mm256_add_pd(plainF, f);
        plainQ = _mm256_add_pd(plainQ, q);
    }
    _mm256_storeu_pd(lanes.difference + first, difference);
    _mm256_storeu_pd(lanes.reference + first, squaredF);
    _mm256_storeu_pd(lanes.tested + first, squaredQ);
    _mm256_storeu_pd(lanes.product + first, product);
    _mm256_storeu_pd(lanes.maxAbsolute + first, maxAbsolute);
    _mm256_storeu_pd(lanes.absolute + first, absolute);
    _mm256_storeu_pd(lanes.plainReference + first, plainF);
    _mm256_storeu_pd(lanes.plainTested + first, plainQ);
}

void addRowsAvx2(const float* reference, const float* tested, std::size_t rows, std::size_t stride,
                 DifferenceLanes& lanes) {
    addGroupAvx2(reference, tested, rows, stride, lanes, 0);
    addGroupAvx2(reference, tested, rows, stride, lanes, kGroup);
}

__attribute__((target("avx512f"))) void addRowsAvx512(const float* reference, const float* tested,
                                                      std::size_t rows, std::size_t stride,
                                                      DifferenceLanes& lanes) {
    __m512d difference = _mm512_loadu_pd(lanes.difference), squaredF = _mm512_loadu_pd(lanes.reference),
            squaredQ = _mm512_loadu_pd(lanes.tested), product = _mm512_loadu_pd(lanes.product),
            maxAbsolute = _mm512_loadu_pd(lanes.maxAbsolute), absolute = _mm512_loadu_pd(lanes.absolute),
            plainF = _mm512_loadu_pd(lanes.plainReference), plainQ = _mm512_loadu_pd(lanes.plainTested);
    for (std::size_t row = 0; row < rows; ++row, reference += stride, tested += stride) {
        const __m512d f = _mm512_cvtps_pd(_mm256_loadu_ps(reference)),
                      q = _mm512_cvtps_pd(_mm256_loadu_ps(tested));
        const __m512d d = _mm512_sub_pd(q, f), a = _mm512_abs_pd(d);
        difference = _mm512_add_pd(difference, _mm512_mul_pd(d, d));
        squaredF = _mm512_fmadd_pd(f, f, squaredF);
        squaredQ = _mm512_fmadd_pd(q, q, squaredQ);
        product = _mm512_fmadd_pd(q, f, product);
        maxAbsolute = _mm512_max_pd(a, maxAbsolute);  // the second operand if one is NaN
        absolute = _mm512_add_pd(absolute, a);
        plainF = _mm512_add_pd(plainF, f);
        plainQ = _mm512_add_pd(plainQ, q);
    }
    _mm512_storeu_pd(lanes.difference, difference);
    _mm512_storeu_pd(lanes.reference, squaredF);
    _mm512_storeu_pd(lanes.tested, squaredQ);
    _mm512_storeu_pd(lanes.product, product);
    _mm512_storeu_pd(lanes.maxAbsolute, maxAbsolute);
    _mm512_storeu_pd(lanes.absolute, absolute);
    _mm512_storeu_pd(lanes.plainReference, plainF);
    _mm512_storeu_pd(lanes.plainTested, plainQ);
}
#endif

}  // namespace

AddDifferenceRows fastestDifferenceRows() {
#if defined(__x86_64__)
    if (instructionSets().avx512) return addRowsAvx512;
    if (instructionSets().avx2) return addRowsAvx2;
#endif
    return addRows;
}

}  // namespace quantloupe
