// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs programs as users and scripts do.

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QString>
#include <QStringList>

namespace quantloupe::test {

/// How a program ended, and what it printed.
struct Outcome {
    int code = -1;  ///< -1: it did not start, -2: it was ended by a signal, -3: it was still running
    QString out, err;
    qint64 milliseconds = 0;

    /// Failure message for QVERIFY2.
    QByteArray text() const {
        return QStringLiteral("exit %1 after %2 ms\nstdout: %3\nstderr: %4")
            .arg(code)
            .arg(milliseconds)
            .arg(out.left(4000), err.left(4000))
            .toUtf8();
    }
    /// The JSON document on stdout; empty if it is not valid JSON.
    QJsonObject document() const { return QJsonDocument::fromJson(out.toUtf8()).object(); }
};

/// Waits until a started process ends; kills it after `seconds`.
inline Outcome finish(QProcess& process, int seconds = 600) {
    QElapsedTimer timer;
    timer.start();
    if (!process.waitForFinished(seconds * 1000)) {
        const bool started = process.error() != QProcess::FailedToStart;
        const QString error = process.errorString();
        process.kill();
        process.waitForFinished();
        return {started ? -3 : -1, {}, error, timer.elapsed()};
    }
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2,
            QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError()), timer.elapsed()};
}

/// Runs a program in `folder`, or else in the current folder, with additional variables ("NAME=value") in its
/// environment.
inline Outcome runProgram(const QString& program, const QStringList& arguments, const QString& folder = {},
                          const QStringList& variables = {}, int seconds = 600) {
    QProcess process;
    process.setWorkingDirectory(folder);
    auto environment = QProcessEnvironment::systemEnvironment();
    for (const QString& variable : variables)
        environment.insert(variable.section(QLatin1Char('='), 0, 0), variable.section(QLatin1Char('='), 1));
    process.setProcessEnvironment(environment);
    process.start(program, arguments);
    return finish(process, seconds);
}

}  // namespace quantloupe::test
