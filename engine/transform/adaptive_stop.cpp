// SPDX-License-Identifier: Apache-2.0
#include "transform/adaptive_stop.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace quantloupe {

bool AdaptiveStop::after(double change) {
    if (!(change > m_threshold)) return true;  // also true for NaN
    m_alike = std::fabs(change - m_previous) <= 1e-9 ? m_alike + 1 : 0;
    m_previous = change;
    return m_alike >= 20;
}

std::string notConvergedNotice(int passes) {
    return fmt::format(
        "equalization was stopped after {} passes: the weights still change by more than "
        "total_layer_diff_threshold in each pass",
        passes);
}

void keepWeights(const WeightEditor& editor, std::vector<std::vector<float>>& kept) {
    kept.resize(editor.layers().size());
    std::size_t i = 0;
    for (const auto& [id, layer] : editor.layers())
        kept[i++].assign(layer.weight.begin(), layer.weight.end());
}

double changeSince(const std::vector<std::vector<float>>& before, const WeightEditor& editor) {
    double total = 0;
    std::size_t i = 0;
    for (const auto& [id, layer] : editor.layers()) {
        const std::vector<float>& old = before[i++];
        constexpr std::size_t kLanes = 8;  // independent sums, which can be computed in parallel
        double sums[kLanes] = {};
        std::size_t w = 0;
        for (; w + kLanes <= old.size(); w += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                sums[lane] += static_cast<double>(std::fabs(layer.weight[w + lane] - old[w + lane]));
        for (; w < old.size(); ++w) sums[0] += static_cast<double>(std::fabs(layer.weight[w] - old[w]));
        const double sum = std::accumulate(std::begin(sums), std::end(sums), 0.0);
        if (!old.empty()) total += sum / static_cast<double>(old.size());
    }
    return total;
}

}  // namespace quantloupe
