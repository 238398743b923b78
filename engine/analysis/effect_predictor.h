// SPDX-License-Identifier: Apache-2.0
#pragma once
// Foretells what an edit will do to the metric, with an interval, and knows when it may be believed.
//
// Prediction: linear in the features, without an intercept (no features, no effect; pass a feature of 1 for one), by
// ridge regression over all observations. The ridge is each feature's mean square, as if one more observation of that
// size had shown no effect: it does not depend on the features' units and fades as observations come in.
//
// Interval, 80 %: conformal, from past residuals. An observation is predicted *before* it is learned from
// (prequentially: A. P. Dawid, 1984), and its residual is divided by the size of edit it was made at,
// |prediction| + mean |measured change so far|, since large edits miss by more. The interval's ends are quantiles of the
// last kWindow such residuals, ranks floor and ceil of (n + 1) a/2 and (n + 1) (1 - a/2) (V. Vovk et al., "Algorithmic
// Learning in a Random World", 2005). Residuals of a model that still learns are no fair sample of those to come: a is
// steered so that in the long run 20 % lie outside, a += g (0.2 - missed) (I. Gibbs, E. Candes, "Adaptive conformal
// inference under distribution shift", 2021).
//
// Trust: over the last kWindow foretold observations, at least kFewest of them, Spearman's correlation of median and
// measured change is at least 0.8, and the finite intervals, at least kFewest / 2, covered 80 % up to chance (two
// standard errors), but no less than 65 %. Covering more is no reason for distrust: the interval is wide, not wrong.
//
// Deterministic: the same observations in the same order give the same bits. A prediction costs microseconds.
// Weaknesses: effects that do not add up (two layers that make up for each other) are beyond a linear model; the
// interval holds on average over edits of the kind seen, not for one particular edit.

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace quantloupe {

struct PredictedEffect {
    double median = 0;           ///< in the unit of the measured changes
    double low = 0, high = 0;    ///< 80 % interval; infinite to a side for which there are too few residuals
    bool trusted = false;        ///< show it only then
};

class EffectPredictor {
  public:
    static constexpr std::size_t kWindow = 100;
    static constexpr std::size_t kFewest = 20;

    /// `features`: how many an edit has, a handful (the cost of a prediction is cubic). Throws Error for none.
    explicit EffectPredictor(std::size_t features);

    /// An edit of these features changed the metric by `change`. Ignored unless all numbers are finite. Throws Error for
    /// another number of features.
    void observe(std::span<const double> features, double change);
    /// Features that are not finite give 0, infinitely wide, not trusted. Throws Error for another number of features.
    PredictedEffect predict(std::span<const double> features) const;

    std::size_t observations() const { return m_observations; }
    /// What trust is decided by, over the last foretold observations; empty where undefined.
    std::optional<double> rankCorrelation() const;
    std::optional<double> coverage() const;  ///< of the finite intervals, 0 to 1
    bool trusted() const;

  private:
    struct PastPrediction {
        double median, change;
        double residual;  ///< divided by the size of the edit
        bool bounded;  ///< the interval was finite to both sides
        bool covered;
    };

    double line(std::span<const double> features) const;
    double sizeOf(double prediction) const;

    std::size_t m_features, m_observations = 0;
    std::vector<double> m_gram;     // sum of x x', row-major
    std::vector<double> m_product;  // sum of x y
    double m_absoluteChanges = 0;
    double m_outside;  // a: the share of residuals to leave outside, steered
    std::deque<PastPrediction> m_pastPredictions;
};

}  // namespace quantloupe
