// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts, over the samples, which power of two is best for each sample (power_of_two_min_mse, mode
// MostCommon).

#include <mutex>
#include <span>

#include "quantize/calibration/calibration_method.h"

namespace quantloupe {

/// Returns the one of the five symmetric candidates around the base position of these values that has the
/// smallest sum of squared errors on the values; 0 if there are none.
int bestPosition(std::span<const float> values, int bits);

/// add() may be called from any thread and in any order.
class VoteCounter {
  public:
    void add(int bits, std::span<const float> values);
    const PositionVotes& of(int bits) { return m_votes[bits]; }

  private:
    std::mutex m_mutex;
    std::map<int, PositionVotes> m_votes;
};

}  // namespace quantloupe
