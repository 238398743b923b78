// SPDX-License-Identifier: Apache-2.0
// examples/embed: find_package(quantloupe) in an installation that was moved, and the example's results.
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "support/run_cli.h"

class EmbedTest : public QObject {
    Q_OBJECT

    static bool run(const QString& program, const QStringList& arguments, QByteArray* out = nullptr) {
        QProcess process;
        process.start(program, arguments);
        const bool ended = process.waitForFinished(1'200'000) && process.exitCode() == 0;
        if (!ended)
            qWarning("%s%s", process.readAllStandardError().data(), process.readAllStandardOutput().data());
        if (out != nullptr) *out = process.readAllStandardOutput();
        return ended;
    }

  private Q_SLOTS:
    void theExampleBuildsAndRuns() {
        const QTemporaryDir folder;
        const QString build = QFileInfo(QStringLiteral(QUANTLOUPE_BIN_DIR)).path();
        const QString first = folder.filePath(QStringLiteral("first")),
                      prefix = folder.filePath(QStringLiteral("moved here"));
        QVERIFY(
            run(QStringLiteral("cmake"), {QStringLiteral("--install"), build, QStringLiteral("--component"),
                                          QStringLiteral("development"), QStringLiteral("--prefix"), first}));
        QVERIFY(QDir().rename(first, prefix));
        const QString made = folder.filePath(QStringLiteral("build"));
        QVERIFY(run(QStringLiteral("cmake"),
                    {QStringLiteral("-G"), QStringLiteral("Ninja"), QStringLiteral("-S"),
                     QStringLiteral(QUANTLOUPE_SOURCE_DIR "/examples/embed"), QStringLiteral("-B"), made,
                     QStringLiteral("-DCMAKE_PREFIX_PATH=") + prefix}));
        QVERIFY(run(QStringLiteral("cmake"), {QStringLiteral("--build"), made}));

        QByteArray said;
        const QString model = folder.filePath(QStringLiteral("quantized.onnx"));
        const QStringList demo = quantloupe::test::demoCommand("MODEL VAL CALIBRATION");
        QVERIFY(run(made + QStringLiteral("/embed"), demo + QStringList{model}, &said));
        QVERIFY2(said.startsWith("float 92.4 %, quantized 68.0 %\n"), said.constData());
        QVERIFY2(said.contains("most sensitive layer: /features/features.17/"), said.constData());

        const QString expected = folder.filePath(QStringLiteral("expected.onnx"));
        const auto outcome = quantloupe::test::runCli(
            quantloupe::test::demoCommand(
                "quantize MODEL --preset w4a8 --data VAL --calibration-data CALIBRATION -o") +
            QStringList{expected});
        QVERIFY2(outcome.code == 0, outcome.text());
        QFile found(model), reference(expected);
        QVERIFY(found.open(QIODevice::ReadOnly) && reference.open(QIODevice::ReadOnly));
        QVERIFY(found.readAll() == reference.readAll());
    }
};

QTEST_GUILESS_MAIN(EmbedTest)
#include "embed_test.moc"
