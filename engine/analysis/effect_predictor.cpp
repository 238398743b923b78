// SPDX-License-Identifier: Apache-2.0
#include "analysis/effect_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/rank_correlation.h"
#include "base/error.h"

namespace quantloupe {
namespace {

constexpr double kOutside = 0.2;         // an 80 % interval
constexpr double kSteering = 0.05;       // g; larger values react faster but fluctuate more
constexpr double kFewestOutside = 0.02;  // lower limit of a
constexpr double kMaxOutside = 0.6;
constexpr double kTrustedCorrelation = 0.8;
constexpr double kLeastCoverage = 0.65;

bool allFinite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// Solves a x = b for a symmetric positive definite a (row-major, overwritten) by Cholesky decomposition.
/// Rows of zeros (features that were never observed) give 0.
std::vector<double> solve(std::vector<double>& a, std::vector<double> x) {
    const std::size_t n = x.size();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
            if (i == j)
                a[i * n + i] = sum > 0 ? std::sqrt(sum) : 0;
            else
                a[i * n + j] = a[j * n + j] == 0 ? 0 : sum / a[j * n + j];
        }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) x[i] -= a[i * n + k] * x[k];
        x[i] = a[i * n + i] == 0 ? 0 : x[i] / a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[k * n + i] * x[k];
        x[i] = a[i * n + i] == 0 ? 0 : x[i] / a[i * n + i];
    }
    return x;
}

}  // namespace

EffectPredictor::EffectPredictor(std::size_t features)
    : m_features(features), m_gram(features * features), m_product(features), m_outside(kOutside) {
    if (features == 0) fail(ErrorKind::Internal, "an effect predictor needs at least one feature");
}

double EffectPredictor::linearPrediction(std::span<const double> features) const {
    if (m_observations == 0) return 0;
    std::vector<double> gram = m_gram;
    for (std::size_t i = 0; i < m_features; ++i)
        gram[i * m_features + i] *= 1 + 1 / static_cast<double>(m_observations);
    const std::vector<double> weights = solve(gram, m_product);
    return std::inner_product(weights.begin(), weights.end(), features.begin(), 0.0);
}

double EffectPredictor::sizeOf(double prediction) const {
    if (m_observations == 0) return std::fabs(prediction);
    return std::fabs(prediction) + m_absoluteChanges / static_cast<double>(m_observations);
}

PredictedEffect EffectPredictor::predict(std::span<const double> features) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (features.size() != m_features)
        fail(ErrorKind::Internal, "{} features instead of {}", features.size(), m_features);
    PredictedEffect effect{0, -infinity, infinity, false};
    if (!allFinite(features)) return effect;
    effect.median = linearPrediction(features);

    std::vector<double> residuals;
    for (const PastPrediction& past : m_pastPredictions) residuals.push_back(past.residual);
    std::sort(residuals.begin(), residuals.end());
    const auto n = static_cast<double>(residuals.size());
    const double size = sizeOf(effect.median);
    const double lowRank = std::floor((n + 1) * m_outside / 2),
                 highRank = std::ceil((n + 1) * (1 - m_outside / 2));
    if (lowRank >= 1) effect.low = effect.median + size * residuals[static_cast<std::size_t>(lowRank) - 1];
    if (highRank <= n) effect.high = effect.median + size * residuals[static_cast<std::size_t>(highRank) - 1];
    // If most residuals have the same sign, the interval may not contain the linear prediction; clamp the
    // median.
    effect.median = std::clamp(effect.median, effect.low, effect.high);
    effect.trusted = trusted();
    return effect;
}

void EffectPredictor::observe(std::span<const double> features, double change) {
    const PredictedEffect predicted = predict(features);
    if (!allFinite(features) || !std::isfinite(change)) return;
    // The first predictions are ignored because nothing has been learned yet.
    if (m_observations > m_features) {
        const double expected = linearPrediction(features), size = sizeOf(expected);
        const bool bounded = std::isfinite(predicted.low) && std::isfinite(predicted.high);
        const bool covered = predicted.low <= change && change <= predicted.high;
        m_pastPredictions.push_back(
            {predicted.median, change, size == 0 ? 0 : (change - expected) / size, bounded, covered});
        if (m_pastPredictions.size() > kWindow) m_pastPredictions.pop_front();
        if (bounded)
            m_outside = std::clamp(m_outside + kSteering * (kOutside - (covered ? 0 : 1)), kFewestOutside,
                                   kMaxOutside);
    }
    for (std::size_t i = 0; i < m_features; ++i) {
        for (std::size_t j = 0; j < m_features; ++j) m_gram[i * m_features + j] += features[i] * features[j];
        m_product[i] += features[i] * change;
    }
    m_absoluteChanges += std::fabs(change);
    ++m_observations;
}

std::optional<double> EffectPredictor::rankCorrelation() const {
    std::vector<double> medians, changes;
    for (const PastPrediction& past : m_pastPredictions) {
        medians.push_back(past.median);
        changes.push_back(past.change);
    }
    return spearman(medians, changes);
}

std::optional<double> EffectPredictor::coverage() const {
    std::size_t bounded = 0, covered = 0;
    for (const PastPrediction& past : m_pastPredictions) {
        if (past.bounded) ++bounded;
        if (past.bounded && past.covered) ++covered;
    }
    if (bounded == 0) return std::nullopt;
    return static_cast<double>(covered) / static_cast<double>(bounded);
}

bool EffectPredictor::trusted() const {
    const auto bounded = std::count_if(m_pastPredictions.begin(), m_pastPredictions.end(),
                                       [](const PastPrediction& f) { return f.bounded; });
    if (m_pastPredictions.size() < kFewest || static_cast<std::size_t>(bounded) < kFewest / 2) return false;
    const double error = std::sqrt(kOutside * (1 - kOutside) / static_cast<double>(bounded));
    return rankCorrelation().value_or(0) >= kTrustedCorrelation &&
           coverage().value_or(0) >= std::max(kLeastCoverage, 1 - kOutside - 2 * error);
}

}  // namespace quantloupe
