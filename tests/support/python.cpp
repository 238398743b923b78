// SPDX-License-Identifier: Apache-2.0
#include "support/python.h"

#include <QProcess>

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
    static const bool has = runPython({"-c", "import onnx, onnxruntime, numpy"}) == 0;
    return has;
}

}  // namespace quantloupe::test
