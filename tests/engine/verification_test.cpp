// SPDX-License-Identifier: Apache-2.0
// When a verification in ONNX Runtime counts as failed, at both sides of each tolerance.
#include <QtTest>

#include "interchange/onnxruntime/verify.h"

using namespace quantloupe;

class VerificationTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void tolerances_data() {
        QTest::addColumn<int>("samples");
        QTest::addColumn<int>("otherClasses");  // samples with another class
        QTest::addColumn<int>("lost");          // samples that are only right in the preview
        QTest::addColumn<QString>("reason");
        QTest::newRow("equal") << 100 << 0 << 0 << "";
        QTest::newRow("one of one") << 1 << 1 << 1 << "";
        QTest::newRow("one of ten") << 10 << 1 << 1 << "";
        QTest::newRow("two of ten differ") << 10 << 2 << 0 << "20.00 % of the samples get a different class";
        QTest::newRow("two of ten lost") << 10 << 2 << 2 << "the accuracies differ by 20.00 points";
        QTest::newRow("1 % differ") << 1000 << 10 << 5 << "";
        QTest::newRow("more than 1 % differ")
            << 1000 << 11 << 0 << "1.10 % of the samples get a different class";
        QTest::newRow("more than half a point") << 1000 << 6 << 6 << "the accuracies differ by 0.60 points";
    }
    void tolerances() {
        QFETCH(int, samples);
        QFETCH(int, otherClasses);
        QFETCH(int, lost);
        QFETCH(QString, reason);
        Verification result;
        result.samples = static_cast<std::size_t>(samples);
        result.plain.agreement = 1 - static_cast<double>(otherClasses) / samples;
        result.here = TaskValue{TaskMetric::Top1, 1};
        result.plain.rate = TaskValue{TaskMetric::Top1, 1 - static_cast<double>(lost) / samples};
        QCOMPARE(QString::fromStdString(whyVerificationFailed(result)), reason);
    }

    void withoutLabelsOnlyClassesCount() {
        Verification result;
        result.samples = 2;
        result.plain.agreement = 0.5;
        QVERIFY(whyVerificationFailed(result).empty());
        result.plain.agreement = 0;
        QVERIFY(!whyVerificationFailed(result).empty());
    }

    void outputsMustNotDiffer() {
        Verification result;
        result.samples = 10;
        result.plain.agreement = 1;
        result.differing = {"'boxes' by up to 141"};
        QVERIFY(QString::fromStdString(whyVerificationFailed(result)).contains("'boxes' by up to 141"));
    }

    void agreementOfOtherOutputsDoesNotCount() {
        Verification result;
        result.samples = 10;
        result.plain.agreement = 0.2;
        result.classifies = false;
        QVERIFY(whyVerificationFailed(result).empty());
    }

    void saturationIsExplained() {
        Verification result;
        result.optimized = RuntimeComparison{0.9, 0.4, {}};
        QVERIFY(optimizationAdvice(result).empty());  // the outputs were not computed without it
        result.exactFailure = "cannot replace a tensor";
        QVERIFY(optimizationAdvice(result).empty());  // the outputs are no worse
        const float floating[] = {1, 2}, preview[] = {1.01f, 2}, saturated[] = {1, 1};
        result.error.add(floating, preview, 2);
        result.optimized->error.add(floating, saturated, 2);
        const QString advice = QString::fromStdString(optimizationAdvice(result));
        QVERIFY2(advice.contains("7-bit weights") && advice.contains("cannot replace"), qPrintable(advice));
        result.exactFailure.clear();
        result.exact = RuntimeComparison{0.9, 0.3, {}};
        QVERIFY(optimizationAdvice(result).empty());  // other optimizations change them as much
        result.exact = RuntimeComparison{1, 0.01, {}};
        QVERIFY(QString::fromStdString(optimizationAdvice(result)).contains("session.x64quantprecision"));
        QVERIFY(!QString::fromStdString(optimizationAdvice(result)).contains("int32"));
        result.exact->error.add(floating, saturated, 2);  // most of the difference remains
        QVERIFY(QString::fromStdString(optimizationAdvice(result)).contains("int32"));
    }

    void theModelMustRunOptimized() {
        Verification result;
        result.runtime = "ONNX Runtime 1.31.1";
        result.samples = 10;
        result.plain.agreement = 1;
        result.optimized = RuntimeComparison{0.5, 1, {}};  // reported, but not a failure
        QVERIFY(whyVerificationFailed(result).empty());
        result.optimizedFailure = "no kernel";
        QCOMPARE(whyVerificationFailed(result),
                 "ONNX Runtime 1.31.1 cannot run the model at its default optimization level: no kernel");
    }
};

QTEST_GUILESS_MAIN(VerificationTest)
#include "verification_test.moc"
