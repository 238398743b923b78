// SPDX-License-Identifier: Apache-2.0
// Verdicts on outputs, against values computed by hand.
#include <QtTest>
#include <limits>

#include "analysis/task_metrics.h"

using namespace quantloupe;

class TaskMetricsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
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

QTEST_GUILESS_MAIN(TaskMetricsTest)
#include "task_metrics_test.moc"
