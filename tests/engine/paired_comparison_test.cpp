// SPDX-License-Identifier: Apache-2.0
// Comparison of two configurations on the same samples: exact tests and intervals compared with integer sums.
#include "analysis/paired_comparison.h"

#include <QtTest>
#include <cmath>
#include <random>

#include "analysis/binomial.h"
#include "analysis/paired_interval.h"
#include "analysis/task_metrics.h"
#include "base/error.h"
#include "support/random_seed.h"

using namespace quantloupe;

namespace {

bool near(double value, double wanted, double tolerance) {
    if (std::abs(value - wanted) <= tolerance) return true;
    qWarning("%.15g instead of %.15g", value, wanted);
    return false;
}

/// Pascal's triangle: independent of logarithms and continued sums.
long double choose(std::size_t n, std::size_t k) {
    std::vector<long double> row(n + 1, 0);
    row[0] = 1;
    for (std::size_t i = 1; i <= n; ++i)
        for (std::size_t j = i; j > 0; --j) row[j] += row[j - 1];
    return row[k];
}

double plainUpperTail(std::size_t hits, std::size_t trials, double p) {
    long double sum = 0;
    for (std::size_t k = hits; k <= trials; ++k)
        sum += choose(trials, k) * std::pow((long double)p, (long double)k) *
               std::pow(1 - (long double)p, (long double)(trials - k));
    return double(sum);
}

/// Half of the other samples are right before and after.
PairedComparison changed(std::size_t fixed, std::size_t broken, std::size_t samples) {
    const std::size_t others = samples - fixed - broken;
    return comparePaired({others / 2, broken, fixed, others - others / 2});
}

QString text(std::size_t fixed, std::size_t broken, std::size_t samples) {
    return QString::fromStdString(describe(changed(fixed, broken, samples)));
}

}  // namespace

class PairedComparisonTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void descriptions() {
        QCOMPARE(text(5, 1, 500), QString("+0.8 points, 5 samples fixed, 1 broken: within noise"));
        QCOMPARE(text(1, 13, 500), QString("-2.4 points, 1 sample fixed, 13 broken: a real loss"));
        QCOMPARE(text(13, 1, 500), QString("+2.4 points, 13 samples fixed, 1 broken: a real gain"));
        QCOMPARE(text(3, 3, 500), QString("0.0 points, 3 samples fixed, 3 broken: within noise"));
        QCOMPARE(text(0, 0, 500), QString("no sample changed"));
        QCOMPARE(text(1, 0, 10000), QString("+0.01 points, 1 sample fixed, 0 broken: within noise"));
        QCOMPARE(QString::fromStdString(describe(changed(0, 2, 8), "row")),
                 QString("-25.0 points, 0 rows fixed, 2 broken: within noise"));
    }

    /// 6 heads or more of 7 and their mirror: 2 (7 + 1) / 2^7.
    void mcNemarByHand() {
        QCOMPARE(changed(6, 1, 100).pValue, 0.125);
        QCOMPARE(changed(1, 6, 100).pValue, 0.125);
        QCOMPARE(changed(4, 4, 100).pValue, 1.0);
        QCOMPARE(changed(6, 0, 100).pValue, 0.03125);  // the smallest significant number
        QVERIFY(changed(6, 0, 100).verdict == ChangeVerdict::Gain);
        QVERIFY(changed(5, 0, 100).verdict == ChangeVerdict::WithinNoise);
    }

    void tailsEqualExactSums() {
        for (const std::size_t trials : {1u, 2u, 7u, 30u, 60u})
            for (std::size_t hits = 0; hits <= trials + 1; ++hits)
                for (const double p : {0.001, 0.2, 0.5, 0.93}) {
                    const double wanted = plainUpperTail(hits, trials, p);
                    QVERIFY(near(binomialUpperTail(hits, trials, p), wanted, 1e-12 * wanted + 1e-15));
                }
        QCOMPARE(binomialUpperTail(3, 5, 0), 0.0);
        QCOMPARE(binomialUpperTail(3, 5, 1), 1.0);
    }

    void manyTrials() {
        // The middle of a fair million: (1 + P(X = n/2)) / 2, where P(X = n/2) = 1 / sqrt(pi n / 2) (1 - 1 /
        // (4 n)).
        const double n = 1e6, middle = (1 - 1 / (4 * n)) / std::sqrt(M_PI * n / 2);
        QVERIFY(near(binomialUpperTail(500000, 1000000, 0.5), (1 + middle) / 2, 1e-8));
    }

    void intervalOfTheDifference() {
        const PairedComparison published = comparePaired(PairedCounts{36, 12, 2, 0});
        QVERIFY(near(published.low, -0.3404, 5e-5) && near(published.high, -0.0569, 5e-5));
        const PairedComparison five = changed(5, 1, 500), mirrored = changed(1, 5, 500);
        QCOMPARE(five.difference, 0.008);
        QVERIFY(five.low < 0 && five.high > 0.008);
        QVERIFY(near(mirrored.difference, -0.008, 1e-15));
        const PairedComparison none = changed(0, 0, 100);
        QVERIFY(none.low < 0 && none.high > 0 && none.verdict == ChangeVerdict::NoChange);
        QCOMPARE(comparePaired(PairedCounts{}).high, 1.0);
    }

    /// Simulation: without a real change, at most 5 % of the comparisons report one.
    void falseAlarmsAreRare() {
        std::mt19937 random(test::randomSeed());
        std::uniform_real_distribution<double> uniform;
        int alarms = 0;
        for (int round = 0; round < 4000; ++round) {
            std::size_t fixed = 0, broken = 0;
            for (int i = 0; i < 300; ++i) {
                const double draw = uniform(random);
                if (draw < 0.04)
                    ++fixed;
                else if (draw < 0.08)
                    ++broken;
            }
            const ChangeVerdict verdict = changed(fixed, broken, 300).verdict;
            if (verdict == ChangeVerdict::Gain || verdict == ChangeVerdict::Loss) ++alarms;
        }
        QVERIFY2(alarms < 280, qPrintable(QString::number(alarms)));  // 200 + 5.8 standard deviations
        QVERIFY2(alarms > 20, "a test that never detects a change is useless");
    }

    void whichImagesFlipped() {
        const std::vector<std::int32_t> before = {1, 2, 3, 4, 5, 6}, after = {1, 0, 3, 0, 9, 7},
                                        wanted = {1, 2, 8, 0, 5, -1};
        const Flips flips = findFlips(before, after, wanted);
        QCOMPARE(flips.fixed, (std::vector<std::size_t>{3}));
        QCOMPARE(flips.broken, (std::vector<std::size_t>{1, 4}));
        QCOMPARE(flips.samples, std::size_t{5});
        QCOMPARE(flips.both, std::size_t{1});
        QCOMPARE(comparePaired(flips).difference, -0.2);
        QVERIFY_THROWS_EXCEPTION(Error, findFlips(before, after, std::vector<std::int32_t>{1}));
    }

    /// Newcombe's own example, and cases that are known without a formula.
    void differenceOfTwoRates() {
        const RateInterval published = pairedDropInterval({36, 12, 2, 0});
        QVERIFY(near(published.low, 0.0569, 5e-5) && near(published.high, 0.3404, 5e-5));
        const RateInterval same = pairedDropInterval({400, 0, 0, 100});
        QVERIFY(same.low < 0 && same.high > 0 && same.high < 0.02);
        const RateInterval turned = pairedDropInterval({36, 2, 12, 0});
        QVERIFY(near(turned.low, -published.high, 1e-12) && near(turned.high, -published.low, 1e-12));
        // "Before" is always right: the interval is that of the other rate plus the small uncertainty of 500
        // of 500.
        const RateInterval perfect = pairedDropInterval({470, 30, 0, 0});
        QVERIFY(perfect.low > 0.035 && perfect.high < 1 - wilsonInterval(470, 500).low + 1e-12);
        const RateInterval none = pairedDropInterval({});
        QVERIFY(none.low == -1 && none.high == 1);
    }

    /// 500 samples, of which quantization breaks 4 % and fixes 1 %: 95 of 100 intervals contain the 3 points.
    void theIntervalContainsTheTrueValue() {
        std::mt19937 random(7);
        std::discrete_distribution<int> kinds({0.88, 0.04, 0.01, 0.07});
        constexpr int kTrials = 2000;
        int held = 0;
        for (int trial = 0; trial < kTrials; ++trial) {
            std::size_t count[4] = {};
            for (int s = 0; s < 500; ++s) ++count[kinds(random)];
            const RateInterval interval = pairedDropInterval({count[0], count[1], count[2], count[3]});
            held += interval.low <= 0.03 && 0.03 <= interval.high;
        }
        QVERIFY2(held >= 0.935 * kTrials && held <= 0.985 * kTrials, qPrintable(QString::number(held)));
    }
};

QTEST_GUILESS_MAIN(PairedComparisonTest)
#include "paired_comparison_test.moc"
