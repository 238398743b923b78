// SPDX-License-Identifier: Apache-2.0
// Differences of tensors and verdicts on outputs, against values computed by hand.
#include <QtTest>
#include <limits>

#include "analysis/task_metrics.h"
#include "analysis/tensor_metrics.h"

using namespace quantloupe;

class MetricsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// The worked example of the Model Accuracy Analyzer's metrics.
    void differencesOfAKnownPair() {
        const float reference[] = {1, 2, -3, 0, 0.5f}, tested[] = {1.1f, 1.9f, -3.3f, 0.05f, 0.5f};
        DifferenceSums sums;
        sums.add(reference, tested, 5);
        const TensorDifference difference = sums.result();
        QVERIFY(std::abs(difference.cosine - 0.9978806762) < 1e-7);
        QVERIFY(std::abs(difference.qs - 0.0888523317) < 1e-7);
        QVERIFY(std::abs(difference.sqnrDb - 21.02662) < 1e-4);
        QVERIFY(std::abs(sums.maxAbsolute - 0.3) < 1e-6);
    }

    void piecesGiveTheSameAsTheWhole() {
        std::vector<float> f(1000), q(1000);
        for (std::size_t i = 0; i < f.size(); ++i) f[i] = float(i % 17) - 8, q[i] = f[i] + 0.25f * float(i % 3);
        DifferenceSums whole, pieces;
        whole.add(f.data(), q.data(), f.size());
        for (std::size_t at = 0; at < f.size(); at += 40) {
            DifferenceSums piece;
            piece.add(f.data() + at, q.data() + at, 40);
            pieces.merge(piece);
        }
        QCOMPARE(pieces.squaredDifference, whole.squaredDifference);  // exact: all terms are dyadic
        QCOMPARE(pieces.product, whole.product);
    }

    void specialCases() {
        const float zero[] = {0, 0}, one[] = {1, 0};
        DifferenceSums same, fromZero, toZero;
        same.add(zero, zero, 2);
        QCOMPARE(same.result().qs, 0.0);
        QCOMPARE(same.result().cosine, 1.0);
        QCOMPARE(same.result().sqnrDb, std::numeric_limits<double>::infinity());
        fromZero.add(zero, one, 2);
        QCOMPARE(fromZero.result().qs, std::numeric_limits<double>::infinity());
        toZero.add(one, zero, 2);
        QCOMPARE(toZero.result().qs, 1.0);
        QCOMPARE(toZero.result().cosine, 0.0);
    }

    void verdicts() {
        const float outputs[] = {1, 5, 5, 0, 3, 2, 4};
        QCOMPARE(judge(outputs, 7, 1).predicted, 1);  // the first of equals
        QVERIFY(judge(outputs, 7, 5).top5);           // 5, 5, 4, 3, 2
        QVERIFY(!judge(outputs, 7, 0).top5);
        QVERIFY(!judge(outputs, 7, 9).top5);  // a label beyond the classes
        const float poisoned[] = {std::numeric_limits<float>::quiet_NaN(), 1};
        QCOMPARE(judge(poisoned, 2, 1).predicted, 1);
    }

    void wilson() {
        const RateInterval interval = wilsonInterval(690, 1000);
        QVERIFY(std::abs(interval.low - 0.66066) < 1e-4);   // computed with scipy's formula by hand
        QVERIFY(std::abs(interval.high - 0.71789) < 1e-4);
        QCOMPARE(wilsonInterval(0, 0).high, 1.0);
        QCOMPARE(wilsonInterval(10, 10).high, 1.0);
    }
};

QTEST_GUILESS_MAIN(MetricsTest)
#include "metrics_test.moc"
