// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/coded_binary.h"

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

inline __attribute__((always_inline)) float valueOf(const FakeQuant& quant, std::uint8_t code) {
    return (static_cast<float>(static_cast<std::int32_t>(code)) + quant.low) * quant.scale;
}
inline __attribute__((always_inline)) float valueOf(const FakeQuant&, float value) { return value; }

template <CodedOperation Operation, typename Right>
inline __attribute__((always_inline)) void combine(const CodedPair& pair, const std::uint8_t* left,
                                                   const Right* right, std::uint8_t* target,
                                                   std::size_t count) {
    const CodedPair p = pair;  // not in memory that `target` might overlap
    for (std::size_t i = 0; i < count; ++i) {
        const float l = valueOf(p.left, left[i]), r = valueOf(p.right, right[i]);
        float x = Operation == CodedOperation::Add ? l + r : l * r;
        x = x < p.activation.low ? p.activation.low : x;
        x = x > p.activation.high ? p.activation.high : x;
        x = x / p.output.scale;
        x = x < p.output.low ? p.output.low : x;
        x = x > p.output.high ? p.output.high : x;
        target[i] =
            static_cast<std::uint8_t>(static_cast<std::int32_t>(((x + kRound) - kRound) - p.output.low));
    }
}

}  // namespace

QUANTLOUPE_SIMD void combineCodes(const CodedPair& pair, const std::uint8_t* left, const std::uint8_t* right,
                                  std::uint8_t* target, std::size_t count) {
    if (pair.operation == CodedOperation::Add)
        combine<CodedOperation::Add>(pair, left, right, target, count);
    else
        combine<CodedOperation::Multiply>(pair, left, right, target, count);
}

QUANTLOUPE_SIMD void combineFloats(const CodedPair& pair, const std::uint8_t* left, const float* right,
                                   std::uint8_t* target, std::size_t count) {
    if (pair.operation == CodedOperation::Add)
        combine<CodedOperation::Add>(pair, left, right, target, count);
    else
        combine<CodedOperation::Multiply>(pair, left, right, target, count);
}

#if defined(__x86_64__)

namespace {

/// Registers for one operation.
struct Factors {
    __m512 leftLow, leftScale, rightLow, rightScale, scale, reciprocal, low, high;
};

QUANTLOUPE_VNNI inline __m512 floatsOf(const std::uint8_t* codes) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes))));
}

template <CodedOperation Operation>
QUANTLOUPE_VNNI inline __m512i steps(const Factors& f, const std::uint8_t* left, const std::uint8_t* right) {
    const __m512 l = _mm512_mul_ps(_mm512_add_ps(floatsOf(left), f.leftLow), f.leftScale),
                 r = _mm512_mul_ps(_mm512_add_ps(floatsOf(right), f.rightLow), f.rightScale);
    const __m512 x = Operation == CodedOperation::Add ? _mm512_add_ps(l, r) : _mm512_mul_ps(l, r);
    // Markstein's correction: the remainder is exact, so the quotient is rounded as by a division.
    const __m512 quotient = _mm512_mul_ps(x, f.reciprocal);
    const __m512 corrected = _mm512_fmadd_ps(_mm512_fnmadd_ps(quotient, f.scale, x), f.reciprocal, quotient);
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(corrected, f.low), f.high));
}

template <CodedOperation Operation>
QUANTLOUPE_VNNI inline void combineAvx512(const CodedPair& pair, const std::uint8_t* left,
                                          const std::uint8_t* right, std::uint8_t* target,
                                          std::size_t count) {
    const FakeQuant& out = pair.output;
    const Factors f{_mm512_set1_ps(pair.left.low), _mm512_set1_ps(pair.left.scale),
                    _mm512_set1_ps(pair.right.low), _mm512_set1_ps(pair.right.scale),
                    _mm512_set1_ps(out.scale), _mm512_set1_ps(1.0f / out.scale),
                    // Division is monotonic, so the activation can clamp the quotient.
                    _mm512_set1_ps(std::max(out.low, pair.activation.low / out.scale)),
                    _mm512_set1_ps(std::min(out.high, pair.activation.high / out.scale))};
    const __m512i shift = _mm512_set1_epi16(static_cast<std::int16_t>(-out.low));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    std::size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        const __m512i a = _mm512_packs_epi32(steps<Operation>(f, left + i, right + i),
                                             steps<Operation>(f, left + i + 16, right + i + 16)),
                      b = _mm512_packs_epi32(steps<Operation>(f, left + i + 32, right + i + 32),
                                             steps<Operation>(f, left + i + 48, right + i + 48));
        const __m512i bytes = _mm512_packus_epi16(_mm512_adds_epi16(a, shift), _mm512_adds_epi16(b, shift));
        _mm512_storeu_si512(target + i, _mm512_permutexvar_epi32(order, bytes));
    }
    combineCodes(pair, left + i, right + i, target + i, count - i);
}

}  // namespace

QUANTLOUPE_VNNI void combineCodesAvx512(const CodedPair& pair, const std::uint8_t* left,
                                        const std::uint8_t* right, std::uint8_t* target, std::size_t count) {
    if (pair.operation == CodedOperation::Add)
        combineAvx512<CodedOperation::Add>(pair, left, right, target, count);
    else
        combineAvx512<CodedOperation::Multiply>(pair, left, right, target, count);
}

#else

void combineCodesAvx512(const CodedPair& pair, const std::uint8_t* left, const std::uint8_t* right,
                        std::uint8_t* target, std::size_t count) {
    combineCodes(pair, left, right, target, count);
}

#endif

namespace {

/// Whether combineCodesAvx512() gives the same results as combineCodes() for all pairs of codes.
bool agree(const CodedPair& pair) {
    constexpr std::size_t kCodes = 256, kPairs = kCodes * kCodes;
    std::vector<std::uint8_t> left(kPairs), right(kPairs), expected(kPairs), found(kPairs);
    for (std::size_t i = 0; i < kPairs; ++i) {
        left[i] = static_cast<std::uint8_t>(i / kCodes);
        right[i] = static_cast<std::uint8_t>(i % kCodes);
    }
    combineCodes(pair, left.data(), right.data(), expected.data(), kPairs);
    combineCodesAvx512(pair, left.data(), right.data(), found.data(), kPairs);
    return found == expected;
}

}  // namespace

CombineCodes fastestCombination(const CodedPair& pair) {
    if (!instructionSets().avx512Vnni) return combineCodes;
    // A network is compiled again after every edit, usually with the same quantizers.
    constexpr std::size_t kMaxKnown = 4096;
    static std::mutex mutex;
    static std::map<std::array<float, 10>, bool> known;
    const FakeQuant &l = pair.left, &r = pair.right, &o = pair.output;
    const std::array<float, 10> key{static_cast<float>(pair.operation),
                                    l.scale,
                                    l.low,
                                    r.scale,
                                    r.low,
                                    o.scale,
                                    o.low,
                                    o.high,
                                    pair.activation.low,
                                    pair.activation.high};
    {
        const std::scoped_lock lock(mutex);
        if (const auto found = known.find(key); found != known.end())
            return found->second ? combineCodesAvx512 : combineCodes;
    }
    const bool fast = agree(pair);
    const std::scoped_lock lock(mutex);
    if (known.size() >= kMaxKnown) known.clear();
    known[key] = fast;
    return fast ? combineCodesAvx512 : combineCodes;
}

}  // namespace quantloupe
