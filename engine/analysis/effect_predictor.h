// SPDX-License-Identifier: Apache-2.0
#pragma once
// Predicts the effect of an edit on the metric, with an interval, and decides whether the prediction can be
// trusted.
//
// Prediction: linear in the features, by ridge regression over all observations. There is no intercept, so no
// features mean no effect; pass a constant feature of 1 to get one. The ridge is each feature's mean square,
// as if one more observation of that size had shown no effect. It does not depend on the units of the
// features, and fades as observations come in.
//
// Interval, 80 %: conformal, from past residuals. An observation is predicted *before* it is learned from
// (prequentially: A. P. Dawid, 1984), and its residual is divided by the size of edit it was made at,
// |prediction| + mean |measured change so far|, because large edits have larger errors. The interval's ends
// are quantiles of the last kWindow such residuals, ranks floor and ceil of (n + 1) a/2 and (n + 1) (1 - a/2)
// (V. Vovk et al., "Algorithmic Learning in a Random World", 2005). The residuals of a model that is still
// learning are not representative of future ones, so a is adapted such that in the long run 20 % lie outside,
// a += g (0.2 - missed) (I. Gibbs, E. Candes, "Adaptive conformal inference under distribution shift", 2021).
//
// Trust: over the last kWindow predicted observations (at least kFewest), Spearman's correlation of median
// and measured change must be at least 0.8, and the finite intervals (at least kFewest / 2) must have covered
// 80 % of the changes within two standard errors, but no less than 65 %. Higher coverage does not reduce
// trust: the interval is wide, not wrong.
//
// Deterministic: the same observations in the same order give the same bits. A prediction costs microseconds.
// Weaknesses: a linear model cannot represent effects that do not add up (two layers whose errors compensate
// each other). The interval is valid on average over edits of the kind seen, not for one particular edit.

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace quantloupe {

struct PredictedEffect {
    double median = 0;         ///< in the unit of the measured changes
    double low = 0, high = 0;  ///< 80 % interval; a bound is infinite if there are too few residuals
    bool trusted = false;      ///< show the prediction only if true
};

class EffectPredictor {
  public:
    static constexpr std::size_t kWindow = 100;
    static constexpr std::size_t kFewest = 20;

    /// `features` is the number of features of an edit. The cost of a prediction is cubic in it. Throws Error
    /// if it is 0.
    explicit EffectPredictor(std::size_t features);

    /// Learns that an edit with these features changed the metric by `change`. Ignored unless all numbers are
    /// finite. Throws Error for a different number of features.
    void observe(std::span<const double> features, double change);
    /// Predicts the effect of an edit. If a feature is not finite, returns 0 with an infinite interval, not
    /// trusted. Throws Error for a different number of features.
    PredictedEffect predict(std::span<const double> features) const;

    std::size_t observations() const { return m_observations; }
    /// The criteria of trusted(), over the last predicted observations; empty if undefined.
    std::optional<double> rankCorrelation() const;
    std::optional<double> coverage() const;  ///< of the finite intervals, 0 to 1
    bool trusted() const;

  private:
    struct PastPrediction {
        double median, change;
        double residual;  ///< divided by the size of the edit
        bool bounded;     ///< the interval was finite
        bool covered;
    };

    double linearPrediction(std::span<const double> features) const;
    double sizeOf(double prediction) const;

    std::size_t m_features, m_observations = 0;
    std::vector<double> m_gram;     // sum of x x', row-major
    std::vector<double> m_product;  // sum of x y
    double m_absoluteChanges = 0;
    double m_outside;  // a: adapted share of residuals to leave outside
    std::deque<PastPrediction> m_pastPredictions;
};

}  // namespace quantloupe
