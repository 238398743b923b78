// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer_product.h"

#include <algorithm>

#if defined(__x86_64__)
#include "runtime/integer_simd.h"
#endif

namespace quantloupe {
namespace {

constexpr std::size_t kPanel = 16;

std::size_t roundUp(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

#if defined(__x86_64__)

struct Target {
    void* output;
    std::size_t stride, columns;  ///< columns: of this panel, up to 16
    const std::int32_t* offset;
    const float* factor;
    float low, high;
    int shift;
    bool toFloat;
};

QUANTLOUPE_AVX2_INLINE void store(const Target& target, std::size_t row, __m256i left, __m256i right) {
    const __m256 low = _mm256_set1_ps(target.low), high = _mm256_set1_ps(target.high);
    const __m256 a = requantized(left, target.offset, target.factor, low, high);
    const __m256 b = requantized(right, target.offset + 8, target.factor + 8, low, high);
    if (target.toFloat) {
        float* out = static_cast<float*>(target.output) + row * target.stride;
        alignas(32) float values[kPanel];
        _mm256_store_ps(values, a);
        _mm256_store_ps(values + 8, b);
        std::memcpy(out, values, target.columns * sizeof(float));
        return;
    }
    auto* out = static_cast<std::uint8_t*>(target.output) + row * target.stride;
    const __m128i codes = codesOf(a, b, _mm256_set1_epi32(target.shift));
    if (target.columns == kPanel) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out), codes);
        return;
    }
    alignas(16) std::uint8_t values[kPanel];
    _mm_store_si128(reinterpret_cast<__m128i*>(values), codes);
    std::memcpy(out, values, target.columns);
}

QUANTLOUPE_AVX2_INLINE __m256i broadcast(const void* four) {
    std::int32_t bits;
    std::memcpy(&bits, four, sizeof bits);
    return _mm256_set1_epi32(bits);
}

/// Rows of 16-bit values; two a step.
template <int R>
QUANTLOUPE_AVX2_INLINE void wordTile(const std::int16_t* rows, std::size_t stride, const std::int16_t* weight,
                                     std::size_t steps, const Target& target, std::size_t firstRow) {
    __m256i sums[R][2];
    for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
    for (std::size_t k = 0; k < steps; ++k) {
        const __m256i left = _mm256_load_si256(reinterpret_cast<const __m256i*>(weight + k * 32));
        const __m256i right = _mm256_load_si256(reinterpret_cast<const __m256i*>(weight + k * 32 + 16));
        for (int r = 0; r < R; ++r) {
            const __m256i x = broadcast(rows + static_cast<std::size_t>(r) * stride + 2 * k);
            sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(x, left));
            sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(x, right));
        }
    }
    for (int r = 0; r < R; ++r) store(target, firstRow + static_cast<std::size_t>(r), sums[r][0], sums[r][1]);
}

/// Rows of codes; four a step.
template <int R>
QUANTLOUPE_AVX2_INLINE void byteTile(const std::uint8_t* rows, std::size_t stride, const std::int8_t* weight,
                                     std::size_t steps, const Target& target, std::size_t firstRow) {
    const __m256i one = _mm256_set1_epi16(1);
    __m256i sums[R][2];
    for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
    for (std::size_t k = 0; k < steps; ++k) {
        const __m256i left = _mm256_load_si256(reinterpret_cast<const __m256i*>(weight + k * 64));
        const __m256i right = _mm256_load_si256(reinterpret_cast<const __m256i*>(weight + k * 64 + 32));
        for (int r = 0; r < R; ++r) {
            const __m256i x = broadcast(rows + static_cast<std::size_t>(r) * stride + 4 * k);
            sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(_mm256_maddubs_epi16(x, left), one));
            sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(_mm256_maddubs_epi16(x, right), one));
        }
    }
    for (int r = 0; r < R; ++r) store(target, firstRow + static_cast<std::size_t>(r), sums[r][0], sums[r][1]);
}

QUANTLOUPE_AVX2 void wordPanel(const std::int16_t* rows, std::size_t stride, std::size_t count,
                               const std::int16_t* weight, std::size_t steps, const Target& target) {
    std::size_t r = 0;
    for (; r + 6 <= count; r += 6) wordTile<6>(rows + r * stride, stride, weight, steps, target, r);
    for (; r + 4 <= count; r += 4) wordTile<4>(rows + r * stride, stride, weight, steps, target, r);
    for (; r + 2 <= count; r += 2) wordTile<2>(rows + r * stride, stride, weight, steps, target, r);
    for (; r < count; ++r) wordTile<1>(rows + r * stride, stride, weight, steps, target, r);
}

QUANTLOUPE_AVX2 void bytePanel(const std::uint8_t* rows, std::size_t stride, std::size_t count,
                               const std::int8_t* weight, std::size_t steps, const Target& target) {
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4) byteTile<4>(rows + r * stride, stride, weight, steps, target, r);
    for (; r + 2 <= count; r += 2) byteTile<2>(rows + r * stride, stride, weight, steps, target, r);
    for (; r < count; ++r) byteTile<1>(rows + r * stride, stride, weight, steps, target, r);
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

/// No pair of products with any two codes leaves 16 bits.
bool pairFits(int first, int second) {
    const int up = std::max(first, 0) + std::max(second, 0), down = std::min(first, 0) + std::min(second, 0);
    return up * 255 <= 32767 && down * 255 >= -32768;
}

}  // namespace

bool integerKernelsAvailable() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

IntegerProduct::IntegerProduct(std::span<const std::int8_t> weight, std::size_t depth, std::size_t columns,
                               Requantization requantization)
    : m_depth(depth),
      m_padded(roundUp(depth, 4)),
      m_columns(columns),
      m_requantization(std::move(requantization)) {
    const std::size_t padded = roundUp(columns, kPanel);
    m_requantization.offset.resize(padded, 0);
    m_requantization.factor.resize(padded, 0.0f);
    const auto at = [&](std::size_t k, std::size_t column) {
        return k < depth && column < columns ? weight[k * columns + column] : std::int8_t{0};
    };
    for (std::size_t first = 0; first < columns; first += kPanel) {
        Panel panel;
        panel.bytes = true;
        for (std::size_t k = 0; panel.bytes && k < m_padded; k += 2)
            for (std::size_t c = first; c < first + kPanel; ++c)
                if (!pairFits(at(k, c), at(k + 1, c))) panel.bytes = false;
        // Interleaved so that one load brings the values of one step for 8 columns.
        const std::size_t group = panel.bytes ? 4 : 2;
        panel.offset = panel.bytes ? m_bytes.size() : m_words.size();
        for (std::size_t k = 0; k < m_padded; k += group)
            for (std::size_t c = first; c < first + kPanel; ++c)
                for (std::size_t j = 0; j < group; ++j) {
                    if (panel.bytes) m_bytes.push_back(at(k + j, c));
                    else m_words.push_back(at(k + j, c));
                }
        m_anyWords = m_anyWords || !panel.bytes;
        m_panels.push_back(panel);
    }
}

std::size_t IntegerProduct::scratchBytes() const { return m_anyWords ? kRows * m_padded * sizeof(std::int16_t) : 0; }

void IntegerProduct::run(const std::uint8_t* rows, std::size_t rowStride, std::size_t count, void* output,
                         std::size_t outputStride, void* scratch) const {
#if defined(__x86_64__)
    auto* words = static_cast<std::int16_t*>(scratch);
    if (m_anyWords) widen(rows, rowStride, count, m_padded, words);
    const std::size_t element = m_requantization.toFloat ? sizeof(float) : 1;
    for (std::size_t p = 0; p < m_panels.size(); ++p) {
        const Panel& panel = m_panels[p];
        const std::size_t first = p * kPanel;
        const Target target{static_cast<std::byte*>(output) + first * element,
                            outputStride,
                            std::min(kPanel, m_columns - first),
                            m_requantization.offset.data() + first,
                            m_requantization.factor.data() + first,
                            m_requantization.low,
                            m_requantization.high,
                            static_cast<int>(m_requantization.shift),
                            m_requantization.toFloat};
        if (panel.bytes)
            bytePanel(rows, rowStride, count, m_bytes.data() + panel.offset, m_padded / 4, target);
        else
            wordPanel(words, m_padded, count, m_words.data() + panel.offset, m_padded / 2, target);
    }
#else
    static_cast<void>(rows), static_cast<void>(rowStride), static_cast<void>(count), static_cast<void>(output);
    static_cast<void>(outputStride), static_cast<void>(scratch);
#endif
}

}  // namespace quantloupe
