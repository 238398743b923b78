// SPDX-License-Identifier: Apache-2.0
// quantloupe-mpi with two processes on this machine: its documents are those of quantloupe-cli, and a run
// that loses a process ends with a message and can be continued.
#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <csignal>

#include "support/run_cli.h"

using quantloupe::test::demoCommand;
using quantloupe::test::Outcome;

namespace {

const QString kProgram = QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-mpi");

QStringList launcher(int processes) {
    return {"--allow-run-as-root", "--oversubscribe", "-n", QString::number(processes)};
}

Outcome runMpi(int processes, const QStringList& arguments) {
    return quantloupe::test::runProgram(QStringLiteral("mpirun"),
                                        launcher(processes) + QStringList{kProgram} + arguments);
}

QByteArray withoutSeconds(QJsonObject document) {
    document.remove(QStringLiteral("seconds"));
    return QJsonDocument(document).toJson();
}

/// The process of this rank among the children of mpirun; 0: there is none yet.
pid_t processOfRank(qint64 parent, const QByteArray& rank) {
    QFile children(QStringLiteral("/proc/%1/task/%1/children").arg(parent));
    if (!children.open(QIODevice::ReadOnly)) return 0;
    for (const QByteArray& child : children.readAll().split(' ')) {
        QFile environment(QStringLiteral("/proc/%1/environ").arg(QString::fromLatin1(child)));
        if (child.isEmpty() || !environment.open(QIODevice::ReadOnly)) continue;
        if (environment.readAll().split('\0').contains("OMPI_COMM_WORLD_RANK=" + rank)) return child.toInt();
    }
    return 0;
}

}  // namespace

class MpiTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

  private Q_SLOTS:
    void documentsEqualThoseOfOneProcess_data() {
        QTest::addColumn<QString>("command");
        const QString data = QStringLiteral(
            " MODEL --config CONFIG --data VAL --calibration-data CALIBRATION --threads 1 --json");
        QTest::newRow("analyze") << "analyze --samples 60" + data;
        QTest::newRow("analyze in detail")
            << "analyze --samples 30 --metrics all --path --images --image 3 --layer "
               "/features/features.2/conv/conv.0/conv.0.0/Conv --calibration percentile --cle aimet --memory "
               "64" +
                   data;
        QTest::newRow("leave-one-out") << "leave-one-out --samples 24" + data;
        QTest::newRow("tune") << "tune --samples 40 --max-drop 5 --max-steps 3" + data;
    }
    void documentsEqualThoseOfOneProcess() {
        QFETCH(QString, command);
        const QStringList arguments = demoCommand(command.toUtf8().constData());
        const Outcome alone = quantloupe::test::runCli(arguments);
        QVERIFY2(alone.code == 0 || alone.code == 3, alone.text());
        const Outcome shared = runMpi(2, arguments);
        QVERIFY2(shared.code == alone.code, shared.text());
        const QJsonObject document = alone.document();
        QVERIFY(document.size() > 4);
        QCOMPARE(withoutSeconds(shared.document()), withoutSeconds(document));
        // Measurements are removed at the end unless they were requested.
        QVERIFY(QDir(QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo"))
                    .entryList({"*.tune.json", "*.leave-one-out.json"})
                    .isEmpty());
    }

    void onlyTheFirstProcessPrints() {
        const Outcome version = runMpi(3, {"--version"});
        QVERIFY2(version.code == 0, version.text());
        QCOMPARE(version.out.count(QStringLiteral("quantloupe ")), 1);
        const Outcome wrong = runMpi(2, {"analyze", "m.onnx", "--no-such-option"});
        QCOMPARE(wrong.code, 2);
        QCOMPARE(wrong.err.count(QStringLiteral("quantloupe-mpi: ")), 1);
        QVERIFY2(wrong.err.contains(QStringLiteral("--no-such-option")), wrong.text());
        const Outcome other = runMpi(2, {"render"});
        QCOMPARE(other.code, 2);
        QVERIFY2(other.err.contains(QStringLiteral("unknown command 'render'")), other.text());
    }

    /// The processes must not wait for each other forever.
    void processesWithDifferentModelsEnd() {
        const Outcome two = quantloupe::test::runProgram(
            QStringLiteral("mpirun"), launcher(1) << QStringLiteral("true") << QStringLiteral(":")
                                                  << QStringLiteral("-n") << QStringLiteral("1")
                                                  << QStringLiteral("true"));
        if (two.code != 0)
            QSKIP("this mpirun cannot start two programs: Open MPI 5.0.7 of Debian 13 crashes");
        QStringList arguments = launcher(1);
        for (const char* model : {"MODEL", "no_such_model.onnx"}) {
            if (arguments.size() > launcher(1).size())
                arguments << QStringLiteral(":") << "-n"
                          << "1";
            arguments << kProgram
                      << demoCommand(
                             "analyze MODEL --data VAL --calibration-data CALIBRATION --samples 16 --json")
                             .replaceInStrings(
                                 QRegularExpression(QStringLiteral("^.*/mobilenetv2_cifar10.onnx$")),
                                 demoCommand(model).front());
        }
        const Outcome outcome = quantloupe::test::runProgram(QStringLiteral("mpirun"), arguments);
        QCOMPARE(outcome.code, 1);
        QVERIFY2(outcome.err.contains(QStringLiteral("process 1 on ")) &&
                     outcome.err.contains(QStringLiteral("no_such_model.onnx")),
                 outcome.text());
        QVERIFY2(outcome.out.isEmpty(), outcome.text());
    }

    /// The search takes several times as long as the three seconds until it saves for the first time.
    void aSearchThatLosesAProcessCanBeContinued() {
        const QString found = m_folder.filePath("found.json"),
                      measurements = m_folder.filePath("found.tune.json");
        const QStringList command =
            demoCommand(
                "tune MODEL --config CONFIG --data VAL --calibration-data CALIBRATION --threads 1 "
                "--samples 120 --max-drop 2 --json --save-config") +
            QStringList{found};
        QProcess process;
        process.start(QStringLiteral("mpirun"), launcher(2) + QStringList{kProgram} + command);
        QVERIFY(process.waitForStarted());
        QElapsedTimer waiting;
        waiting.start();
        while (!QFile::exists(measurements) && waiting.elapsed() < 300'000 &&
               process.state() == QProcess::Running)
            QTest::qWait(50);
        QVERIFY(QFile::exists(measurements));
        const pid_t lost = processOfRank(process.processId(), "1");
        QVERIFY(lost > 0);
        ::kill(lost, SIGKILL);
        waiting.restart();
        const Outcome outcome = quantloupe::test::finish(process);
        QVERIFY2(waiting.elapsed() < 30'000, "the run did not end soon after it lost a process");
        QVERIFY2(outcome.code != 0 && outcome.code != 3, outcome.text());
        QVERIFY2(outcome.err.contains(QStringLiteral("the evaluations so far are in '%1'").arg(measurements)),
                 outcome.text());
        QVERIFY(!QFile::exists(found));

        QFile file(measurements);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonArray sections = QJsonDocument::fromJson(file.readAll()).object()["sections"].toArray();
        QCOMPARE(sections.size(), 1);
        const auto saved = sections[0].toObject()["measurements"].toObject().size();
        QVERIFY(saved > 0);
        const Outcome continued = runMpi(2, command + QStringList{"--resume"});
        QVERIFY2(continued.code == 0 || continued.code == 3, continued.text());
        QVERIFY(QFile::exists(found));
        const Outcome alone = quantloupe::test::runCli(command);
        QVERIFY2(alone.code == continued.code, alone.text());
        const QJsonObject expected = alone.document(), document = continued.document();
        // The first measurement is made again, because a search starts from its activations.
        QVERIFY2(document["reused"].toInt() >= saved - 2, continued.text());
        for (const char* key :
             {"float", "cost", "drop", "interval", "layers", "curve", "chosen", "steps", "text"})
            QCOMPARE(document[QLatin1String(key)], expected[QLatin1String(key)]);
    }
};

QTEST_GUILESS_MAIN(MpiTest)
#include "mpi_test.moc"
