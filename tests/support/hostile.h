// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the built programs on damaged, malicious or wrong inputs.

#include <sys/resource.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "support/npy.h"
#include "support/run_program.h"
#include "support/text_model.h"

namespace quantloupe::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kLimitsMemory = false;  // sanitizers reserve terabytes of address space
#else
inline constexpr bool kLimitsMemory = true;
#endif

/// Starts the process with this input on stdin, and waits until it ends.
inline Outcome runToItsEnd(QProcess& process, const QByteArray& input, int seconds) {
    QElapsedTimer timer;
    timer.start();
    process.start();
    process.write(input);
    process.closeWriteChannel();
    Outcome outcome = finish(process, seconds);
    outcome.milliseconds = timer.elapsed();
    return outcome;
}

/// Runs quantloupe-cli. `addressSpace` in MiB; 0: no limit.
inline Outcome runCli(const QStringList& arguments, const QByteArray& input = {}, rlim_t addressSpace = 0,
                      int seconds = 60) {
    QProcess process;
    if (kLimitsMemory && addressSpace > 0)
        process.setChildProcessModifier([addressSpace] {
            const rlimit limit{addressSpace << 20, addressSpace << 20};
            ::setrlimit(RLIMIT_AS, &limit);
        });
    if (!kLimitsMemory) seconds *= 20;
    process.setProgram(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"));
    process.setArguments(arguments);
    return runToItsEnd(process, input, seconds);
}

inline void verifyRefusal(const Outcome& outcome, const QString& mentions) {
    QVERIFY2(outcome.code == 1 || outcome.code == 2, outcome.text());
    QVERIFY2(outcome.err.contains(mentions), outcome.text());
    QVERIFY2(outcome.err.size() < 5000, outcome.text());
    for (const char* internal : {"std::", "vector::", "unexpected", "basic_string", "json.exception"})
        QVERIFY2(!outcome.err.contains(QLatin1String(internal)), outcome.text());
}

/// A folder with a small model and data for it.
class HostileFolder {
  public:
    HostileFolder() {
        model = putModel(
            "m.onnx", "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}> { y = MatMul(x, w) }");
        data = put("d.npy", npyOfFloats("4, 2", {-3.5f, -2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 3.5f}));
    }

    QString path() const { return m_folder.path(); }
    QString file(const QString& name) const { return m_folder.filePath(name); }
    QString put(const QString& name, const QByteArray& content) const {
        QDir().mkpath(QFileInfo(file(name)).path());
        QFile target(file(name));
        if (!target.open(QIODevice::WriteOnly) || target.write(content) != content.size()) return {};
        return file(name);
    }
    QString putModel(const QString& name, const std::string& body) const {
        return put(name, QByteArray::fromStdString(
                             textModelBytes("<ir_version: 8, opset_import: [\"\" : 13]> net " + body)));
    }
    /// Two floats in a separate file.
    QString putTwoFloats(const QString& name) const {
        const float values[] = {1, 2};
        return put(name, QByteArray(reinterpret_cast<const char*>(values), sizeof values));
    }
    /// Runs the desktop application with separate settings.
    Outcome runWindow(const QStringList& arguments) const {
        QProcess window;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert("QT_QPA_PLATFORM", "offscreen");
        for (const char* folder : {"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"})
            environment.insert(folder, path());
        window.setProcessEnvironment(environment);
        window.setProgram(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe"));
        window.setArguments(arguments);
        return runToItsEnd(window, {}, kLimitsMemory ? 120 : 1200);
    }

    QString model, data;

  private:
    QTemporaryDir m_folder;
};

inline QByteArray contentOf(const QString& path) {
    QFile source(path);
    return source.open(QIODevice::ReadOnly) ? source.readAll() : QByteArray();
}

}  // namespace quantloupe::test
