// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs programs as users and scripts do.

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
    QByteArray text() const;
    /// The JSON document on stdout; empty if it is not valid JSON.
    QJsonObject document() const;
};

/// Waits until a started process ends; kills it after `seconds`.
Outcome finish(QProcess& process, int seconds = 600);

/// Runs a program in `folder`, or else in the current folder, with additional variables ("NAME=value") in its
/// environment.
Outcome runProgram(const QString& program, const QStringList& arguments, const QString& folder = {},
                   const QStringList& variables = {}, int seconds = 600);

}  // namespace quantloupe::test
