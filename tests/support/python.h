// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs in Python that tests compare with: QUANTLOUPE_PYTHON, or python3.

#include <QProcess>
#include <QtTest>

namespace quantloupe::test {

/// -1 if there is no Python or it takes longer. Output goes to `said`.
inline int runPython(const QStringList& arguments, QString* said = nullptr, int seconds = 300) {
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(qEnvironmentVariable("QUANTLOUPE_PYTHON", QStringLiteral("python3")), arguments);
    if (!process.waitForFinished(seconds * 1000)) return -1;
    if (said != nullptr) *said = QString::fromUtf8(process.readAll());
    return process.exitCode();
}

/// Tells what Python said where it does not succeed.
inline bool runsInPython(const QStringList& arguments) {
    QString said;
    const int code = runPython(arguments, &said);
    if (code != 0) qWarning("%s", qPrintable(said));
    return code == 0;
}

}  // namespace quantloupe::test
