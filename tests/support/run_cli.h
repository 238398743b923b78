// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the built quantloupe-cli as users and scripts do.

#include <QProcess>
#include <QString>
#include <QStringList>

namespace quantloupe::test {

struct CliOutcome {
    int code = -1;  ///< -2: it crashed
    QString out, err;
    /// Failure message for QVERIFY2.
    QByteArray text() const {
        return QStringLiteral("exit %1\nstdout: %2\nstderr: %3").arg(code).arg(out, err).toUtf8();
    }
};

/// Runs in `folder` or else in the current folder.
inline CliOutcome runCli(const QStringList& arguments, const QString& folder = {}) {
    QProcess process;
    process.setWorkingDirectory(folder);
    process.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"), arguments);
    if (!process.waitForFinished(600'000)) return {-1, {}, process.errorString()};
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2,
            QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
}

/// Splits a command line into arguments; MODEL, VAL and CALIBRATION stand for the demo's files.
inline QStringList demoCommand(const char* words) {
    QStringList list = QString::fromUtf8(words).split(QLatin1Char(' '), Qt::SkipEmptyParts);
    const QString demo = QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/");
    for (QString& word : list) {
        if (word == QLatin1String("MODEL"))
            word = demo + QStringLiteral("mobilenetv2_cifar10.onnx");
        else if (word == QLatin1String("VAL"))
            word = demo + QStringLiteral("val");
        else if (word == QLatin1String("CALIBRATION"))
            word = demo + QStringLiteral("calibration");
        else if (word == QLatin1String("CONFIG"))
            word = demo + QStringLiteral("demo.config.json");
    }
    return list;
}

}  // namespace quantloupe::test
