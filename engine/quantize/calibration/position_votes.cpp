// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/position_votes.h"

#include <algorithm>

#include "quantize/calibration/power_of_two.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

QUANTLOUPE_SIMD double squaredError(std::span<const float> values, float scale, float low, float high) {
    constexpr std::size_t kSumBlock = 4096;  // blocks are summed in float32, their sums in double
    double sum = 0;
    for (std::size_t begin = 0; begin < values.size(); begin += kSumBlock) {
        float block[16] = {};
        const std::size_t end = std::min(begin + kSumBlock, values.size());
        for (std::size_t i = begin; i < end; ++i) {
            float x = values[i] / scale;
            x = x < low ? low : x;
            x = x > high ? high : x;
            const float error = values[i] - ((x + kRound) - kRound) * scale;
            block[i % 16] += error * error;
        }
        for (const float part : block) sum += static_cast<double>(part);
    }
    return sum;
}

}  // namespace

int bestPosition(std::span<const float> values, int bits) {
    if (values.empty()) return 0;
    const auto [low, high] = std::ranges::minmax(values);
    const ActivationScheme scheme{bits, true, true};
    const int base = basePosition(low, high, scheme);
    const auto largest = static_cast<float>((1 << (bits - 1)) - 1);
    int best = base - kPositionsBelow;
    double least = -1;
    for (int i = 0; i < kPositionsTried; ++i) {
        const int position = base - kPositionsBelow + i;
        const double error = squaredError(values, scaleOf(position), -largest, largest);
        if (least >= 0 && error >= least) continue;
        least = error;
        best = position;
    }
    return best;
}

void VoteCounter::add(int bits, std::span<const float> values) {
    const int position = bestPosition(values, bits);
    const std::lock_guard lock(m_mutex);
    ++m_votes[bits][position];
}

}  // namespace quantloupe
