// SPDX-License-Identifier: Apache-2.0
// Tuning as another program calls it, on some of the demo's images: the command with its exit codes, JSON
// document and saved configuration, and the request of the session protocol.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include "support/run_cli.h"

using namespace quantloupe::test;

namespace {

QStringList arguments(const char* command, const QStringList& more) {
    return QStringList{QLatin1String(command),  demoModel(), "--data", demoPath("val"), "--calibration-data",
                       demoPath("calibration"), "--samples", "80",     "--threads",     "2"} +
           more;
}

}  // namespace

class TuneProcessTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// The program prints how often it was run: first for the float network, then for the quantized one.
    void aProgramReplacesTheAccuracy() {
        const QString program = m_folder.filePath("metric.sh"), runs = program + ".runs";
        QFile file(program);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\necho >> \"$0.runs\"\nwc -l < \"$0.runs\"\n");
        file.close();
        QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        const QStringList own{"--config", demoPath("demo.config.json"), "--metric-program", program,
                              "--json"};
        const Outcome better = runCli(arguments("check", own + QStringList{"--max-drop", "0"}));
        QVERIFY2(better.code == 0, better.text());
        QCOMPARE(better.document()["metric"].toString(), QStringLiteral("metric"));
        QCOMPARE(better.document()["drop"].toDouble(), -1.0);
        QVERIFY(QFile::remove(runs));
        const QStringList lower = own + QStringList{"--lower-is-better"};
        const Outcome worse = runCli(arguments("check", lower + QStringList{"--max-drop", "0.5"}));
        QCOMPARE(worse.code, 3);
        QCOMPARE(worse.document()["text"].toString(),
                 QStringLiteral("failed: the metric is 1 worse than in float; at most 0.5 worse is allowed"));
        const Outcome tuned = runCli(arguments("tune", lower + QStringList{"--max-drop", "150"}));
        QVERIFY2(tuned.code == 0, tuned.text());
        QCOMPARE(tuned.document()["max_drop"].toDouble(), 150.0);
        QCOMPARE(tuned.document()["metric"].toString(), QStringLiteral("metric"));
        QVERIFY(tuned.document()["float"].toObject()["lower_is_better"].toBool());
        const QString saved = m_folder.filePath("metric.json");
        const QStringList again =
            lower + QStringList{"--max-drop", "0.5",      "--cost",        "layers", "--max-steps",
                                "1",          "--resume", "--save-config", saved};
        const QJsonObject first = runCli(arguments("tune", again)).document(),
                          second = runCli(arguments("tune", again)).document();
        QVERIFY(second["reused"].toInt() > 0);
        for (const QJsonObject& result : {first, second})  // also the evaluations that are reused
            for (const QJsonValue& point : result["curve"].toArray())
                QVERIFY(point.toObject()["quantized"].toObject().contains("metric"));
        verifyFailure(runCli(arguments("tune", {"--max-drop", "1", "--lower-is-better"})), 2,
                      "--metric-program");
        const Outcome layers = runCli(arguments("leave-one-out", own));
        QVERIFY2(layers.code == 0, layers.text());
        QCOMPARE(layers.document()["metric"].toString(), QStringLiteral("metric"));
        // Each layer is evaluated later than the one before it, and so gains one more.
        const QJsonArray effects = layers.document()["layers"].toArray();
        QVERIFY(effects.size() > 60);
        QCOMPARE(effects[1].toObject()["gain"].toDouble() - effects[0].toObject()["gain"].toDouble(), 1.0);
        verifyFailure(runCli({"leave-one-out", demoModel(), "--metric-program", program}), 2, "--data");
    }

    void savedConfigurationReproducesTheResult() {
        const QString saved = m_folder.filePath("found.json");
        const Outcome found =
            runCli(arguments("tune", {"--config", demoPath("demo.config.json"), "--max-drop", "5", "--json",
                                      "--save-config", saved}));
        QVERIFY2(found.code == 0, found.text());
        const QJsonObject tuned = found.document();
        QCOMPARE(tuned["metric"].toString(), QStringLiteral("top1"));
        QCOMPARE(tuned["max_drop"].toDouble(), 0.05);
        QCOMPARE(tuned["cost_kind"].toString(), QStringLiteral("macs"));
        QVERIFY(tuned["reached"].toBool());
        QCOMPARE(tuned["ended"].toString(), QStringLiteral("finished"));
        const QJsonArray curve = tuned["curve"].toArray();
        QVERIFY(curve.size() >= 3);
        const QJsonObject chosen = curve[tuned["chosen"].toInt()].toObject();
        QVERIFY(chosen["drop"].toDouble() <= 0.05 + 1e-9);
        QCOMPARE(chosen["drop_interval"].toArray().size(), 2);
        QCOMPARE(tuned["cost"].toDouble(), chosen["cost"].toObject()["macs"].toDouble());
        QCOMPARE(tuned["drop"], chosen["drop"]);
        QCOMPARE(tuned["interval"], chosen["drop_interval"]);
        int floating = 0;
        for (const QJsonValue& layer : tuned["layers"].toArray())
            floating += layer.toObject()["precision"].toString() == QLatin1String("float32");
        QCOMPARE(floating, chosen["layers"].toArray().size());
        QCOMPARE(chosen["layers"].toArray().size(), chosen["cost"].toObject()["layers"].toInt());
        QVERIFY(!chosen["layers"].toArray().isEmpty());
        QVERIFY(chosen["transitions"].toInt() > 2);
        QVERIFY(tuned["total"].toObject()["macs"].toDouble() > chosen["cost"].toObject()["macs"].toDouble());
        QCOMPARE(tuned["samples"].toInt(), 80);

        const Outcome replayed = runCli(arguments("analyze", {"--config", saved, "--json"}));
        QVERIFY2(replayed.code == 0, replayed.text());
        QCOMPARE(replayed.document()["quantized"].toObject(), chosen["quantized"].toObject());
        QCOMPARE(replayed.document()["float"].toObject(), tuned["float"].toObject());
    }

    /// check passes and fails with its exit code, and its reports say the same.
    void checkReportsWhetherTheDropIsSmallEnough() {
        const QString junit = m_folder.filePath("accuracy.xml"), markdown = m_folder.filePath("accuracy.md");
        for (const bool passes : {true, false}) {
            const Outcome outcome = runCli(arguments(
                "check", {"--config", demoPath("demo.config.json"), "--max-drop", passes ? "60" : "1",
                          "--json", "--junit", junit, "--markdown", markdown}));
            QVERIFY2(outcome.code == (passes ? 0 : 3), outcome.text());
            const QJsonObject document = outcome.document();
            QCOMPARE(document["passed"].toBool(), passes);
            QCOMPARE(document["metric"].toString(), QStringLiteral("top1"));
            const double drop = document["float"].toObject()["top1"].toDouble() -
                                document["quantized"].toObject()["top1"].toDouble();
            QCOMPARE(document["drop"].toDouble(), drop);
            QVERIFY(drop > 0.01 && drop < 0.6);

            QFile report(junit);
            QVERIFY(report.open(QFile::ReadOnly));
            QXmlStreamReader xml(&report);
            int cases = 0, failures = 0;
            while (!xml.atEnd()) {
                xml.readNext();
                if (!xml.isStartElement()) continue;
                cases += xml.name() == QLatin1String("testcase");
                if (xml.name() == QLatin1String("failure")) {
                    ++failures;
                    QCOMPARE(xml.attributes().value("message").toString(), document["text"].toString());
                }
            }
            QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
            QCOMPARE(cases, 1);
            QCOMPARE(failures, passes ? 0 : 1);

            QFile summary(markdown);
            QVERIFY(summary.open(QFile::ReadOnly));
            const QString text = QString::fromUtf8(summary.readAll());
            QVERIFY(text.contains(document["text"].toString()));
            QVERIFY(text.contains("| top-1 | "));
        }
        // A run that fails does not leave the report of an earlier one.
        const Outcome nothing = runCli(arguments(
            "check", {"--max-drop", "1", "--skip", "re:.", "--junit", junit, "--markdown", markdown}));
        QCOMPARE(nothing.code, 1);
        for (const QString& path : {junit, markdown}) {
            QFile report(path);
            QVERIFY(report.open(QFile::ReadOnly));
            QVERIFY(report.readAll().contains("no layer is quantized"));
        }
        const QString quantized = m_folder.filePath("quantized.onnx");
        const Outcome written = runCli(arguments("quantize", {"-o", quantized}));
        QVERIFY2(written.code == 0, written.text());
        QStringList again = arguments("check", {"--max-drop", "1"});
        again[1] = quantized;
        const Outcome itself = runCli(again);
        QCOMPARE(itself.code, 1);
        QVERIFY2(itself.err.contains("the model is already quantized"), itself.text());
        const Outcome wrong = runCli(arguments("check", {"--max-drop", "1", "--junit", "/nowhere/a.xml"}));
        QCOMPARE(wrong.code, 1);
        QVERIFY2(wrong.err.contains("there is no folder '/nowhere'"), wrong.text());
    }

    void missedTargetExitsWithThree() {
        const QString saved = m_folder.filePath("best.json");
        const Outcome found =
            runCli(arguments("tune", {"--config", demoPath("demo.config.json"), "--max-drop", "0.5",
                                      "--max-seconds", "0.001", "--save-config", saved}));
        QVERIFY2(found.code == 3, found.text());
        QVERIFY2(found.out.contains("not reached within the time limit"), found.text());
        QVERIFY2(found.out.contains("transitions") && found.out.contains("\n> "), found.text());
        QVERIFY(QFile::exists(saved));  // the best result found
        const Outcome full =
            runCli(arguments("tune", {"--config", demoPath("demo.config.json"), "--max-drop", "0.5",
                                      "--max-seconds", "0.001", "--save-config", "/dev/full"}));
        QCOMPARE(full.code, 1);
        QVERIFY2(full.out.contains("not reached within the time limit"), full.text());
        QVERIFY2(full.err.contains("No space left"), full.text());
        const Outcome broken =
            runCli(arguments("tune", {"--config", demoPath("no such file"), "--max-drop", "1"}));
        QCOMPARE(broken.code, 1);
    }

    /// MACs in float do not distinguish w8a8 and w4a8.
    void precisionsMinimizeBytes() {
        const Outcome found = runCli(arguments(
            "tune", {"--max-drop", "100", "--precisions", "w8a8,w4a8", "--json", "--max-seconds", "60"}));
        QVERIFY2(found.code == 0, found.text());
        QCOMPARE(found.document()["cost_kind"].toString(), QStringLiteral("bytes"));
        int few = 0;
        for (const QJsonValue layer : found.document()["layers"].toArray())
            few += layer.toObject()["precision"].toString() == QStringLiteral("w4a8");
        QVERIFY2(few > 0, found.text());
    }

    void unwritableOutputIsReported() {
        const Outcome found = runCli(
            arguments("tune", {"--max-drop", "5", "--save-config", m_folder.filePath("nowhere/found.json")}));
        QCOMPARE(found.code, 1);
        QVERIFY2(found.err.contains("nowhere"), found.text());
        QVERIFY(found.out.isEmpty());
    }

    void tuneIsOneStepOfTheSession() {
        QProcess process;
        process.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"),
                      arguments("session", {"--config", demoPath("demo.config.json")}));
        const auto ask = [&](const QByteArray& request) {
            process.write(request + "\n");
            while (!process.canReadLine())
                if (!process.waitForReadyRead(300'000)) return QJsonObject{{"error", process.errorString()}};
            return QJsonDocument::fromJson(process.readLine()).object();
        };
        const QJsonValue before = ask(R"({"do":"config"})")["value"];
        const QJsonObject missed = ask(R"({"do":"tune","max_drop":0.1,"max_seconds":0.001})");
        QVERIFY2(missed["ok"].toBool(), qPrintable(missed["error"].toString()));
        QVERIFY(!missed["tune"].toObject()["reached"].toBool());
        QVERIFY(ask(R"({"do":"config"})")["value"] == before);  // as it was
        QVERIFY(!ask(R"({"do":"undo"})")["ok"].toBool());

        const QJsonObject reply = ask(R"({"do":"tune","max_drop":8,"cost":"layers"})");
        QVERIFY2(reply["ok"].toBool(), qPrintable(reply["error"].toString()));
        const QJsonObject tuned = reply["tune"].toObject();
        QVERIFY(tuned["reached"].toBool());
        QCOMPARE(reply["quantized"].toObject(),
                 tuned["curve"].toArray()[tuned["chosen"].toInt()].toObject()["quantized"].toObject());
        QVERIFY(ask(R"({"do":"config"})")["value"] != before);
        QVERIFY(ask(R"({"do":"undo"})")["ok"].toBool());
        QVERIFY(ask(R"({"do":"config"})")["value"] == before);
        QVERIFY(!ask(R"({"do":"undo"})")["ok"].toBool());
        const QJsonObject again = ask(R"({"do":"redo"})");
        QCOMPARE(again["quantized"].toObject(), reply["quantized"].toObject());
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished(60'000));
        QCOMPARE(process.exitCode(), 0);
    }

  private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TuneProcessTest)
#include "tune_process_test.moc"
