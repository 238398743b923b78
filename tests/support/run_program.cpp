// SPDX-License-Identifier: Apache-2.0
#include "support/run_program.h"

#include <QElapsedTimer>
#include <QJsonDocument>

namespace quantloupe::test {

QByteArray Outcome::text() const {
    return QStringLiteral("exit %1 after %2 ms\nstdout: %3\nstderr: %4")
        .arg(code)
        .arg(milliseconds)
        .arg(out.left(4000), err.left(4000))
        .toUtf8();
}

QJsonObject Outcome::document() const { return QJsonDocument::fromJson(out.toUtf8()).object(); }

Outcome finish(QProcess& process, int seconds) {
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

Outcome runProgram(const QString& program, const QStringList& arguments, const QString& folder,
                   const QStringList& variables, int seconds) {
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
