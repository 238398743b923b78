// SPDX-License-Identifier: Apache-2.0
// Rank correlation computed by hand, and a predictor that is used only after it proves accurate.
#include "analysis/effect_predictor.h"

#include <QtTest>
#include <cmath>
#include <limits>
#include <random>

#include "analysis/rank_correlation.h"
#include "base/error.h"
#include "support/random_seed.h"

using namespace quantloupe;

namespace {

using Numbers = std::vector<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Edits with two sensitivities each; the change is 3 a - 0.5 b, off by `noise` times its size.
struct World {
    std::mt19937 random;
    double noise = 0, slope = 3;
    std::normal_distribution<double> normal;

    Numbers edit() {
        std::exponential_distribution<double> size(1);
        return {size(random), size(random)};
    }
    double change(const Numbers& edit) {
        const double exact = slope * edit[0] - 0.5 * edit[1];
        return exact + noise * std::abs(exact) * normal(random);
    }
};

}  // namespace

class EffectPredictorTest : public QObject {
    Q_OBJECT

    unsigned m_seed = 0;

  private Q_SLOTS:
    void init() { m_seed = test::randomSeed(); }

    void ranksShareTies() {
        QCOMPARE(ranksOf(Numbers{10, 30, 20}), (Numbers{1, 3, 2}));
        QCOMPARE(ranksOf(Numbers{5, 6, 7, 8, 7}), (Numbers{1, 2, 3.5, 5, 3.5}));
        QCOMPARE(ranksOf(Numbers{4, 4, 4}), (Numbers{2, 2, 2}));
        QCOMPARE(ranksOf(Numbers{}), Numbers{});
    }

    void spearmanByHand() {
        QCOMPARE(*spearman(Numbers{1, 2, 3}, Numbers{10, 100, 1000}), 1.0);
        QCOMPARE(*spearman(Numbers{1, 2, 3}, Numbers{3, 2, 1}), -1.0);
        // Without ties 1 - 6 sum d^2 / (n (n^2 - 1)): d = 1, 1, 0, 0 -> 1 - 12 / 60.
        QVERIFY(std::abs(*spearman(Numbers{1, 2, 3, 4}, Numbers{2, 1, 3, 4}) - 0.8) < 1e-15);
        // Ranks 1 2 3.5 5 3.5: covariance 8, squares 10 and 9.5.
        QVERIFY(std::abs(*spearman(Numbers{1, 2, 3, 4, 5}, Numbers{5, 6, 7, 8, 7}) - 8 / std::sqrt(95.0)) <
                1e-15);
    }

    void spearmanUndefined() {
        QVERIFY(!spearman(Numbers{1}, Numbers{1}));
        QVERIFY(!spearman(Numbers{1, 2}, Numbers{3, 3}));
        QVERIFY(!spearman(Numbers{1, kNan}, Numbers{3, 4}));
        QVERIFY_THROWS_EXCEPTION(Error, spearman(Numbers{1, 2}, Numbers{3}));
    }

    /// One feature: w = sum x y / (sum x^2 (1 + 1 / n)).
    void ridgeRegressionByHand() {
        EffectPredictor predictor(1);
        QCOMPARE(predictor.predict(Numbers{2}).median, 0.0);
        predictor.observe(Numbers{2}, 4);  // 8 / (4 * 2) = 1
        QCOMPARE(predictor.predict(Numbers{3}).median, 3.0);
        predictor.observe(Numbers{2}, 4);  // 16 / (8 * 1.5) = 4 / 3
        QVERIFY(std::abs(predictor.predict(Numbers{3}).median - 4) < 1e-14);
        QCOMPARE(predictor.predict(Numbers{3}).high, kInfinity);
        QCOMPARE(predictor.predict(Numbers{0}).median, 0.0);
    }

    void unitsOfFeaturesDoNotMatter() {
        World world{std::mt19937(m_seed), 0.2, 3, {}};
        EffectPredictor plain(2), scaled(2);
        for (int i = 0; i < 40; ++i) {
            const Numbers edit = world.edit();
            const double change = world.change(edit);
            plain.observe(edit, change);
            scaled.observe(Numbers{edit[0] * 1024, edit[1] / 4096}, change);
        }
        const PredictedEffect one = plain.predict(Numbers{1, 1}),
                              other = scaled.predict(Numbers{1024, 1.0 / 4096});
        QVERIFY(std::abs(one.median - other.median) < 1e-9);
        QVERIFY(std::abs(one.low - other.low) < 1e-9);
        QVERIFY(std::abs(one.high - other.high) < 1e-9);
    }

    void learnsAndIsTrusted() {
        World world{std::mt19937(m_seed), 0.2, 3, {}};
        EffectPredictor predictor(2);
        for (int i = 0; i < 20; ++i) {
            QVERIFY2(!predictor.predict(Numbers{1, 1}).trusted, "too few to be trusted");
            const Numbers edit = world.edit();
            predictor.observe(edit, world.change(edit));
        }
        for (int i = 0; i < 200; ++i) {
            const Numbers edit = world.edit();
            predictor.observe(edit, world.change(edit));
        }
        const PredictedEffect effect = predictor.predict(Numbers{2, 1});
        QVERIFY(effect.trusted);
        QVERIFY(std::abs(effect.median - 5.5) < 1);
        QVERIFY(effect.low < effect.median && effect.median < effect.high);
        QVERIFY(effect.high - effect.low < 6);  // 20 % noise: 80 % lie within about 5.5 +- 1.4
    }

    /// With one prediction per change, the interval contains about 80 % of the changes, independent of the
    /// noise.
    void theIntervalHasItsNominalCoverage() {
        for (const double noise : {0.05, 0.3, 1.0}) {
            World world{std::mt19937(m_seed), noise, 3, {}};
            EffectPredictor predictor(2);
            int covered = 0, foretold = 0;
            for (int i = 0; i < 1500; ++i) {
                const Numbers edit = world.edit();
                const double change = world.change(edit);
                const PredictedEffect effect = predictor.predict(edit);
                if (std::isfinite(effect.low) && std::isfinite(effect.high)) {
                    ++foretold;
                    if (effect.low <= change && change <= effect.high) ++covered;
                }
                predictor.observe(edit, change);
            }
            const double share = double(covered) / foretold;
            QVERIFY2(foretold > 1400 && share > 0.75 && share < 0.85, qPrintable(QString::number(share)));
        }
    }

    void isNotTrustedWithoutCorrelation() {
        World world{std::mt19937(m_seed), 0, 3, {}};
        EffectPredictor predictor(2);
        for (int i = 0; i < 200; ++i) {
            // the change is independent of the edit
            predictor.observe(world.edit(), world.normal(world.random));
            QVERIFY(!predictor.trusted());
        }
        QVERIFY(predictor.coverage().value() > 0.6);  // the interval is still reliable
    }

    void trustIsLostWhenEffectsChange() {
        World world{std::mt19937(m_seed), 0.1, 3, {}};
        EffectPredictor predictor(2);
        const auto observe = [&](int edits) {
            for (int i = 0; i < edits; ++i) {
                const Numbers edit = world.edit();
                predictor.observe(edit, world.change(edit));
            }
        };
        observe(150);
        // For a few seeds, the last intervals missed by chance, and trust is lost for a while.
        for (int more = 0; more < 10 && !predictor.trusted(); ++more) observe(20);
        QVERIFY(predictor.trusted());
        world.slope = -3;
        observe(40);
        QVERIFY(!predictor.trusted());
    }

    void exactChangesAreTrusted() {
        World world{std::mt19937(m_seed), 0, 3, {}};
        EffectPredictor predictor(2);
        for (int i = 0; i < 60; ++i) {
            const Numbers edit = world.edit();
            predictor.observe(edit, world.change(edit));
        }
        QVERIFY(predictor.trusted());
    }

    void theSameEditsGiveTheSameBits() {
        EffectPredictor predictors[2] = {EffectPredictor(2), EffectPredictor(2)};
        for (EffectPredictor& predictor : predictors) {
            World world{std::mt19937(m_seed), 0.5, 3, {}};
            for (int i = 0; i < 130; ++i) {
                const Numbers edit = world.edit();
                predictor.observe(edit, world.change(edit));
            }
        }
        const PredictedEffect one = predictors[0].predict(Numbers{1, 2}),
                              other = predictors[1].predict(Numbers{1, 2});
        QVERIFY(one.median == other.median && one.low == other.low && one.high == other.high);
    }

    void oddInput() {
        EffectPredictor predictor(2);
        predictor.observe(Numbers{1, kNan}, 1);
        predictor.observe(Numbers{1, 1}, kInfinity);
        QCOMPARE(predictor.observations(), std::size_t{0});
        QCOMPARE(predictor.predict(Numbers{kInfinity, 1}).median, 0.0);
        for (int i = 0; i < 50; ++i) predictor.observe(Numbers{0, 0}, 0);  // no edit has an effect
        const PredictedEffect effect = predictor.predict(Numbers{1, 1});
        QCOMPARE(effect.median, 0.0);
        QVERIFY(!effect.trusted);
        QVERIFY_THROWS_EXCEPTION(Error, predictor.observe(Numbers{1}, 1));
        QVERIFY_THROWS_EXCEPTION(Error, predictor.predict(Numbers{1, 2, 3}));
        QVERIFY_THROWS_EXCEPTION(Error, EffectPredictor(0));
    }
};

QTEST_GUILESS_MAIN(EffectPredictorTest)
#include "effect_predictor_test.moc"
