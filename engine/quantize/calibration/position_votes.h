// SPDX-License-Identifier: Apache-2.0
#pragma once
// The power of two that suits each single sample best (power_of_two_min_mse, mode MostCommon), counted.

#include <mutex>
#include <span>

#include "quantize/calibration/calibration_method.h"

namespace quantloupe {

/// Of the five candidates around the base position of these values, symmetric, the one with the smallest sum of squared errors on the
/// values themselves; 0 where all are 0.
int bestPosition(std::span<const float> values, int bits);

/// add() may come from any thread and in any order.
class VoteCounter {
  public:
    void add(int bits, std::span<const float> values);
    const PositionVotes& of(int bits) { return m_votes[bits]; }

  private:
    std::mutex m_mutex;
    std::map<int, PositionVotes> m_votes;
};

}  // namespace quantloupe
