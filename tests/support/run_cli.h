// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the built quantloupe-cli as users and scripts do.

#include <QtTest>

#include "support/run_program.h"

namespace quantloupe::test {

/// Runs in `folder`, or else in the current folder, with additional variables ("NAME=value").
inline Outcome runCli(const QStringList& arguments, const QString& folder = {},
                      const QStringList& variables = {}) {
    return runProgram(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"), arguments, folder, variables);
}

/// Checks that the command failed with this exit code and a message that mentions this, and printed nothing
/// on stdout.
inline void verifyFailure(const Outcome& outcome, int code, const QString& mentions) {
    QVERIFY2(outcome.code == code, outcome.text());
    QVERIFY2(outcome.out.isEmpty(), outcome.text());
    QVERIFY2(outcome.err.contains(QStringLiteral("quantloupe-cli: ")), outcome.text());
    QVERIFY2(outcome.err.contains(mentions), outcome.text());
}

/// Returns the path of a file or folder of the demo.
inline QString demoPath(const char* name) {
    return QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/") + QLatin1String(name);
}
inline QString demoModel() { return demoPath("mobilenetv2_cifar10.onnx"); }

/// Splits a command line into arguments; MODEL, VAL, CALIBRATION and CONFIG stand for the demo's files.
inline QStringList demoCommand(const char* words) {
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
