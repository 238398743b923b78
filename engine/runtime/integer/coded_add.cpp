// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/coded_add.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/instruction_sets.h"
#include "runtime/simd.h"

#if defined(__x86_64__)
#include "runtime/integer/vnni_intrinsics.h"
#endif

namespace quantloupe {
namespace {

constexpr float kRound = 12582912.0f;  // see fake_quant.cpp

}  // namespace

QUANTLOUPE_SIMD void addCodes(const CodedSum& sum, const std::uint8_t* left, const std::uint8_t* right,
                              std::uint8_t* target, std::size_t count) {
    const CodedSum a = sum;  // not in memory that `target` might overlap
    for (std::size_t i = 0; i < count; ++i) {
        const float l = (static_cast<float>(static_cast<std::int32_t>(left[i])) + a.left.low) * a.left.scale;
        const float r =
            (static_cast<float>(static_cast<std::int32_t>(right[i])) + a.right.low) * a.right.scale;
        float x = l + r;
        x = x < a.activation.low ? a.activation.low : x;
        x = x > a.activation.high ? a.activation.high : x;
        x = x / a.output.scale;
        x = x < a.output.low ? a.output.low : x;
        x = x > a.output.high ? a.output.high : x;
        target[i] =
            static_cast<std::uint8_t>(static_cast<std::int32_t>(((x + kRound) - kRound) - a.output.low));
    }
}

#if defined(__x86_64__)

namespace {

/// Registers for one element-wise sum.
struct Factors {
    __m512 leftLow, leftScale, rightLow, rightScale, scale, reciprocal, low, high;
};

QUANTLOUPE_VNNI inline __m512 floatsOf(const std::uint8_t* codes) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes))));
}

QUANTLOUPE_VNNI inline __m512i steps(const Factors& f, const std::uint8_t* left, const std::uint8_t* right) {
    const __m512 x = _mm512_add_ps(_mm512_mul_ps(_mm512_add_ps(floatsOf(left), f.leftLow), f.leftScale),
                                   _mm512_mul_ps(_mm512_add_ps(floatsOf(right), f.rightLow), f.rightScale));
    // Markstein's correction: the remainder is exact, so the quotient is rounded as by a division.
    const __m512 quotient = _mm512_mul_ps(x, f.reciprocal);
    const __m512 corrected = _mm512_fmadd_ps(_mm512_fnmadd_ps(quotient, f.scale, x), f.reciprocal, quotient);
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(corrected, f.low), f.high));
}

}  // namespace

QUANTLOUPE_VNNI void addCodesAvx512(const CodedSum& sum, const std::uint8_t* left, const std::uint8_t* right,
                                    std::uint8_t* target, std::size_t count) {
    const FakeQuant& out = sum.output;
    const Factors f{_mm512_set1_ps(sum.left.low), _mm512_set1_ps(sum.left.scale),
                    _mm512_set1_ps(sum.right.low), _mm512_set1_ps(sum.right.scale), _mm512_set1_ps(out.scale),
                    _mm512_set1_ps(1.0f / out.scale),
                    // Division is monotonic, so the activation can clamp the quotient.
                    _mm512_set1_ps(std::max(out.low, sum.activation.low / out.scale)),
                    _mm512_set1_ps(std::min(out.high, sum.activation.high / out.scale))};
    const __m512i shift = _mm512_set1_epi16(static_cast<std::int16_t>(-out.low));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    std::size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        const __m512i a = _mm512_packs_epi32(steps(f, left + i, right + i),
                                             steps(f, left + i + 16, right + i + 16)),
                      b = _mm512_packs_epi32(steps(f, left + i + 32, right + i + 32),
                                             steps(f, left + i + 48, right + i + 48));
        const __m512i bytes = _mm512_packus_epi16(_mm512_adds_epi16(a, shift), _mm512_adds_epi16(b, shift));
        _mm512_storeu_si512(target + i, _mm512_permutexvar_epi32(order, bytes));
    }
    addCodes(sum, left + i, right + i, target + i, count - i);
}

#else

void addCodesAvx512(const CodedSum& sum, const std::uint8_t* left, const std::uint8_t* right,
                    std::uint8_t* target, std::size_t count) {
    addCodes(sum, left, right, target, count);
}

#endif

namespace {

/// Whether addCodesAvx512() gives the same results as addCodes() for all pairs of codes.
bool agree(const CodedSum& sum) {
    constexpr std::size_t kCodes = 256, kPairs = kCodes * kCodes;
    std::vector<std::uint8_t> left(kPairs), right(kPairs), expected(kPairs), found(kPairs);
    for (std::size_t i = 0; i < kPairs; ++i) {
        left[i] = static_cast<std::uint8_t>(i / kCodes);
        right[i] = static_cast<std::uint8_t>(i % kCodes);
    }
    addCodes(sum, left.data(), right.data(), expected.data(), kPairs);
    addCodesAvx512(sum, left.data(), right.data(), found.data(), kPairs);
    return found == expected;
}

}  // namespace

AddCodes fastestAdd(const CodedSum& sum) {
    if (!instructionSets().avx512Vnni) return addCodes;
    // A network is compiled again after every edit, usually with the same sums.
    constexpr std::size_t kMaxKnown = 4096;
    static std::mutex mutex;
    static std::map<std::array<float, 9>, bool> known;
    const FakeQuant &l = sum.left, &r = sum.right, &o = sum.output;
    const std::array<float, 9> key{
        l.scale, l.low, r.scale, r.low, o.scale, o.low, o.high, sum.activation.low, sum.activation.high};
    {
        const std::scoped_lock lock(mutex);
        if (const auto found = known.find(key); found != known.end())
            return found->second ? addCodesAvx512 : addCodes;
    }
    const bool fast = agree(sum);
    const std::scoped_lock lock(mutex);
    if (known.size() >= kMaxKnown) known.clear();
    known[key] = fast;
    return fast ? addCodesAvx512 : addCodes;
}

}  // namespace quantloupe
