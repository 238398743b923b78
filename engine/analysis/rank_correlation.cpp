// SPDX-License-Identifier: Apache-2.0
#include "analysis/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace quantloupe {

std::vector<double> ranksOf(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
        const double shared = static_cast<double>(begin + end + 1) / 2;  // mean of the ranks begin + 1 to end
        for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
    }
    return ranks;
}

std::optional<double> spearman(std::span<const double> first, std::span<const double> second) {
    if (first.size() != second.size())
        fail(ErrorKind::Internal, "{} and {} values cannot be paired", first.size(), second.size());
    const auto isNan = [](double value) { return std::isnan(value); };
    if (first.size() < 2 || std::any_of(first.begin(), first.end(), isNan) ||
        std::any_of(second.begin(), second.end(), isNan))
        return std::nullopt;
    const std::vector<double> a = ranksOf(first), b = ranksOf(second);
    const double mean = (static_cast<double>(first.size()) + 1) / 2;
    double product = 0, squareA = 0, squareB = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        product += (a[i] - mean) * (b[i] - mean);
        squareA += (a[i] - mean) * (a[i] - mean);
        squareB += (b[i] - mean) * (b[i] - mean);
    }
    if (squareA == 0 || squareB == 0) return std::nullopt;
    return std::clamp(product / std::sqrt(squareA * squareB), -1.0, 1.0);
}

}  // namespace quantloupe
