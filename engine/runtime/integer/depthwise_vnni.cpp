// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/depthwise_vnni.h"

#include <algorithm>
#include <array>

#include "runtime/instruction_sets.h"

#if defined(__x86_64__)
#include "runtime/integer/vnni_intrinsics.h"
#endif

namespace quantloupe {
namespace {

/// Unpacking interleaves within quarters of a register: channel of the lane i of the vector v, v * 16 + i.
constexpr std::size_t channelOf(std::size_t lane) {
    const std::size_t vector = lane / 16, quarter = lane % 16 / 4;
    return quarter * 16 + vector * 4 + lane % 4;
}

}  // namespace

bool DepthwiseVnni::available() { return instructionSets().avx512Vnni; }

DepthwiseVnni::DepthwiseVnni(std::span<const std::int8_t> weight, std::size_t channels, const Window& window,
                             std::uint8_t zero, const Requantization& how)
    : m_channels(channels),
      m_window(window),
      m_zero(zero),
      m_columns(static_cast<std::size_t>((window.output[1] - 1) * window.strides[1] +
                                         (window.kernel[1] - 1) * window.dilations[1] + 1)),
      m_groups(static_cast<std::size_t>(window.kernel[0] + 3) / 4),
      m_low(how.low),
      m_high(how.high),
      m_shift(static_cast<std::int16_t>(how.shift)),
      m_toFloat(how.toFloat),
      m_saturating(how.clampSaturates()) {
    const auto rows = static_cast<std::size_t>(window.kernel[0]),
               width = static_cast<std::size_t>(window.kernel[1]);
    for (std::size_t first = 0; first < channels; first += kBlock) {
        for (std::size_t column = 0; column < width; ++column)
            for (std::size_t group = 0; group < m_groups; ++group)
                for (std::size_t lane = 0; lane < kBlock; ++lane)
                    for (std::size_t row = group * 4; row < group * 4 + 4; ++row) {
                        const std::size_t channel = first + channelOf(lane);
                        m_weight.push_back(row < rows && channel < channels
                                               ? weight[(row * width + column) * channels + channel]
                                               : std::int8_t{0});
                    }
        for (std::size_t lane = 0; lane < kBlock; ++lane) {
            const std::size_t channel = first + channelOf(lane);
            m_offset.push_back(channel < channels ? how.offset[channel] : 0);
            m_factor.push_back(channel < channels ? how.factor[channel] : 0.0f);
        }
    }
}

#if defined(__x86_64__)

/// Stores the codes under one line of windows as [column][group][64 channels][4 rows], starting from
/// `channel`.
QUANTLOUPE_VNNI void DepthwiseVnni::interleave(const std::uint8_t* image, std::int64_t height,
                                               std::int64_t width, std::int64_t row, std::size_t channel,
                                               std::uint8_t* columns) const {
    const Window& w = m_window;
    const std::size_t count = std::min(kBlock, m_channels - channel);
    const __mmask64 mask = count == kBlock ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
    const __m512i zeros = _mm512_set1_epi8(static_cast<char>(m_zero));
    for (std::size_t group = 0; group < m_groups; ++group) {
        std::array<const std::uint8_t*, 4> lines{};
        for (std::size_t i = 0; i < 4; ++i) {
            const auto tap = static_cast<std::int64_t>(group * 4 + i);
            const std::int64_t y = row * w.strides[0] - w.padBegin[0] + tap * w.dilations[0];
            if (tap < w.kernel[0] && y >= 0 && y < height)
                lines[i] = image + static_cast<std::size_t>(y * width) * m_channels + channel;
        }
        for (std::size_t column = 0; column < m_columns; ++column) {
            const std::int64_t x = static_cast<std::int64_t>(column) - w.padBegin[1];
            __m512i* to = reinterpret_cast<__m512i*>(columns + (column * m_groups + group) * kGroupBytes);
            if (x < 0 || x >= width) {
                for (std::size_t i = 0; i < 4; ++i) _mm512_store_si512(to + i, zeros);
                continue;
            }
            const std::size_t at = static_cast<std::size_t>(x) * m_channels;
            const auto load = [&](std::size_t i) QUANTLOUPE_VNNI {
                return lines[i] == nullptr ? zeros : _mm512_maskz_loadu_epi8(mask, lines[i] + at);
            };
            const __m512i a = load(0), b = load(1), c = load(2), d = load(3);
            const __m512i firstLow = _mm512_unpacklo_epi8(a, b), firstHigh = _mm512_unpackhi_epi8(a, b),
                          lastLow = _mm512_unpacklo_epi8(c, d), lastHigh = _mm512_unpackhi_epi8(c, d);
            _mm512_store_si512(to, _mm512_unpacklo_epi16(firstLow, lastLow));
            _mm512_store_si512(to + 1, _mm512_unpackhi_epi16(firstLow, lastLow));
            _mm512_store_si512(to + 2, _mm512_unpacklo_epi16(firstHigh, lastHigh));
            _mm512_store_si512(to + 3, _mm512_unpackhi_epi16(firstHigh, lastHigh));
        }
    }
}

/// One line of outputs of one block. Small: the kernel is 3 columns wide and at most 4 rows high.
template <bool Small>
QUANTLOUPE_VNNI void DepthwiseVnni::pixels(std::size_t block, const std::uint8_t* columns,
                                           std::byte* output) const {
    const Window& w = m_window;
    const std::size_t taps = Small ? 3 : static_cast<std::size_t>(w.kernel[1]) * m_groups,
                      channel = block * kBlock;
    const std::int8_t* weight = m_weight.data() + block * taps * kGroupBytes;
    const std::size_t count = std::min(kBlock, m_channels - channel);
    const __mmask64 mask = count == kBlock ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
    const __m512 low = _mm512_set1_ps(m_low), high = _mm512_set1_ps(m_high);
    const __m512i shift = _mm512_set1_epi16(m_shift);
    const std::size_t element = m_toFloat ? sizeof(float) : 1, groups = Small ? 1 : m_groups,
                      dilation = static_cast<std::size_t>(w.dilations[1]);
    output += channel * element;
    for (std::int64_t x = 0; x < w.output[1]; ++x, output += m_channels * element) {
        const std::uint8_t* from =
            columns + static_cast<std::size_t>(x * w.strides[1]) * groups * kGroupBytes;
        __m512i sums[4];
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) sums[i] = _mm512_load_si512(m_offset.data() + channel + i * 16);
#pragma GCC unroll 3
        for (std::size_t tap = 0; tap < taps; ++tap) {
            const std::uint8_t* codes =
                from + (tap / groups * dilation * groups + tap % groups) * kGroupBytes;
#pragma GCC unroll 4
            for (std::size_t i = 0; i < 4; ++i)
                sums[i] = _mm512_dpbusd_epi32(sums[i], _mm512_load_si512(codes + i * 64),
                                              _mm512_load_si512(weight + tap * kGroupBytes + i * 64));
        }
        __m512 values[4];
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) {
            values[i] = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[i]),
                                      _mm512_load_ps(m_factor.data() + channel + i * 16));
            if (!m_saturating) values[i] = _mm512_min_ps(_mm512_max_ps(values[i], low), high);
        }
        if (m_toFloat) {
            alignas(64) std::array<float, kBlock> results;
            for (std::size_t i = 0; i < 4; ++i) _mm512_store_ps(results.data() + i * 16, values[i]);
            for (std::size_t lane = 0; lane < kBlock; ++lane)
                if (channelOf(lane) < count)
                    reinterpret_cast<float*>(output)[channelOf(lane)] = results[lane];
            continue;
        }
        // Packing reverses the interleaving.
        const auto words = [&](std::size_t i) QUANTLOUPE_VNNI {
            return _mm512_adds_epi16(
                _mm512_packs_epi32(_mm512_cvtps_epi32(values[i]), _mm512_cvtps_epi32(values[i + 1])), shift);
        };
        _mm512_mask_storeu_epi8(output, mask, _mm512_packus_epi16(words(0), words(2)));
    }
}

void DepthwiseVnni::run(const std::uint8_t* image, std::int64_t height, std::int64_t width, void* output,
                        std::uint8_t* scratch) const {
    const bool small = m_groups == 1 && m_window.kernel[1] == 3;
    const std::size_t lineBytes =
        static_cast<std::size_t>(m_window.output[1]) * m_channels * (m_toFloat ? sizeof(float) : 1);
    for (std::int64_t row = 0; row < m_window.output[0]; ++row) {
        std::byte* line = static_cast<std::byte*>(output) + static_cast<std::size_t>(row) * lineBytes;
        for (std::size_t block = 0; block * kBlock < m_channels; ++block) {
            interleave(image, height, width, row, block * kBlock, scratch);
            small ? pixels<true>(block, scratch, line) : pixels<false>(block, scratch, line);
        }
    }
}

#else

void DepthwiseVnni::run(const std::uint8_t*, std::int64_t, std::int64_t, void*, std::uint8_t*) const {}

#endif

}  // namespace quantloupe
