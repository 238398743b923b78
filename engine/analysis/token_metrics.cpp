// SPDX-License-Identifier: Apache-2.0
#include "analysis/token_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/task_metrics.h"
#include "base/error.h"
#include "runtime/ordered/ordered_rows.h"

namespace quantloupe {
namespace {

/// The scores of one token after the other.
class TokenScores {
  public:
    TokenScores(const SampleOutput& output, const TokenLayout& layout) : m_output(output), m_layout(layout) {}

    /// Valid until the next call.
    std::span<const float> of(std::size_t token) {
        if (!m_layout.classesFirst)
            return m_output.values.subspan(token * m_layout.classes, m_layout.classes);
        m_gathered.resize(m_layout.classes);
        for (std::size_t c = 0; c < m_layout.classes; ++c)
            m_gathered[c] = m_output.values[c * m_layout.tokens + token];
        return m_gathered;
    }

  private:
    SampleOutput m_output;
    TokenLayout m_layout;
    std::vector<float> m_gathered;
};

/// `probabilities` is memory for as many values as there are scores. Softmax is fast, and the same on every
/// processor; the probability of the largest score does not vanish, unlike that of the label.
double crossEntropy(std::span<const float> scores, std::int32_t best, std::size_t label,
                    float* probabilities) {
    if (best == kNoClass) return std::numeric_limits<double>::quiet_NaN();
    const auto largest = static_cast<std::size_t>(best);
    orderedSoftmax(scores.data(), probabilities, scores.size());
    return static_cast<double>(scores[largest]) - static_cast<double>(scores[label]) -
           std::log(static_cast<double>(probabilities[largest]));
}

}  // namespace

std::optional<TokenLayout> tokenLayout(Dims dims, std::size_t tokens) {
    while (dims.size() > 2 && dims.front() == 1) dims.erase(dims.begin());
    if (dims.size() != 2) return std::nullopt;
    const auto first = static_cast<std::size_t>(dims[0]), last = static_cast<std::size_t>(dims[1]);
    if (first == tokens && last > 1) return TokenLayout{tokens, last, false};
    if (last == tokens && first > 1) return TokenLayout{tokens, first, true};
    return std::nullopt;
}

bool areProbabilities(const SampleOutput& output, const TokenLayout& layout) {
    constexpr double kTolerance = 1e-3;
    TokenScores scores(output, layout);
    for (std::size_t t = 0; t < layout.tokens; ++t) {
        double sum = 0;
        for (const float score : scores.of(t)) {
            if (!(score >= 0 && score <= 1 + kTolerance)) return false;
            sum += static_cast<double>(score);
        }
        if (std::abs(sum - 1) > kTolerance) return false;
    }
    return true;
}

std::size_t TokenCounts::equal(const std::vector<std::int32_t>& other) const {
    std::size_t count = 0;
    for (std::size_t t = 0; t < std::min(predicted.size(), other.size()); ++t)
        count += predicted[t] == other[t];
    return count;
}

TokenCounts countTokens(const SampleOutput& output, const TokenLayout& layout,
                        std::span<const std::int32_t> labels) {
    if (labels.size() != layout.tokens)
        failInput("there are {} labels, but the output contains scores for {} tokens", labels.size(),
                  layout.tokens);
    TokenCounts counts;
    TokenScores scores(output, layout);
    std::vector<float> probabilities(layout.classes);
    for (std::size_t t = 0; t < layout.tokens; ++t) {
        if (labels[t] < 0) continue;
        const auto label = static_cast<std::size_t>(labels[t]);
        if (label >= layout.classes)
            failInput("the label {} is not one of the network's {} classes; negative labels are ignored",
                      label, layout.classes);
        const std::span<const float> row = scores.of(t);
        counts.labels.push_back(labels[t]);
        counts.predicted.push_back(judge(row.data(), row.size(), std::nullopt).predicted);
        counts.loss += crossEntropy(row, counts.predicted.back(), label, probabilities.data());
    }
    return counts;
}

void TokenTotals::add(const TokenCounts& counts) {
    tokens += counts.labels.size();
    right += counts.equal(counts.labels);
    loss += counts.loss;
}

void TokenTotals::subtract(const TokenCounts& counts) {
    tokens -= counts.labels.size();
    right -= counts.equal(counts.labels);
    loss -= counts.loss;
}

std::optional<double> TokenTotals::accuracy() const {
    if (tokens == 0) return std::nullopt;
    return static_cast<double>(right) / static_cast<double>(tokens);
}

std::optional<double> TokenTotals::perplexity() const {
    if (tokens == 0) return std::nullopt;
    return std::exp(loss / static_cast<double>(tokens));
}

}  // namespace quantloupe
