// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/integer_product.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "runtime/instruction_sets.h"
#include "runtime/integer/integer_tiles.h"

#if defined(__x86_64__)
#include "runtime/integer/integer_simd.h"
#endif

namespace quantloupe {
namespace {

constexpr std::size_t kStep = 8;  ///< depths
/// Depths for which the weights of one panel stay in the L1 cache while all rows are processed.
constexpr std::size_t kDepthBlock = 1024;

#if defined(__x86_64__)

struct Target {
    void* output;
    std::size_t stride, columns;  ///< columns: those in this panel, up to 16
    const std::int32_t* offset;
    const float* factor;
    float low, high;
    int shift;
    bool toFloat;
};

/// Converts rows of sums to outputs. Saturating: packing alone performs the clamp of the requantization.
template <bool Saturating>
QUANTLOUPE_AVX2 void storePanel(const Target& target, const std::int32_t* sums, std::size_t count) {
    const __m256 low = _mm256_set1_ps(target.low), high = _mm256_set1_ps(target.high);
    const __m256 factor0 = _mm256_loadu_ps(target.factor), factor1 = _mm256_loadu_ps(target.factor + 8);
    const auto* offset = reinterpret_cast<const __m256i*>(target.offset);
    const __m256i offset0 = _mm256_loadu_si256(offset), offset1 = _mm256_loadu_si256(offset + 1);
    const __m256i shift = _mm256_set1_epi32(target.shift);
    const std::size_t columns = target.columns;
    for (std::size_t r = 0; r < count; r += 2) {
        // An odd last row is stored twice.
        const std::size_t rows[2] = {r, std::min(r + 1, count - 1)};
        __m256 values[4];
        for (std::size_t i = 0; i < 4; ++i) {
            const auto* at = reinterpret_cast<const __m256i*>(sums + rows[i / 2] * kPanelColumns + i % 2 * 8);
            const __m256i sum = _mm256_add_epi32(_mm256_load_si256(at), i % 2 == 0 ? offset0 : offset1);
            values[i] = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), i % 2 == 0 ? factor0 : factor1);
            if (!Saturating) values[i] = _mm256_min_ps(_mm256_max_ps(values[i], low), high);
        }
        if (target.toFloat) {
            alignas(32) float results[2 * kPanelColumns];
            for (std::size_t i = 0; i < 4; ++i) _mm256_store_ps(results + i * 8, values[i]);
            for (std::size_t i = 0; i < 2; ++i)
                std::memcpy(static_cast<float*>(target.output) + rows[i] * target.stride,
                            results + i * kPanelColumns, columns * sizeof(float));
            continue;
        }
        const __m256i codes = codesOf(values[0], values[1], values[2], values[3], shift);
        auto* out = static_cast<std::uint8_t*>(target.output);
        if (columns == kPanelColumns) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + rows[0] * target.stride),
                             _mm256_castsi256_si128(codes));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + rows[1] * target.stride),
                             _mm256_extracti128_si256(codes, 1));
            continue;
        }
        alignas(32) std::uint8_t results[2 * kPanelColumns];
        _mm256_store_si256(reinterpret_cast<__m256i*>(results), codes);
        for (std::size_t i = 0; i < 2; ++i)
            std::memcpy(out + rows[i] * target.stride, results + i * kPanelColumns, columns);
    }
}

/// Adds the panel's corrections to the sums of R rows.
template <std::size_t R, typename Correction>
QUANTLOUPE_AVX2_INLINE void addCorrections(const std::vector<Correction>& corrections,
                                           const std::int16_t* words, const std::uint8_t* rows,
                                           std::size_t stride, std::int32_t* sums) {
    __m256i left[R], right[R];
    auto* at = reinterpret_cast<__m256i*>(sums);
    for (std::size_t r = 0; r < R; ++r)
        left[r] = _mm256_load_si256(at + 2 * r), right[r] = _mm256_load_si256(at + 2 * r + 1);
    for (const Correction& correction : corrections) {
        const auto* weight = reinterpret_cast<const __m256i*>(words + correction.offset);
        const __m256i l = _mm256_load_si256(weight), h = _mm256_load_si256(weight + 1);
        for (std::size_t r = 0; r < R; ++r) {
            std::uint16_t pair;
            std::memcpy(&pair, rows + r * stride + correction.depth, sizeof pair);
            const __m256i x = _mm256_cvtepu8_epi16(_mm_set1_epi16(static_cast<std::int16_t>(pair)));
            left[r] = _mm256_add_epi32(left[r], _mm256_madd_epi16(x, l));
            right[r] = _mm256_add_epi32(right[r], _mm256_madd_epi16(x, h));
        }
    }
    for (std::size_t r = 0; r < R; ++r)
        _mm256_store_si256(at + 2 * r, left[r]), _mm256_store_si256(at + 2 * r + 1, right[r]);
}

template <typename Correction>
QUANTLOUPE_AVX2 void addCorrections(const std::vector<Correction>& corrections, const std::int16_t* words,
                                    const std::uint8_t* rows, std::size_t stride, std::size_t count,
                                    std::int32_t* sums) {
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4)
        addCorrections<4>(corrections, words, rows + r * stride, stride, sums + r * kPanelColumns);
    for (; r < count; ++r)
        addCorrections<1>(corrections, words, rows + r * stride, stride, sums + r * kPanelColumns);
}

QUANTLOUPE_AVX2 void widen(const std::uint8_t* rows, std::size_t stride, std::size_t count, std::size_t depth,
                           std::int16_t* words) {
    for (std::size_t r = 0; r < count; ++r) {
        const std::uint8_t* from = rows + r * stride;
        std::int16_t* to = words + r * depth;
        std::size_t k = 0;
        for (; k + 16 <= depth; k += 16)
            _mm256_storeu_si256(
                reinterpret_cast<__m256i*>(to + k),
                _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k))));
        for (; k < depth; ++k) to[k] = from[k];
    }
}

#endif

/// Whether the sums of some products fit into 16 bits for any codes. `up` is the sum of their positive
/// weights, `down` that of the negative ones.
bool fitInto16Bits(int up, int down) { return up * 255 <= 32767 && down * 255 >= -32768; }

/// Whether addSmallBytesAvx2() is exact for a panel [depths][16]; its last step may be shorter.
bool weightsAreSmall(const std::vector<std::int8_t>& panel) {
    constexpr std::size_t kStepValues = kSmallStep * kPanelColumns;
    for (std::size_t begin = 0; begin < panel.size(); begin += kStepValues) {
        int up[2][kPanelColumns] = {}, down[2][kPanelColumns] = {};
        for (std::size_t i = begin; i < std::min(begin + kStepValues, panel.size()); ++i) {
            const std::size_t half = i / kPanelColumns % 4 / 2, column = i % kPanelColumns;
            (panel[i] > 0 ? up : down)[half][column] += panel[i];
        }
        for (std::size_t half = 0; half < 2; ++half)
            for (std::size_t c = 0; c < kPanelColumns; ++c)
                if (!fitInto16Bits(up[half][c], down[half][c])) return false;
    }
    return true;
}

using Pair = std::array<int, 2>;

/// For one column and two pairs that vpmaddubsw and one addition combine in the same 16 bits: a mask of the
/// pairs that must be added separately so that the others stay within 16 bits for any codes.
unsigned separatePairs(const std::array<Pair, 2>& pairs) {
    unsigned apart = 0;
    while (true) {
        int up = 0, down = 0, largest = 0, size = -1;
        for (int j = 0; j < 2; ++j) {
            if ((apart >> j & 1u) != 0) continue;
            const Pair& pair = pairs[static_cast<std::size_t>(j)];
            for (const int w : pair) (w > 0 ? up : down) += w;
            const int magnitude = std::abs(pair[0]) + std::abs(pair[1]);
            if (magnitude > size) size = magnitude, largest = j;
        }
        if (fitInto16Bits(up, down)) return apart;
        apart |= 1u << largest;
    }
}

}  // namespace

bool integerKernelsAvailable() { return instructionSets().avx2; }

bool Requantization::clampSaturates() const {
    // Packing to a byte saturates at 0 and 255; sums have 31 bits, and rounding to integers is correct below
    // 2^31.
    return !toFloat && low == -shift && high == 255 - shift &&
           std::all_of(factor.begin(), factor.end(), [](float f) { return f < 0.5f; });
}

IntegerProduct::IntegerProduct(std::span<const std::int8_t> weight, std::size_t depth, std::size_t columns,
                               Requantization requantization)
    : m_depth(depth),
      m_padded(roundUp(depth, kStep)),
      m_columns(columns),
      m_requantization(std::move(requantization)) {
    const std::size_t padded = roundUp(columns, kPanelColumns);
    m_requantization.offset.resize(padded, 0);
    m_requantization.factor.resize(padded, 0.0f);
    m_bytes.reserve(m_padded * padded);
    m_saturating = m_requantization.clampSaturates();
    std::vector<std::int8_t> panel(m_padded * kPanelColumns);
    for (std::size_t first = 0; first < columns; first += kPanelColumns) {
        std::fill(panel.begin(), panel.end(), std::int8_t{0});
        for (std::size_t k = 0; k < depth; ++k)
            for (std::size_t c = first; c < std::min(first + kPanelColumns, columns); ++c)
                panel[k * kPanelColumns + c - first] = weight[k * columns + c];
        addPanel(panel);
    }
}

/// `weight` is [padded depth, 16].
void IntegerProduct::addPanel(const std::vector<std::int8_t>& weight) {
    const auto at = [&](std::size_t k, std::size_t c) { return weight[k * kPanelColumns + c]; };
    Panel panel;
    panel.small = weightsAreSmall(weight);
    // apart[depth / 2]: if bit c is set, the weights of column c at this pair of depths go into a correction.
    std::vector<std::uint32_t> apart(m_padded / 2, 0);
    for (std::size_t k = 0; k < m_padded && !panel.small; k += kStep)
        for (std::size_t half = 0; half < 4; half += 2)
            for (std::size_t c = 0; c < kPanelColumns; ++c) {
                const std::size_t one = k + half, two = one + 4;
                const unsigned bits =
                    separatePairs({Pair{at(one, c), at(one + 1, c)}, Pair{at(two, c), at(two + 1, c)}});
                apart[one / 2] |= (bits & 1u) << c;
                apart[two / 2] |= (bits >> 1) << c;
            }
    const auto corrected =
        static_cast<double>(std::count_if(apart.begin(), apart.end(), [](auto bits) { return bits != 0; }));
    const auto steps = static_cast<double>(m_padded / kStep);
    // Measured on Zen 3, in cycles per row: 3.1 per step in bytes, 4.2 in words, 1.5 per correction.
    panel.words = 3.1 * steps + 1.5 * corrected > 4.2 * steps;
    panel.offset = panel.words ? m_words.size() : m_bytes.size();
    // Interleaved so that one load fetches the values of one column group and its adjacent depths.
    const std::size_t group = panel.words ? 2 : 4;
    for (std::size_t k = 0; k < m_padded; k += group)
        for (std::size_t c = 0; c < kPanelColumns; ++c)
            for (std::size_t j = 0; j < group; ++j) {
                if (panel.words)
                    m_words.push_back(at(k + j, c));
                else
                    m_bytes.push_back((apart[(k + j) / 2] >> c & 1u) != 0 ? std::int8_t{0} : at(k + j, c));
            }
    for (std::size_t pair = 0; !panel.words && pair < apart.size(); ++pair) {
        if (apart[pair] == 0) continue;
        panel.corrections.push_back({pair * 2, m_words.size()});
        for (std::size_t c = 0; c < kPanelColumns; ++c)
            for (std::size_t e = 0; e < 2; ++e)
                m_words.push_back((apart[pair] >> c & 1u) != 0 ? at(pair * 2 + e, c) : std::int16_t{0});
    }
    m_anyWords = m_anyWords || panel.words;
    m_panels.push_back(std::move(panel));
}

std::size_t IntegerProduct::scratchBytes() const {
    return m_anyWords ? kRows * m_padded * sizeof(std::int16_t) : 0;
}

void IntegerProduct::run(const std::uint8_t* rows, std::size_t rowStride, std::size_t count, void* output,
                         std::size_t outputStride, void* scratch) const {
#if defined(__x86_64__)
    auto* words = static_cast<std::int16_t*>(scratch);
    if (m_anyWords) widen(rows, rowStride, count, m_padded, words);
    alignas(64) std::int32_t sums[kRows * kPanelColumns];
    const std::size_t element = m_requantization.toFloat ? sizeof(float) : 1;
    for (std::size_t p = 0; p < m_panels.size(); ++p) {
        const Panel& panel = m_panels[p];
        const std::size_t block = panel.words ? kDepthBlock / 2 : kDepthBlock;
        for (std::size_t k = 0; k < m_padded; k += block) {
            const std::size_t depths = std::min(block, m_padded - k);
            if (panel.words) {
                addWordsAvx2({words + k, m_padded * sizeof(std::int16_t), count,
                              m_words.data() + panel.offset + k * kPanelColumns, depths / 2, k == 0, sums});
                continue;
            }
            const std::int8_t* weight = m_bytes.data() + panel.offset + k * kPanelColumns;
            const std::size_t small = panel.small ? depths / kSmallStep : 0, done = small * kSmallStep;
            if (small > 0) addSmallBytesAvx2({rows + k, rowStride, count, weight, small, k == 0, sums});
            if (done < depths)
                addBytesAvx2({rows + k + done, rowStride, count, weight + done * kPanelColumns,
                              (depths - done) / kStep, k + done == 0, sums});
        }
        if (!panel.corrections.empty())
            addCorrections(panel.corrections, m_words.data(), rows, rowStride, count, sums);
        const std::size_t first = p * kPanelColumns;
        const Target target{static_cast<std::byte*>(output) + first * element,
                            outputStride,
                            std::min(kPanelColumns, m_columns - first),
                            m_requantization.offset.data() + first,
                            m_requantization.factor.data() + first,
                            m_requantization.low,
                            m_requantization.high,
                            static_cast<int>(m_requantization.shift),
                            m_requantization.toFloat};
        (m_saturating ? storePanel<true> : storePanel<false>)(target, sums, count);
    }
#else
    static_cast<void>(rows), static_cast<void>(rowStride), static_cast<void>(count),
        static_cast<void>(output);
    static_cast<void>(outputStride), static_cast<void>(scratch);
#endif
}

}  // namespace quantloupe
