// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/integer_depthwise.h"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include "runtime/integer/integer_simd.h"
#endif

namespace quantloupe {
namespace {

constexpr std::size_t kBlock = 16;
/// Unpacking words interleaves within halves of a register: the channels in the first and in the second
/// result.
constexpr std::array<std::size_t, kBlock> kLaneOrder{0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15};

#if defined(__x86_64__)

struct Block {
    const std::int16_t* weight;
    const std::int32_t* offset;
    const float* factor;
    std::size_t pairs;
};

QUANTLOUPE_AVX2_INLINE __m256i codesAt(const std::uint8_t* pixel) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pixel)));
}

/// One output pixel, 16 channels. `taps` has 2 * pairs pointers to pixels; Pairs 0: the number of pairs given
/// in the block.
template <std::size_t Pairs>
QUANTLOUPE_AVX2_INLINE void pixel(const std::uint8_t* const* taps, std::size_t channel, const Block& block,
                                  const Requantization& how, void* output, std::size_t at) {
    __m256i first = _mm256_setzero_si256(), second = _mm256_setzero_si256();
    const std::size_t pairs = Pairs > 0 ? Pairs : block.pairs;
    for (std::size_t p = 0; p < pairs; ++p) {
        const __m256i a = codesAt(taps[2 * p] + channel), b = codesAt(taps[2 * p + 1] + channel);
        const auto* weight = reinterpret_cast<const __m256i*>(block.weight + p * 2 * kBlock);
        first = _mm256_add_epi32(first,
                                 _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), _mm256_load_si256(weight)));
        second = _mm256_add_epi32(
            second, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), _mm256_load_si256(weight + 1)));
    }
    const __m256 low = _mm256_set1_ps(how.low), high = _mm256_set1_ps(how.high);
    const __m256 x = requantized(first, block.offset, block.factor, low, high);
    const __m256 y = requantized(second, block.offset + 8, block.factor + 8, low, high);
    if (how.toFloat) {
        // x contains channels 0-3 and 8-11, y 4-7 and 12-15.
        float* out = static_cast<float*>(output) + at;
        _mm256_storeu_ps(out, _mm256_permute2f128_ps(x, y, 0x20));
        _mm256_storeu_ps(out + 8, _mm256_permute2f128_ps(x, y, 0x31));
        return;
    }
    const __m256i shift = _mm256_set1_epi32(static_cast<int>(how.shift));
    // Packing reverses the interleaving.
    const __m256i words = _mm256_packs_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(x), shift),
                                             _mm256_add_epi32(_mm256_cvtps_epi32(y), shift));
    const __m128i codes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(static_cast<std::uint8_t*>(output) + at), codes);
}

template <std::size_t Pairs>
QUANTLOUPE_AVX2 void pixelBlocks(const std::uint8_t* const* taps, const std::vector<std::size_t>& channels,
                                 Block block, const Requantization& how, void* output, std::size_t at) {
    for (const std::size_t channel : channels) {
        pixel<Pairs>(taps, channel, block, how, output, at + channel);
        block.weight += block.pairs * 2 * kBlock;
        block.offset += kBlock;
        block.factor += kBlock;
    }
}

#endif

}  // namespace

IntegerDepthwise::IntegerDepthwise(std::span<const std::int8_t> weight, std::size_t channels,
                                   const Window& window, std::uint8_t zero, Requantization requantization)
    : m_channels(channels),
      m_taps(static_cast<std::size_t>(window.kernel[0] * window.kernel[1])),
      m_window(window),
      m_zeros(channels, zero),
      m_requantization(std::move(requantization)) {
    for (std::size_t channel = 0; channel < channels; channel += kBlock)
        m_blocks.push_back(std::min(channel, channels - kBlock));
    for (const std::size_t first : m_blocks) {
        for (std::size_t t = 0; t < m_taps; t += 2)
            for (const std::size_t lane : kLaneOrder)
                for (const std::size_t tap : {t, t + 1})
                    m_weight.push_back(tap < m_taps ? weight[tap * channels + first + lane]
                                                    : std::int16_t{0});
        for (const std::size_t lane : kLaneOrder) {
            m_offset.push_back(m_requantization.offset[first + lane]);
            m_factor.push_back(m_requantization.factor[first + lane]);
        }
    }
}

void IntegerDepthwise::run(const std::uint8_t* image, std::int64_t height, std::int64_t width,
                           void* output) const {
#if defined(__x86_64__)
    const Window& w = m_window;
    const std::size_t pairs = (m_taps + 1) / 2;
    std::vector<const std::uint8_t*> taps(2 * pairs, m_zeros.data());
    const Block block{m_weight.data(), m_offset.data(), m_factor.data(), pairs};
    std::size_t at = 0;
    for (std::int64_t row = 0; row < w.output[0]; ++row)
        for (std::int64_t column = 0; column < w.output[1]; ++column) {
            std::size_t t = 0;
            for (std::int64_t i = 0; i < w.kernel[0]; ++i) {
                const std::int64_t y = row * w.strides[0] - w.padBegin[0] + i * w.dilations[0];
                for (std::int64_t j = 0; j < w.kernel[1]; ++j, ++t) {
                    const std::int64_t x = column * w.strides[1] - w.padBegin[1] + j * w.dilations[1];
                    const bool inside = y >= 0 && y < height && x >= 0 && x < width;
                    taps[t] = inside ? image + static_cast<std::size_t>(y * width + x) * m_channels
                                     : m_zeros.data();
                }
            }
            (pairs == 5 ? pixelBlocks<5> : pixelBlocks<0>)(taps.data(), m_blocks, block, m_requantization,
                                                           output, at);
            at += m_channels;
        }
#else
    static_cast<void>(image), static_cast<void>(height), static_cast<void>(width), static_cast<void>(output);
#endif
}

}  // namespace quantloupe
