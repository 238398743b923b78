// SPDX-License-Identifier: Apache-2.0
#include "analysis/detections.h"

#include <algorithm>
#include <map>

namespace quantloupe {

double overlapOf(const Detection& a, const Detection& b) {
    const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
    const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
    if (width <= 0 || height <= 0) return 0;
    const double both = width * height;
    return both / (a.width * a.height + b.width * b.height - both);
}

std::vector<Detection> suppressed(std::vector<Detection> detections, double limit, std::size_t most) {
    constexpr std::size_t kConsidered = 30000;
    std::stable_sort(detections.begin(), detections.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
    if (detections.size() > kConsidered) detections.resize(kConsidered);
    std::vector<Detection> kept;
    std::map<std::int32_t, std::vector<std::size_t>> keptOfClass;
    for (const Detection& detection : detections) {
        if (kept.size() == most) break;
        std::vector<std::size_t>& rivals = keptOfClass[detection.category];
        if (std::any_of(rivals.begin(), rivals.end(),
                        [&](std::size_t rival) { return overlapOf(kept[rival], detection) > limit; }))
            continue;
        rivals.push_back(kept.size());
        kept.push_back(detection);
    }
    return kept;
}

}  // namespace quantloupe
