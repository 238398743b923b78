// SPDX-License-Identifier: Apache-2.0
// No command overwrites its inputs, reads anything but regular files, or leaves partial files.
#include <sys/stat.h>
#include <unistd.h>

#include "support/hostile.h"

using namespace quantloupe::test;

class HostilePathsTest : public QObject {
    Q_OBJECT

  private:
    HostileFolder m_in;

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(!m_in.model.isEmpty() && !m_in.data.isEmpty());
        QCOMPARE(runCli({"analyze", m_in.model, "--data", m_in.data}).code, 0);
    }

    void noCommandOverwritesItsInputs_data() {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("output");  // an option and the file that it names
        const auto row = [](const char* command, const char* output) {
            QTest::addRow("%s %s", command, output)
                << QString::fromUtf8(command) << QString::fromUtf8(output);
        };
        for (const char* output : {"M", "DIR/./m.onnx", "DIR/link.onnx", "DIR/twin.onnx"}) {
            row("transform M", output);
            row("quantize M --data D", output);
            row("run M --data D", output);
            row("verify M --data D", output);
            row("export M --data D --to qdq", output);
        }
        row("run M --data D", "D");
        row("quantize M --data DIR/link.npy --calibration-data D", "D");
        row("quantize M --data D --config C", "C");
        row("quantize M --data D --preprocess P", "P");
        row("import C --from amct --model M", "C");
        row("import C --from amct --model M", "M");
        row("export M --to clika", "DIR/m.onnx");
        row("render X", "DIR/x.svg");
        for (const char* saved : {"M", "DIR/link.onnx", "C", "D"}) {
            row("inspect M --config C --calibration-data D",
                (QByteArray("--save-config ") + saved).constData());
            row("tune M --data D --max-drop 1 --config C",
                (QByteArray("--save-config ") + saved).constData());
        }
    }
    void noCommandOverwritesItsInputs() {
        QFETCH(QString, command);
        QFETCH(QString, output);
        m_in.put("c.json", "{}");
        m_in.put("p.json", "{}");
        m_in.put("x.svg", contentOf(m_in.model));
        QFile::remove(m_in.file("link.onnx"));
        QFile::remove(m_in.file("twin.onnx"));
        QFile::remove(m_in.file("link.npy"));
        QVERIFY(QFile::link(m_in.model, m_in.file("link.onnx")) &&
                QFile::link(m_in.data, m_in.file("link.npy")));
        QCOMPARE(::link(qPrintable(m_in.model), qPrintable(m_in.file("twin.onnx"))), 0);
        const QByteArray model = contentOf(m_in.model), data = contentOf(m_in.data);
        QString words = command + (output.startsWith("--") ? " " : " -o ") + output;
        QStringList arguments = words.split(' ');
        for (QString& word : arguments) {
            const QMap<QString, QString> names = {{"M", m_in.model},
                                                  {"D", m_in.data},
                                                  {"C", m_in.file("c.json")},
                                                  {"P", m_in.file("p.json")},
                                                  {"X", m_in.file("x.svg")}};
            word = names.value(word, word.replace("DIR", m_in.path()));
        }
        verifyRefusal(runCli(arguments), "would be overwritten");
        QCOMPARE(contentOf(m_in.model), model);
        QCOMPARE(contentOf(m_in.data), data);
        QCOMPARE(contentOf(m_in.file("c.json")), QByteArray("{}"));
        QCOMPARE(contentOf(m_in.file("p.json")), QByteArray("{}"));
    }

    void externalDataIsAnInputToo() {
        const float values[] = {1, 2};
        const QString weights =
            m_in.put("ext/w.bin", QByteArray(reinterpret_cast<const char*>(values), sizeof values));
        const QString model = m_in.put("ext/e.onnx", QByteArray::fromStdString(externalModelBytes("w.bin")));
        verifyRefusal(runCli({"transform", model, "-o", weights}), "external data of the model");
        verifyRefusal(runCli({"inspect", model, "--save-config", weights}), "external data of the model");
        verifyRefusal(runCli({"transform", model, "-o", m_in.file("ext/t.onnx"), "--weights", weights}),
                      "external data of the model");
        for (const char* report : {"--junit", "--markdown"})
            verifyRefusal(runCli({"check", model, "--data", m_in.data, "--max-drop", "1", report, weights}),
                          "external data of the model");
        QCOMPARE(contentOf(weights).size(), qsizetype(sizeof values));
    }

    /// The export for Quark also writes a JSON file, here to the path of the saved configuration.
    void anExportKeepsTheSavedConfiguration() {
        const QString saved = m_in.file("t.qconfig.json");
        verifyRefusal(
            runCli({"export", m_in.model, "--to", "quark", "-o", m_in.file("t.py"), "--save-config", saved}),
            "the configuration of --save-config");
        QVERIFY(contentOf(saved).contains("\"quantization\""));
        QVERIFY(!QFile::exists(m_in.file("t.py")));
    }

    void outputsOfACommandMustDiffer() {
        const QString out = m_in.file("out.file"), link = m_in.file("out.link");
        QVERIFY(QFile::link(out, link));
        for (const QStringList& arguments :
             {QStringList{"transform", m_in.model, "-o", out, "--weights", out},
              QStringList{"transform", m_in.model, "-o", out, "--weights", link},
              QStringList{"check", m_in.model, "--data", m_in.data, "--max-drop", "1", "--junit", out,
                          "--markdown", out},
              QStringList{"quantize", m_in.model, "--data", m_in.data, "-o", out, "--save-config",
                          m_in.path() + "/./out.file"}}) {
            const Outcome outcome = runCli(arguments);
            QVERIFY2(outcome.code == 2 && outcome.err.contains("name the same file"), outcome.text());
            QVERIFY(!QFile::exists(out));
        }
        QVERIFY(QFile::remove(link));
    }

    /// The companion would replace the model, although the main file would not.
    void filesOfAnExportDoNotOverwriteInputs() {
        const QString folder = m_in.file("multi");
        QDir().mkpath(folder);
        const QStringList arguments = {"export", m_in.model,    "--data", m_in.data,
                                       "--to",   "onnxruntime", "-o",     folder + "/q.py"};
        const Outcome first = runCli(arguments + QStringList{"--json"});
        QVERIFY2(first.code == 0, first.text());
        const QStringList names = QDir(folder).entryList(QDir::Files);
        QVERIFY2(names.size() > 1, qPrintable(names.join(' ')));
        for (const QString& name : names) {
            if (name == "q.py") continue;
            QVERIFY(QFile::remove(folder + "/" + name) && QFile::link(m_in.model, folder + "/" + name));
            const QByteArray model = contentOf(m_in.model);
            QFile::remove(folder + "/q.py");
            verifyRefusal(runCli(arguments), "would be overwritten");
            QCOMPARE(contentOf(m_in.model), model);
            QVERIFY2(!QFile::exists(folder + "/q.py"), "a part of the export was written");
            QFile::remove(folder + "/" + name);
        }
    }

    void screenshotsDoNotOverwriteInputs() {
        QVERIFY(QFile::copy(m_in.model, m_in.file("shot.onnx")));
        QVERIFY(QFile::link(m_in.file("shot.onnx"), m_in.file("shot.png")));
        const Outcome outcome =
            m_in.runWindow({m_in.file("shot.onnx"), "--screenshot", m_in.file("shot.png")});
        QVERIFY2(outcome.code == 1 && outcome.err.contains("would be overwritten"), outcome.text());
        QCOMPARE(contentOf(m_in.file("shot.onnx")), contentOf(m_in.model));
    }

    void failedExportLeavesNoPartialFiles() {
        const QString folder = m_in.file("parts");
        QDir().mkpath(folder);
        const QStringList arguments = {"export", m_in.model,    "--data", m_in.data,
                                       "--to",   "onnxruntime", "-o",     folder + "/q.py"};
        QCOMPARE(runCli(arguments).code, 0);
        const QStringList names = QDir(folder).entryList(QDir::Files);
        for (const QString& blocked : names) {
            for (const QString& name : names) QFile::remove(folder + "/" + name);
            QDir().mkdir(folder + "/" + blocked);
            const Outcome outcome = runCli(arguments);
            QVERIFY2(outcome.code == 1 && outcome.err.contains("folder"), outcome.text());
            QCOMPARE(QDir(folder).entryList(QDir::Files | QDir::Hidden), QStringList());
            QDir().rmdir(folder + "/" + blocked);
        }
    }

    void killedCommandsLeaveNoFiles() {
        const QString folder = m_in.file("killed"), output = folder + "/out.onnx";
        const QString model =
            QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/mobilenetv2_cifar10.onnx");
        QDir().mkpath(folder);
        QByteArray before;
        for (int i = 0; i < 20; ++i) {
            QProcess process;
            process.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"),
                          {"transform", model, "-o", output});
            QVERIFY(process.waitForStarted());
            process.waitForFinished(20 * i);
            process.kill();
            process.waitForFinished();
            const QByteArray now = contentOf(output);
            QVERIFY2(before.isEmpty() || now == before, "a half written file");
            before = now;
            const QStringList names = QDir(folder).entryList(QDir::Files | QDir::Hidden);
            QVERIFY2(names.isEmpty() || names == QStringList{"out.onnx"}, qPrintable(names.join(' ')));
        }
    }

    void onlyRegularFilesAreRead_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("kind");
        QTest::newRow("zero") << "/dev/zero"
                              << "device";
        QTest::newRow("fifo") << "FIFO"
                              << "pipe";
        QTest::newRow("link to a device") << "LINK"
                                          << "device";
    }
    void onlyRegularFilesAreRead() {
        QFETCH(QString, what);
        QFETCH(QString, kind);
        if (what == "FIFO") {
            what = m_in.file("fifo");
            QFile::remove(what);
            QCOMPARE(::mkfifo(qPrintable(what), 0600), 0);
        } else if (what == "LINK") {
            what = m_in.file("zero");
            QFile::remove(what);
            QVERIFY(QFile::link("/dev/zero", what));
        }
        const QList<QStringList> commands = {
            {"inspect", what},
            {"inspect", m_in.model, "--config", what},
            {"analyze", m_in.model, "--data", m_in.data, "--preprocess", what},
            {"analyze", m_in.model, "--data", m_in.data, "--against", what},
            {"import", what, "--from", "amct", "--model", m_in.model, "-o", m_in.file("out.json")}};
        for (const QStringList& command : commands) {
            const Outcome outcome = runCli(command, {}, 2000, 20);
            verifyRefusal(outcome, kind);
            if (QTest::currentTestFailed()) return;
        }
        for (const char* ending : {"npy", "npz"}) {
            const QString data = m_in.file(QStringLiteral("special.") + ending);
            QFile::remove(data);
            QVERIFY(QFile::link(what, data));
            verifyRefusal(runCli({"analyze", m_in.model, "--data", data}, {}, 2000, 20), kind);
        }
    }
};

QTEST_GUILESS_MAIN(HostilePathsTest)
#include "hostile_paths_test.moc"
