// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the built quantloupe-cli as a user or a script does.

#include <QProcess>
#include <QString>
#include <QStringList>

namespace quantloupe::test {

struct CliOutcome {
    int code = -1;  ///< -2: it crashed
    QString out, err;
    /// For QVERIFY2 when something is not as expected.
    QByteArray text() const {
        return QStringLiteral("exit %1\nstdout: %2\nstderr: %3").arg(code).arg(out, err).toUtf8();
    }
};

/// In `folder`, or where the test runs.
inline CliOutcome runCli(const QStringList& arguments, const QString& folder = {}) {
    QProcess process;
    process.setWorkingDirectory(folder);
    process.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"), arguments);
    if (!process.waitForFinished(600'000)) return {-1, {}, process.errorString()};
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2,
            QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
}

/// The words of a command line; MODEL, VAL and CALIBRATION stand for the demo's files.
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
