// SPDX-License-Identifier: Apache-2.0
#include "analysis/tensor_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "runtime/instruction_sets.h"
#include "runtime/integer/codes.h"
#include "runtime/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace quantloupe {
namespace {

// Four doubles fill one AVX2 register. For wider vectors, GCC generates scalar code on processors without
// such registers.
constexpr std::size_t kLanes = 4;
using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));
using Bits = long long __attribute__((vector_size(kLanes * sizeof(double))));

/// Sums of the lanes in memory. Not a vector type, whose alignment would depend on the instruction set.
struct LaneSums {
    double difference[kLanes] = {}, reference[kLanes] = {}, tested[kLanes] = {}, product[kLanes] = {};
    double maxAbsolute[kLanes] = {}, absolute[kLanes] = {}, plainReference[kLanes] = {},
           plainTested[kLanes] = {};

    DifferenceSums lane(std::size_t i, std::size_t count) const {
        return {difference[i], reference[i],      tested[i],      product[i], maxAbsolute[i],
                absolute[i],   plainReference[i], plainTested[i], count};
    }
};

inline __attribute__((always_inline)) void load(Doubles& to, const double* from) {
    std::memcpy(&to, from, sizeof to);
}
inline __attribute__((always_inline)) void store(double* to, const Doubles& from) {
    std::memcpy(to, &from, sizeof from);
}

/// Adds `rows` rows of four elements, `stride` apart, to the four lanes. Each lane is summed in the order of
/// the rows, for every instruction set.
QUANTLOUPE_SIMD void addRows(const float* reference, const float* tested, std::size_t rows,
                             std::size_t stride, LaneSums* lanes) {
    Doubles difference, squaredF, squaredQ, product, maxAbsolute, absolute, plainF, plainQ;
    load(difference, lanes->difference);
    load(squaredF, lanes->reference);
    load(squaredQ, lanes->tested);
    load(product, lanes->product);
    load(maxAbsolute, lanes->maxAbsolute);
    load(absolute, lanes->absolute);
    load(plainF, lanes->plainReference);
    load(plainQ, lanes->plainTested);
    const Bits magnitude = Bits{} + std::numeric_limits<long long>::max();
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
    store(lanes->difference, difference);
    store(lanes->reference, squaredF);
    store(lanes->tested, squaredQ);
    store(lanes->product, product);
    store(lanes->maxAbsolute, maxAbsolute);
    store(lanes->absolute, absolute);
    store(lanes->plainReference, plainF);
    store(lanes->plainTested, plainQ);
}

#if defined(__x86_64__)
/// The same with fused multiply-adds. The results are bit-identical, because the product of two floats is
/// exact in double.
__attribute__((target("avx2,fma"))) void addRowsFused(const float* reference, const float* tested,
                                                      std::size_t rows, std::size_t stride, LaneSums* lanes) {
    static_assert(kLanes == 4);
    __m256d difference = _mm256_loadu_pd(lanes->difference), squaredF = _mm256_loadu_pd(lanes->reference),
            squaredQ = _mm256_loadu_pd(lanes->tested), product = _mm256_loadu_pd(lanes->product),
            maxAbsolute = _mm256_loadu_pd(lanes->maxAbsolute), absolute = _mm256_loadu_pd(lanes->absolute),
            plainF = _mm256_loadu_pd(lanes->plainReference), plainQ = _mm256_loadu_pd(lanes->plainTested);
    const __m256d sign = _mm256_set1_pd(-0.0);
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
    _mm256_storeu_pd(lanes->difference, difference);
    _mm256_storeu_pd(lanes->reference, squaredF);
    _mm256_storeu_pd(lanes->tested, squaredQ);
    _mm256_storeu_pd(lanes->product, product);
    _mm256_storeu_pd(lanes->maxAbsolute, maxAbsolute);
    _mm256_storeu_pd(lanes->absolute, absolute);
    _mm256_storeu_pd(lanes->plainReference, plainF);
    _mm256_storeu_pd(lanes->plainTested, plainQ);
}
#endif

using AddRows = void (*)(const float*, const float*, std::size_t, std::size_t, LaneSums*);

AddRows fastestAddRows() {
#if defined(__x86_64__)
    if (instructionSets().avx2) return addRowsFused;
#endif
    return addRows;
}

DifferenceSums ofElement(float reference, float tested) {
    const double f = reference, q = tested, d = q - f, a = std::fabs(d);
    return {d * d, f * f, q * q, q * f, a, a, f, q, 1};
}

double deviation(double squares, double mean, double count) {
    return std::sqrt(std::max(0.0, squares / count - mean * mean));
}

}  // namespace

void DifferenceSums::add(const float* reference, const float* tested, std::size_t elements) {
    const std::size_t rows = elements / kLanes;
    if (rows > 0) {
        LaneSums lanes;
        fastestAddRows()(reference, tested, rows, kLanes, &lanes);
        for (std::size_t i = 0; i < kLanes; ++i) merge(lanes.lane(i, rows));
    }
    for (std::size_t i = rows * kLanes; i < elements; ++i) merge(ofElement(reference[i], tested[i]));
}

void DifferenceSums::add(const float* reference, const std::uint8_t* codes, const FakeQuant& quantizer,
                         std::size_t elements) {
    constexpr std::size_t kTogether = 1024;  // values that are decoded within the L1 cache
    float tested[kTogether];
    const AddRows addRowsTogether = fastestAddRows();
    const std::size_t whole = elements / kLanes * kLanes;
    LaneSums lanes;
    for (std::size_t i = 0; i < whole; i += kTogether) {
        const std::size_t together = std::min(kTogether, whole - i);
        decode(quantizer, codes + i, tested, together);
        addRowsTogether(reference + i, tested, together / kLanes, kLanes, &lanes);
    }
    if (whole > 0)
        for (std::size_t i = 0; i < kLanes; ++i) merge(lanes.lane(i, whole / kLanes));
    decode(quantizer, codes + whole, tested, elements - whole);
    for (std::size_t i = whole; i < elements; ++i) merge(ofElement(reference[i], tested[i - whole]));
}

void DifferenceSums::merge(const DifferenceSums& other) {
    squaredDifference += other.squaredDifference;
    squaredReference += other.squaredReference;
    squaredTested += other.squaredTested;
    product += other.product;
    maxAbsolute = std::fmax(maxAbsolute, other.maxAbsolute);  // ignores NaN, as the lanes do
    absoluteDifference += other.absoluteDifference;
    sumReference += other.sumReference;
    sumTested += other.sumTested;
    count += other.count;
}

TensorDifference DifferenceSums::result() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
    TensorDifference result;
    if (squaredDifference == 0)
        result.qs = 0;
    else
        result.qs = squaredReference == 0 ? infinity : std::sqrt(squaredDifference / squaredReference);
    result.sqnrDb = result.qs == 0 ? infinity : -20 * std::log10(result.qs);
    const bool tiny = std::sqrt(squaredReference) <= std::numeric_limits<float>::epsilon();
    result.relativeEuclidean = tiny ? 0 : result.qs;
    result.absoluteL2 = std::sqrt(squaredDifference);
    if (count == 0) return result;

    const bool poisoned = std::isnan(squaredDifference);
    if (poisoned) {
        result.cosine = undefined;
        result.note = "the values are not all finite";
    } else if (squaredReference == 0 && squaredTested == 0) {
        result.cosine = 1;
    } else if (count == 1) {
        result.cosine = 1;
        result.note = "a single element: its cosine is always 1";
    } else if (squaredReference == 0 || squaredTested == 0) {
        result.cosine = undefined;
        result.note = squaredReference == 0 ? "the cosine is undefined: the reference is all zero"
                                            : "the cosine is undefined: the tensor is all zero";
    } else {
        result.cosine = std::clamp(product / std::sqrt(squaredReference * squaredTested), -1.0, 1.0);
    }
    const auto n = static_cast<double>(count);
    result.maxAbsolute = poisoned ? undefined : maxAbsolute;
    result.meanAbsolute = absoluteDifference / n;
    result.rootMeanSquare = std::sqrt(squaredDifference / n);
    result.referenceMean = sumReference / n;
    result.testedMean = sumTested / n;
    result.referenceDeviation = deviation(squaredReference, result.referenceMean, n);
    result.testedDeviation = deviation(squaredTested, result.testedMean, n);
    return result;
}

void addPerChannel(const ChannelLayout& layout, const float* reference, const float* tested,
                   std::span<DifferenceSums> channels) {
    if (channels.size() != layout.channels)
        fail(ErrorKind::Internal, "{} sums for {} channels", channels.size(), layout.channels);
    if (layout.inner != 1) {
        for (std::size_t o = 0; o < layout.outer; ++o)
            for (DifferenceSums& channel : channels) {
                channel.add(reference, tested, layout.inner);
                reference += layout.inner;
                tested += layout.inner;
            }
        return;
    }
    // Adjacent values belong to different channels, so each lane is a channel. Rows are processed in tiles
    // that fit into the L1 cache.
    constexpr std::size_t kTileElements = 2048;
    const std::size_t tile =
        std::max<std::size_t>(8, kTileElements / std::max<std::size_t>(1, layout.channels));
    const std::size_t blocks = layout.channels / kLanes;
    std::vector<LaneSums> lanes(blocks);
    const AddRows addRowsTogether = fastestAddRows();
    for (std::size_t o = 0; o < layout.outer; o += tile) {
        const std::size_t rows = std::min(tile, layout.outer - o);
        const float* f = reference + o * layout.channels;
        const float* q = tested + o * layout.channels;
        for (std::size_t b = 0; b < blocks; ++b)
            addRowsTogether(f + b * kLanes, q + b * kLanes, rows, layout.channels, &lanes[b]);
        for (std::size_t c = blocks * kLanes; c < layout.channels; ++c)
            for (std::size_t r = 0; r < rows; ++r)
                channels[c].merge(ofElement(f[r * layout.channels + c], q[r * layout.channels + c]));
    }
    for (std::size_t c = 0; c < blocks * kLanes; ++c)
        channels[c].merge(lanes[c / kLanes].lane(c % kLanes, layout.outer));
}

}  // namespace quantloupe
