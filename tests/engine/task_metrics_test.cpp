// SPDX-License-Identifier: Apache-2.0
// Predicted classes and task metrics compared with values computed by hand.
#include "analysis/task_metrics.h"

#include <QtTest>
#include <limits>

#include "base/error.h"

using namespace quantloupe;

class TaskMetricsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void verdicts() {
        const float outputs[] = {1, 5, 5, 0, 3, 2, 4};
        QCOMPARE(judge(outputs, 7, 1).predicted, 1);  // the first of equal values
        QVERIFY(judge(outputs, 7, 5).top5);           // 5, 5, 4, 3, 2
        QVERIFY(!judge(outputs, 7, 0).top5);
        QVERIFY(!judge(outputs, 7, 9).top5);  // a label outside the classes
        const float poisoned[] = {std::numeric_limits<float>::quiet_NaN(), 1};
        QCOMPARE(judge(poisoned, 2, 1).predicted, 1);
        const float lost[] = {poisoned[0], poisoned[0]};
        QCOMPARE(judge(lost, 2, 0).predicted, kNoClass);
        QVERIFY(!judge(lost, 2, 0).top5);
    }

    void countsOverSamples() {
        TaskCounts counts;
        QVERIFY(!counts.top1Rate() && !counts.agreement());
        counts.add({3, true}, 3, 3);  // right, as in float
        counts.add({2, true}, 3, 3);  // wrong, among the five
        counts.add({5, false}, 5, std::nullopt);
        counts.add({1, false}, 1, 7);  // wrong, as in float
        QCOMPARE(counts.samples, std::size_t{4});
        QCOMPARE(*counts.top1Rate(), 1.0 / 3);
        QCOMPARE(*counts.top5Rate(), 2.0 / 3);
        QCOMPARE(*counts.agreement(), 0.75);
    }

    void qualityOfImages() {
        const std::vector<float> reference = {0, 1, 0.5f, 0.25f}, tested = {0.5f, 1, 0.5f, 0.75f};
        DifferenceSums sums;
        sums.add(reference.data(), tested.data(), 4);
        const ImageQuality quality = imageQuality(sums, 1);
        QCOMPARE(quality.mse, 0.125);
        QVERIFY(std::abs(quality.psnrDb - 9.030899869919436) < 1e-12);        // 10 log10 8
        QVERIFY(std::abs(imageQuality(sums, 255).psnrDb - 57.16171) < 1e-4);  // + 20 log10 255
        DifferenceSums same;
        same.add(reference.data(), reference.data(), 4);
        QCOMPARE(imageQuality(same, 1).psnrDb, std::numeric_limits<double>::infinity());
        QVERIFY_THROWS_EXCEPTION(Error, imageQuality(sums, 0));
    }

    void wilson() {
        const RateInterval interval = wilsonInterval(690, 1000);
        QVERIFY(std::abs(interval.low - 0.66066) < 1e-4);  // computed with scipy's formula by hand
        QVERIFY(std::abs(interval.high - 0.71789) < 1e-4);
        QCOMPARE(wilsonInterval(0, 0).high, 1.0);
        QCOMPARE(wilsonInterval(10, 10).high, 1.0);
    }
};

QTEST_GUILESS_MAIN(TaskMetricsTest)
#include "task_metrics_test.moc"
