// SPDX-License-Identifier: Apache-2.0
#include "support/run_cli.h"

#include <QtTest>

namespace quantloupe::test {

Outcome runCli(const QStringList& arguments, const QString& folder, const QStringList& variables) {
    return runProgram(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"), arguments, folder, variables);
}

void verifyFailure(const Outcome& outcome, int code, const QString& mentions) {
    QVERIFY2(outcome.code == code, outcome.text());
    QVERIFY2(outcome.out.isEmpty(), outcome.text());
    QVERIFY2(outcome.err.contains(QStringLiteral("quantloupe-cli: ")), outcome.text());
    QVERIFY2(outcome.err.contains(mentions), outcome.text());
}

QString demoPath(const char* name) {
    return QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/") + QLatin1String(name);
}

QString demoModel() { return demoPath("mobilenetv2_cifar10.onnx"); }

QStringList demoCommand(const char* words) {
    QStringList list = QString::fromUtf8(words).split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (QString& word : list) {
        if (word == QLatin1String("MODEL"))
            word = demoModel();
        else if (word == QLatin1String("VAL"))
            word = demoPath("val");
        else if (word == QLatin1String("CALIBRATION"))
            word = demoPath("calibration");
        else if (word == QLatin1String("CONFIG"))
            word = demoPath("demo.config.json");
    }
    return list;
}

}  // namespace quantloupe::test
