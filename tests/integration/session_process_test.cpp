// SPDX-License-Identifier: Apache-2.0
// quantloupe-cli session as another program uses it: a running process on the demo, with one reply per
// request.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QtTest>

#include "support/run_cli.h"

using namespace quantloupe::test;

namespace {

const char* const kWorst = "/features/features.0/features.0.0/Conv";

QStringList arguments(const char* command) {
    return {QLatin1String(command),
            demoModel(),
            "--data",
            demoPath("val"),
            "--calibration-data",
            demoPath("calibration"),
            "--config",
            demoPath("demo.config.json"),
            "--samples",
            "120",
            "--threads",
            "2"};
}

}  // namespace

class SessionProcessTest : public QObject {
    Q_OBJECT

  private:
    std::unique_ptr<QProcess> m_process;

    void start(const QStringList& more = {}) {
        m_process = std::make_unique<QProcess>();
        m_process->start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"), arguments("session") + more);
    }
    QJsonObject ask(const QByteArray& request) {
        m_process->write(request + "\n");
        while (!m_process->canReadLine())
            if (!m_process->waitForReadyRead(120'000))
                return {{"ok", false}, {"error", m_process->errorString()}};
        return QJsonDocument::fromJson(m_process->readLine()).object();
    }
    static QByteArray request(const char* what, const char* layer) {
        return QJsonDocument(QJsonObject{{"do", what}, {"layers", QJsonArray{layer}}})
            .toJson(QJsonDocument::Compact);
    }

  private Q_SLOTS:
    void init() { start(); }
    void cleanup() {
        if (m_process->state() != QProcess::NotRunning) {
            m_process->closeWriteChannel();
            QVERIFY(m_process->waitForFinished(60'000));
        }
        QCOMPARE(m_process->exitCode(), 0);
    }

    void withoutDataRepliesAreMarked() {
        QVERIFY(ask(R"({"do":"evaluate"})")["random_inputs"] == QJsonValue(false));
        cleanup();
        m_process = std::make_unique<QProcess>();
        m_process->start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"),
                         {"session", demoModel(), "--samples", "4"});
        const QJsonObject first = ask(R"({"do":"evaluate","layers":true})");
        QVERIFY(first["random_inputs"] == QJsonValue(true));
        QCOMPARE(first["samples"].toInt(), 4);
        QVERIFY(first["layers"].toArray()[0].toObject()["weight"].toObject()["qs"].isDouble());
        const QJsonObject skipped = ask(request("skip", kWorst));
        QVERIFY(skipped["random_inputs"] == QJsonValue(true));
        // With four random samples no improvement is significant, so this checks only that the SQNR changes.
        QVERIFY(skipped["quantized"].toObject()["sqnr_db"].toDouble() !=
                first["quantized"].toObject()["sqnr_db"].toDouble());
    }

    void repliesContainTheUsersMetric() {
        cleanup();
        QTemporaryDir folder;
        QFile program(folder.filePath("metric.sh"));
        QVERIFY(program.open(QIODevice::WriteOnly));
        program.write("#!/bin/sh\necho 7\n");
        program.close();
        QVERIFY(program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        start({"--metric-program", program.fileName()});
        const QJsonObject reply = ask(R"({"do":"evaluate"})");
        QCOMPARE(reply["quantized"].toObject()["metric"].toDouble(), 7.0);
        cleanup();
    }

    void resultsEqualThoseOfAnalyze() {
        const Outcome analyzed = runCli(arguments("analyze") + QStringList{"--json", "--skip", kWorst});
        QVERIFY2(analyzed.code == 0, analyzed.text());
        const QJsonObject expected = analyzed.document();

        const QJsonObject edited = ask(request("skip", kWorst));
        QVERIFY2(edited["ok"].toBool(), qPrintable(edited["error"].toString()));
        QCOMPARE(edited["quantized"].toObject(), expected["quantized"].toObject());
        QVERIFY(edited["seconds"].toDouble() > 0);
        QVERIFY(!edited.contains("layers"));
        const QJsonObject table = ask(R"({"do":"evaluate","layers":true})");
        QCOMPARE(table["float"].toObject(), expected["float"].toObject());
        QCOMPARE(table["counts"].toObject(), expected["counts"].toObject());
        QCOMPARE(table["layers"].toArray(), expected["layers"].toArray());
        const QJsonObject cold = ask(R"({"do":"layers","cold":true})");
        QCOMPARE(cold["layers"].toArray(), expected["layers"].toArray());
    }

    void undoAndRedoRestoreTheResults() {
        const QJsonValue before = ask(R"({"do":"evaluate"})")["quantized"];
        const QJsonValue skipped = ask(request("skip", kWorst))["quantized"];
        const QJsonValue equalized =
            ask(R"({"do":"set","key":"transforms.equalization.profile","value":"aimet"})")["quantized"];
        QVERIFY(before != skipped);
        QVERIFY(skipped != equalized);
        QVERIFY(!ask(request("skip", "/features/nothing"))["ok"].toBool());
        QCOMPARE(ask(R"({"do":"undo"})")["quantized"], skipped);
        QCOMPARE(ask(R"({"do":"undo"})")["quantized"], before);
        QVERIFY(!ask("this is no request")["ok"].toBool());
        QCOMPARE(ask(R"({"do":"redo"})")["quantized"], skipped);
        QCOMPARE(ask(request("quantize", kWorst))["quantized"], before);
    }

    void leaveOneOutEqualsSkippingEachLayer() {
        // Few layers, so that the test is quick.
        const QJsonObject few = ask(
            R"x({"do":"set","key":"skip.rules","value":[{"kind":"pattern","regex":"features\\.([2-9]|1[0-7])"}]})x");
        QVERIFY2(few["ok"].toBool(), qPrintable(few["error"].toString()));
        const QJsonObject reply = ask(R"({"do":"leave_one_out"})");
        QVERIFY2(reply["ok"].toBool(), qPrintable(reply["error"].toString()));
        const QJsonObject sweep = reply["leave_one_out"].toObject();
        QCOMPARE(sweep["metric"].toString(), QString("top1"));
        QCOMPARE(sweep["baseline"], reply["quantized"].toObject()["top1"]);
        QCOMPARE(sweep["layers"].toArray().size(), reply["counts"].toObject()["quantized"].toInt());
        for (const QJsonValue& entry : sweep["layers"].toArray()) {
            if (entry["name"].toString() != QLatin1String(kWorst)) continue;
            QCOMPARE(ask(request("skip", kWorst))["quantized"].toObject()["top1"], entry["value"]);
            QCOMPARE(entry["gain"].toDouble(), entry["value"].toDouble() - sweep["baseline"].toDouble());
            return;
        }
        QFAIL("the worst layer is missing");
    }

    void onlyRepliesOnStdoutAndProgressOnRequest() {
        ask(R"({"do":"evaluate"})");
        const QByteArray errors = m_process->readAllStandardError();
        QVERIFY2(!errors.contains("network"), errors.constData());
        ask(R"({"do":"quit"})");
        QVERIFY(m_process->waitForFinished(60'000));
        QCOMPARE(m_process->readAllStandardOutput(), QByteArray());

        start({"--progress"});
        ask(R"({"do":"evaluate"})");
        m_process->waitForReadyRead(0);
        QVERIFY(m_process->readAllStandardError().contains("network"));
    }

    void endOfInputEndsTheSession() {
        ask(R"({"do":"config"})");
        m_process->closeWriteChannel();
        QVERIFY(m_process->waitForFinished(60'000));
        QCOMPARE(m_process->exitStatus(), QProcess::NormalExit);
    }
};

QTEST_GUILESS_MAIN(SessionProcessTest)
#include "session_process_test.moc"
