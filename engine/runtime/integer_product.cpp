// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer_product.h"

#include <algorithm>
#include <array>
#include <cstdlib>

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

/// Weights that are added apart: see IntegerProduct::Correction.
struct Apart {
    std::size_t depth;
    const std::int16_t* weight;
};

/// Rows of codes; four a step, J steps added in 16 bits.
template <int R, int J>
QUANTLOUPE_AVX2_INLINE void byteSteps(const std::uint8_t* rows, std::size_t stride, const std::int8_t* weight,
                                      __m256i (&sums)[R][2]) {
    const __m256i one = _mm256_set1_epi16(1);
    for (int r = 0; r < R; ++r) {
        __m256i left, right;
        for (int j = 0; j < J; ++j) {
            const auto* w = reinterpret_cast<const __m256i*>(weight + j * 64);
            const __m256i x = broadcast(rows + static_cast<std::size_t>(r) * stride + 4 * j);
            const __m256i l = _mm256_maddubs_epi16(x, _mm256_load_si256(w));
            const __m256i h = _mm256_maddubs_epi16(x, _mm256_load_si256(w + 1));
            left = j == 0 ? l : _mm256_add_epi16(left, l);
            right = j == 0 ? h : _mm256_add_epi16(right, h);
        }
        sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(left, one));
        sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(right, one));
    }
}

template <int R, int J>
QUANTLOUPE_AVX2_INLINE void byteTile(const std::uint8_t* rows, std::size_t stride, const std::int8_t* weight,
                                     std::size_t steps, const std::vector<Apart>& apart, const Target& target,
                                     std::size_t firstRow) {
    __m256i sums[R][2];
    for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
    std::size_t k = 0;
    for (; k + J <= steps; k += J) byteSteps<R, J>(rows + 4 * k, stride, weight + k * 64, sums);
    for (; k < steps; ++k) byteSteps<R, 1>(rows + 4 * k, stride, weight + k * 64, sums);
    for (const Apart& a : apart) {
        const __m256i left = _mm256_load_si256(reinterpret_cast<const __m256i*>(a.weight));
        const __m256i right = _mm256_load_si256(reinterpret_cast<const __m256i*>(a.weight + 16));
        for (int r = 0; r < R; ++r) {
            const std::uint8_t* at = rows + static_cast<std::size_t>(r) * stride + a.depth;
            const __m256i x = _mm256_set1_epi32(at[0] | at[1] << 16);
            sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(x, left));
            sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(x, right));
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

/// R rows at a time: as many as leave the registers to the sums.
template <int R, int J>
QUANTLOUPE_AVX2 void bytePanel(const std::uint8_t* rows, std::size_t stride, std::size_t count,
                               const std::int8_t* weight, std::size_t steps, const std::vector<Apart>& apart,
                               const Target& target) {
    std::size_t r = 0;
    for (; r + R <= count; r += R) byteTile<R, J>(rows + r * stride, stride, weight, steps, apart, target, r);
    for (; r < count; ++r) byteTile<1, J>(rows + r * stride, stride, weight, steps, apart, target, r);
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

/// For a column and one of the two pairs of each step: which of J steps must be added apart so that the products of the others
/// stay in 16 bits with any codes. `weights` are J pairs.
template <typename Pair>
unsigned apartOf(const Pair* weights, int together) {
    unsigned apart = 0;
    while (true) {
        int up = 0, down = 0, largest = -1, size = 0;
        for (int j = 0; j < together; ++j) {
            if ((apart >> j & 1u) != 0) continue;
            for (const int w : weights[j]) (w > 0 ? up : down) += w;
            const int magnitude = std::abs(weights[j][0]) + std::abs(weights[j][1]);
            if (magnitude > size) size = magnitude, largest = j;
        }
        if (up * 255 <= 32767 && down * 255 >= -32768) return apart;
        apart |= 1u << largest;
    }
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
    std::vector<std::int8_t> panel(m_padded * kPanel);
    for (std::size_t first = 0; first < columns; first += kPanel) {
        std::fill(panel.begin(), panel.end(), std::int8_t{0});
        for (std::size_t k = 0; k < depth; ++k)
            for (std::size_t c = first; c < std::min(first + kPanel, columns); ++c)
                panel[k * kPanel + c - first] = weight[k * columns + c];
        addPanel(panel);
    }
}

/// `weight` is [padded depth, 16].
void IntegerProduct::addPanel(const std::vector<std::int8_t>& weight) {
    using Pair = std::array<int, 2>;
    const std::size_t steps = m_padded / 4;
    // apart[pair] for each choice of steps added together: bit c = the weights of column c go into a correction.
    const auto apartFor = [&](int together) {
        std::vector<std::uint32_t> apart(steps * 2, 0);
        for (std::size_t k = 0; k < steps; k += static_cast<std::size_t>(together)) {
            const int count = k + static_cast<std::size_t>(together) <= steps ? together : 1;
            for (std::size_t half = 0; half < 2; ++half)
                for (std::size_t c = 0; c < kPanel; ++c)
                    for (std::size_t tail = k; tail < std::min(k + static_cast<std::size_t>(together), steps);
                         tail += static_cast<std::size_t>(count)) {
                        Pair pairs[4];
                        for (int j = 0; j < count; ++j)
                            for (std::size_t e = 0; e < 2; ++e)
                                pairs[j][e] = weight[((tail + static_cast<std::size_t>(j)) * 4 + half * 2 + e) * kPanel + c];
                        const unsigned bits = apartOf(pairs, count);
                        for (int j = 0; j < count; ++j)
                            if ((bits >> j & 1u) != 0) apart[(tail + static_cast<std::size_t>(j)) * 2 + half] |= 1u << c;
                    }
        }
        return apart;
    };
    // Measured on Zen 3, in quarters of a cycle a step and a row: 8, 6, 5 for 1, 2, 4 steps together, 13 in words.
    double least = 13.0 * static_cast<double>(steps);
    Panel panel;
    std::vector<std::uint32_t> best;
    for (const int together : {1, 2, 4}) {
        std::vector<std::uint32_t> apart = apartFor(together);
        const auto corrected = static_cast<double>(std::count_if(apart.begin(), apart.end(), [](auto bits) { return bits != 0; }));
        const double cost = (4.0 + 4.0 / together) * static_cast<double>(steps) + 7.0 * corrected;
        if (cost >= least) continue;
        least = cost;
        panel.together = together;
        best = std::move(apart);
    }
    const bool words = panel.together == 0;
    panel.offset = words ? m_words.size() : m_bytes.size();
    const auto kept = [&](std::size_t k, std::size_t c) {
        return words || (best[k / 2] >> c & 1u) == 0 ? weight[k * kPanel + c] : std::int8_t{0};
    };
    // Interleaved so that one load brings the values of one step for 8 columns.
    const std::size_t group = words ? 2 : 4;
    for (std::size_t k = 0; k < m_padded; k += group)
        for (std::size_t c = 0; c < kPanel; ++c)
            for (std::size_t j = 0; j < group; ++j) {
                if (words) m_words.push_back(weight[(k + j) * kPanel + c]);
                else m_bytes.push_back(kept(k + j, c));
            }
    for (std::size_t pair = 0; !words && pair < best.size(); ++pair) {
        if (best[pair] == 0) continue;
        panel.corrections.push_back({pair * 2, m_words.size()});
        for (std::size_t c = 0; c < kPanel; ++c)
            for (std::size_t e = 0; e < 2; ++e)
                m_words.push_back((best[pair] >> c & 1u) != 0 ? weight[(pair * 2 + e) * kPanel + c] : std::int16_t{0});
    }
    m_anyWords = m_anyWords || words;
    m_panels.push_back(std::move(panel));
}

std::size_t IntegerProduct::scratchBytes() const { return m_anyWords ? kRows * m_padded * sizeof(std::int16_t) : 0; }

void IntegerProduct::run(const std::uint8_t* rows, std::size_t rowStride, std::size_t count, void* output,
                         std::size_t outputStride, void* scratch) const {
#if defined(__x86_64__)
    auto* words = static_cast<std::int16_t*>(scratch);
    thread_local std::vector<Apart> apart;
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
        if (panel.together == 0) {
            wordPanel(words, m_padded, count, m_words.data() + panel.offset, m_padded / 2, target);
            continue;
        }
        apart.clear();
        for (const Correction& correction : panel.corrections)
            apart.push_back({correction.depth, m_words.data() + correction.offset});
        const auto run = panel.together == 4 ? bytePanel<3, 4> : panel.together == 2 ? bytePanel<4, 2> : bytePanel<4, 1>;
        run(rows, rowStride, count, m_bytes.data() + panel.offset, m_padded / 4, apart, target);
    }
#else
    static_cast<void>(rows), static_cast<void>(rowStride), static_cast<void>(count), static_cast<void>(output);
    static_cast<void>(outputStride), static_cast<void>(scratch);
#endif
}

}  // namespace quantloupe
