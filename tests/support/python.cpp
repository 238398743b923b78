// SPDX-License-Identifier: Apache-2.0
#include "support/python.h"

#include <QProcess>

#include "base/error.h"
#include "base/run_program.h"
#include "interchange/onnxruntime/run_onnxruntime.h"

namespace quantloupe::test {

int runPython(const QStringList& arguments, QString* said, int seconds) {
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(qEnvironmentVariable("QUANTLOUPE_PYTHON", QStringLiteral("python3")), arguments);
    if (!process.waitForFinished(seconds * 1000)) return -1;
    if (said != nullptr) *said = QString::fromUtf8(process.readAll());
    return process.exitCode();
}

bool runsInPython(const QStringList& arguments) {
    QString said;
    const int code = runPython(arguments, &said);
    if (code != 0) qWarning("%s", qPrintable(said));
    return code == 0;
}

bool pythonHasOnnxRuntime() {
    // Without QProcess: ThreadSanitizer loses the order of threads after one of them has forked.
    static const bool has = [] {
        try {
            return quantloupe::runProgram({findPython(), {"-c", "import onnx, onnxruntime, numpy"}}, {})
                       .exitCode == 0;
        } catch (const Error&) {
            return false;
        }
    }();
    return has;
}

}  // namespace quantloupe::test
