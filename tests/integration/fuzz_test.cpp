// SPDX-License-Identifier: Apache-2.0
// A short run of tests/fuzz on the built programs; docs/testing.md explains longer runs. Each run has a new
// seed and prints every failure with the command that repeats it. QUANTLOUPE_FUZZ_SEED and
// QUANTLOUPE_FUZZ_SECONDS set seed and duration.
#include <QtTest>

#include "support/python.h"

class FuzzTest : public QObject {
    Q_OBJECT

  private:
    static constexpr int kMissing = 77;

    static QStringList arguments(const QString& seconds) {
        const QString programs = QStringLiteral(QUANTLOUPE_BIN_DIR);
        QStringList list = {QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/fuzz/fuzz.py"),
                            "--cli",
                            programs + "/quantloupe-cli",
                            "--window",
                            programs + "/quantloupe",
                            "--seconds",
                            seconds,
                            "--timeout",
                            "120",
                            "--seed",
                            qEnvironmentVariable("QUANTLOUPE_FUZZ_SEED", "0"),
                            "--keep",
                            QDir::current().filePath("fuzz-findings")};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        list << "--memory"
             << "0";
#endif
        return list;
    }

  private Q_SLOTS:
    void initTestCase() {
        if (quantloupe::test::runPython({"-c", "import numpy, onnx"}) != 0)
            QSKIP("Python with numpy and onnx is not available");
    }

    void damagedInputsAreRefusedWithAMessage() {
        const QString seconds = qEnvironmentVariable("QUANTLOUPE_FUZZ_SECONDS", "20");
        QString said;
        const int code = quantloupe::test::runPython(arguments(seconds), &said, seconds.toInt() + 240);
        for (const QString& line : said.split('\n', Qt::SkipEmptyParts)) qInfo("%s", qPrintable(line));
        QVERIFY(code != kMissing);
        QCOMPARE(code, 0);
    }
};

QTEST_GUILESS_MAIN(FuzzTest)
#include "fuzz_test.moc"
