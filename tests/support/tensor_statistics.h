// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calibration statistics of values in memory, one tensor per sample.

#include <algorithm>
#include <span>
#include <vector>

#include "quantize/calibration/calibration_method.h"

namespace quantloupe::test {

inline TensorStatistics statisticsOf(const std::vector<std::vector<float>>& samples) {
    TensorStatistics statistics;
    bool first = true;
    for (const auto& values : samples) {
        const auto [low, high] = std::ranges::minmax(values);
        statistics.min = first ? low : std::min(statistics.min, low);
        statistics.max = first ? high : std::max(statistics.max, high);
        if (statistics.firstMin == 0 && statistics.firstMax == 0) {
            statistics.firstMin = low;
            statistics.firstMax = high;
        }
        statistics.history.add(low, high);
        statistics.count += values.size();
        first = false;
    }
    DistributionGatherer gatherer(statistics.min, statistics.max, statistics.firstMin, statistics.firstMax,
                                  statistics.count);
    for (const auto& values : samples) gatherer.add(values);
    statistics.distribution = std::make_shared<const ValueDistribution>(gatherer.finish());
    return statistics;
}

inline TensorStatistics statisticsOf(const std::vector<float>& values) {
    return statisticsOf(std::vector<std::vector<float>>{values});
}

}  // namespace quantloupe::test
