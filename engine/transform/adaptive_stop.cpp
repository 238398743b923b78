// SPDX-License-Identifier: Apache-2.0
#include "transform/adaptive_stop.h"

#include <cmath>

namespace quantloupe {

bool AdaptiveStop::after(double change) {
    if (!(change > m_threshold)) return true;  // also where it is no number
    m_alike = std::fabs(change - m_previous) <= 1e-9 ? m_alike + 1 : 0;
    m_previous = change;
    return m_alike >= 20;
}

std::vector<std::vector<float>> weightsOf(const WeightEditor& editor) {
    std::vector<std::vector<float>> weights;
    for (const auto& [id, layer] : editor.layers()) weights.push_back(layer.weight);
    return weights;
}

double changeSince(const std::vector<std::vector<float>>& before, const WeightEditor& editor) {
    double total = 0;
    std::size_t i = 0;
    for (const auto& [id, layer] : editor.layers()) {
        const std::vector<float>& old = before[i++];
        double sum = 0;
        for (std::size_t w = 0; w < old.size(); ++w) sum += static_cast<double>(std::fabs(layer.weight[w] - old[w]));
        if (!old.empty()) total += sum / static_cast<double>(old.size());
    }
    return total;
}

}  // namespace quantloupe
