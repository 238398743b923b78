// SPDX-License-Identifier: Apache-2.0
// The command line on inputs that are damaged, made to do harm, or named by mistake: it refuses them with one
// readable message, in bounded time and memory, and never overwrites what it reads. tests/fuzz looks for more
// of them.
#include <onnx/onnx_pb.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "support/text_model.h"

namespace {

struct Outcome {
    int code = -1;  ///< -2: ended by a signal, -3: still running
    QString out, err;
    qint64 milliseconds = 0;
};

/// One Relu whose node, input and output have such names.
std::string modelWithNames(const std::string& name) {
    onnx::ModelProto model;
    model.ParseFromString(
        quantloupe::test::textModelBytes("<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2] x) => "
                                         "(float[N,2] y) { t = Relu(x) y = Neg(t) }"));
    onnx::GraphProto& graph = *model.mutable_graph();
    for (int i = 0; i < 2; ++i) graph.mutable_node(i)->set_name(name + (i == 0 ? "/0" : "/1"));
    graph.mutable_node(0)->set_input(0, name + ":in");
    graph.mutable_input(0)->set_name(name + ":in");
    graph.mutable_node(1)->set_output(0, name + ":out");
    graph.mutable_output(0)->set_name(name + ":out");
    return model.SerializeAsString();
}

std::string modelWithAttributes(int count) {
    onnx::ModelProto model;
    model.ParseFromString(quantloupe::test::textModelBytes(
        "<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2] x) => (float[N,2] y) { y = Relu(x) }"));
    for (int i = 0; i < count; ++i) {
        auto& attribute = *model.mutable_graph()->mutable_node(0)->add_attribute();
        attribute.set_name("attribute" + std::to_string(i));
        attribute.set_type(onnx::AttributeProto::STRING);
        attribute.set_s(std::string(50, 'v'));
    }
    return model.SerializeAsString();
}

/// A Constant whose value_float says that it is an integer.
std::string constantOfAnotherKind() {
    onnx::ModelProto model;
    model.ParseFromString(quantloupe::test::textModelBytes(
        "<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2] x) => (float[N,2] y) { c = "
        "Constant<value_float = 1.0>() y = Add(x, c) }"));
    auto& attribute = *model.mutable_graph()->mutable_node(0)->mutable_attribute(0);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(1);
    return model.SerializeAsString();
}

/// Y = X + C, where the two values of the Constant C are in the file `location`.
std::string externalConstantModel(const std::string& location) {
    onnx::ModelProto model;
    model.ParseFromString(quantloupe::test::externalModelBytes(location));
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::NodeProto node;
    node.set_op_type("Constant");
    node.add_output("W");
    auto& attribute = *node.add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    *attribute.mutable_t() = graph.initializer(0);
    graph.clear_initializer();
    *graph.add_node() = graph.node(0);
    *graph.mutable_node(0) = node;
    return model.SerializeAsString();
}

class HostileInputTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;

    QString file(const QString& name) const { return m_folder.filePath(name); }
    QString put(const QString& name, const QByteArray& content) const {
        QDir().mkpath(QFileInfo(file(name)).path());
        QFile target(file(name));
        if (!target.open(QIODevice::WriteOnly) || target.write(content) != content.size()) return {};
        return file(name);
    }
    static QByteArray contentOf(const QString& path) {
        QFile source(path);
        return source.open(QIODevice::ReadOnly) ? source.readAll() : QByteArray();
    }
    QString putModel(const QString& name, const std::string& body) const {
        return put(name, QByteArray::fromStdString(quantloupe::test::textModelBytes(
                             "<ir_version: 8, opset_import: [\"\" : 13]> net " + body)));
    }
    /// `addressSpace` in MiB; 0: no limit.
    static Outcome run(const QStringList& arguments, const QByteArray& input = {}, rlim_t addressSpace = 0,
                       int seconds = 60) {
        QProcess process;
        if (addressSpace > 0)
            process.setChildProcessModifier([addressSpace] {
                const rlimit limit{addressSpace << 20, addressSpace << 20};
                ::setrlimit(RLIMIT_AS, &limit);
            });
        QElapsedTimer timer;
        timer.start();
        process.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"), arguments);
        process.write(input);
        process.closeWriteChannel();
        Outcome outcome;
        if (!process.waitForFinished(seconds * 1000)) {
            process.kill();
            process.waitForFinished();
            outcome.code = -3;
            return outcome;
        }
        outcome.milliseconds = timer.elapsed();
        outcome.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2;
        outcome.out = QString::fromUtf8(process.readAllStandardOutput());
        outcome.err = QString::fromUtf8(process.readAllStandardError());
        return outcome;
    }
    Outcome runWindow(const QStringList& arguments) const {
        QProcess window;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert("QT_QPA_PLATFORM", "offscreen");
        for (const char* folder : {"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"})
            environment.insert(folder, m_folder.path());
        window.setProcessEnvironment(environment);
        window.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe"), arguments);
        Outcome outcome;
        if (!window.waitForFinished(120'000)) {
            window.kill();
            window.waitForFinished();
            outcome.code = -3;
            return outcome;
        }
        outcome.code = window.exitStatus() == QProcess::NormalExit ? window.exitCode() : -2;
        outcome.err = QString::fromUtf8(window.readAllStandardError());
        return outcome;
    }
    static QByteArray described(const Outcome& outcome) {
        return QStringLiteral("exit %1 after %2 ms\nstdout: %3\nstderr: %4")
            .arg(outcome.code)
            .arg(outcome.milliseconds)
            .arg(outcome.out.left(2000), outcome.err.left(4000))
            .toUtf8();
    }
    static void verifyRefusal(const Outcome& outcome, const QString& mentions) {
        QVERIFY2(outcome.code == 1 || outcome.code == 2, described(outcome));
        QVERIFY2(outcome.err.contains(mentions), described(outcome));
        QVERIFY2(outcome.err.size() < 5000, described(outcome));
        for (const char* internal : {"std::", "vector::", "unexpected", "basic_string", "json.exception"})
            QVERIFY2(!outcome.err.contains(QLatin1String(internal)), described(outcome));
    }

    QString m_model, m_data;

  private Q_SLOTS:
    void initTestCase() {
        m_model = putModel(
            "m.onnx", "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}> { y = MatMul(x, w) }");
        QByteArray npy = QByteArray("\x93NUMPY\x01\x00\x76\x00", 10) +
                         QByteArray("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }")
                             .leftJustified(117, ' ') +
                         "\n";
        for (int i = 0; i < 8; ++i) {
            const float value = static_cast<float>(i) - 3.5f;
            npy.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
        m_data = put("d.npy", npy);
        QVERIFY(!m_model.isEmpty() && !m_data.isEmpty());
        QCOMPARE(run({"analyze", m_model, "--data", m_data}).code, 0);
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
        put("c.json", "{}");
        put("p.json", "{}");
        put("x.svg", contentOf(m_model));
        QFile::remove(file("link.onnx"));
        QFile::remove(file("twin.onnx"));
        QFile::remove(file("link.npy"));
        QVERIFY(QFile::link(m_model, file("link.onnx")) && QFile::link(m_data, file("link.npy")));
        QCOMPARE(::link(qPrintable(m_model), qPrintable(file("twin.onnx"))), 0);
        const QByteArray model = contentOf(m_model), data = contentOf(m_data);
        QString words = command + (output.startsWith("--") ? " " : " -o ") + output;
        QStringList arguments = words.split(' ');
        for (QString& word : arguments) {
            const QMap<QString, QString> names = {{"M", m_model},
                                                  {"D", m_data},
                                                  {"C", file("c.json")},
                                                  {"P", file("p.json")},
                                                  {"X", file("x.svg")}};
            word = names.value(word, word.replace("DIR", m_folder.path()));
        }
        verifyRefusal(run(arguments), "would be overwritten");
        QCOMPARE(contentOf(m_model), model);
        QCOMPARE(contentOf(m_data), data);
        QCOMPARE(contentOf(file("c.json")), QByteArray("{}"));
        QCOMPARE(contentOf(file("p.json")), QByteArray("{}"));
    }

    void externalDataIsAnInputToo() {
        const float values[] = {1, 2};
        const QString weights =
            put("ext/w.bin", QByteArray(reinterpret_cast<const char*>(values), sizeof values));
        const QString model =
            put("ext/e.onnx", QByteArray::fromStdString(quantloupe::test::externalModelBytes("w.bin")));
        verifyRefusal(run({"transform", model, "-o", weights}), "external data of the model");
        verifyRefusal(run({"inspect", model, "--save-config", weights}), "external data of the model");
        QCOMPARE(contentOf(weights).size(), qsizetype(sizeof values));
    }

    /// The companion would replace the model, although the main file would not.
    void filesOfAnExportDoNotOverwriteInputs() {
        const QString folder = file("multi");
        QDir().mkpath(folder);
        const QStringList arguments = {"export", m_model,       "--data", m_data,
                                       "--to",   "onnxruntime", "-o",     folder + "/q.py"};
        const Outcome first = run(arguments + QStringList{"--json"});
        QVERIFY2(first.code == 0, described(first));
        const QStringList names = QDir(folder).entryList(QDir::Files);
        QVERIFY2(names.size() > 1, qPrintable(names.join(' ')));
        for (const QString& name : names) {
            if (name == "q.py") continue;
            QVERIFY(QFile::remove(folder + "/" + name) && QFile::link(m_model, folder + "/" + name));
            const QByteArray model = contentOf(m_model);
            QFile::remove(folder + "/q.py");
            verifyRefusal(run(arguments), "would be overwritten");
            QCOMPARE(contentOf(m_model), model);
            QVERIFY2(!QFile::exists(folder + "/q.py"), "a part of the export was written");
            QFile::remove(folder + "/" + name);
        }
    }

    void aFailedExportLeavesNoParts() {
        const QString folder = file("parts");
        QDir().mkpath(folder);
        const QStringList arguments = {"export", m_model,       "--data", m_data,
                                       "--to",   "onnxruntime", "-o",     folder + "/q.py"};
        QCOMPARE(run(arguments).code, 0);
        const QStringList names = QDir(folder).entryList(QDir::Files);
        for (const QString& blocked : names) {
            for (const QString& name : names) QFile::remove(folder + "/" + name);
            QDir().mkdir(folder + "/" + blocked);
            const Outcome outcome = run(arguments);
            QVERIFY2(outcome.code == 1 && outcome.err.contains("folder"), described(outcome));
            QCOMPARE(QDir(folder).entryList(QDir::Files | QDir::Hidden), QStringList());
            QDir().rmdir(folder + "/" + blocked);
        }
    }

    void killedCommandsLeaveNothing() {
        const QString folder = file("killed"), output = folder + "/out.onnx";
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
            what = file("fifo");
            QFile::remove(what);
            QCOMPARE(::mkfifo(qPrintable(what), 0600), 0);
        } else if (what == "LINK") {
            what = file("zero");
            QFile::remove(what);
            QVERIFY(QFile::link("/dev/zero", what));
        }
        const QList<QStringList> commands = {
            {"inspect", what},
            {"inspect", m_model, "--config", what},
            {"analyze", m_model, "--data", m_data, "--preprocess", what},
            {"analyze", m_model, "--data", m_data, "--against", what},
            {"import", what, "--from", "amct", "--model", m_model, "-o", file("out.json")}};
        for (const QStringList& command : commands) {
            const Outcome outcome = run(command, {}, 2000, 20);
            verifyRefusal(outcome, kind);
            if (QTest::currentTestFailed()) return;
        }
        for (const char* ending : {"npy", "npz"}) {
            const QString data = file(QStringLiteral("special.") + ending);
            QFile::remove(data);
            QVERIFY(QFile::link(what, data));
            verifyRefusal(run({"analyze", m_model, "--data", data}, {}, 2000, 20), kind);
        }
    }

    void deepJsonIsRefused() {
        const QByteArray deep = QByteArray(200'000, '[') + QByteArray(200'000, ']');
        const QString model =
            putModel("deep.onnx", "(float[N,3,4,4] x) => (float[N,3,4,4] y) { y = Relu(x) }");
        put("deep.preprocess.json", "{\"scale\": " + deep + "}");
        put("images/1.png", "no image");
        put("images/2.png", "no image");
        verifyRefusal(run({"analyze", model, "--data", file("images")}), "nested more than 32 levels");
        const QString config = put("deep.json", "{\"skip\": " + deep + "}");
        verifyRefusal(run({"inspect", m_model, "--config", config}), "nested more than 32 levels");
        const QString amct = put("deep.amct.json", "{\"version\": 1, \"x\": " + deep + "}");
        verifyRefusal(run({"import", amct, "--from", "amct", "--model", m_model, "-o", file("out.json")}),
                      "nested more than 32 levels");
    }

    void regularExpressionsTakeBoundedTime_data() {
        QTest::addColumn<QString>("pattern");
        QTest::newRow("deep") << QString(16'000, '(') + QString(16'000, ')');
        QTest::newRow("nested") << QString(2'000, '(') + QString(2'000, ')');
        QTest::newRow("exponential") << "(.*)*(.*)*(.*)*(.*)*z";
        QTest::newRow("repeated") << "((x{1000}){1000}){1000}";
        QTest::newRow("backreference") << "(a)\\1";
        QTest::newRow("unbalanced") << "(";
    }
    void regularExpressionsTakeBoundedTime() {
        QFETCH(QString, pattern);
        const QString model = putModel("named.onnx", "(float[N,2] x) => (float[N,2] y) { y = Relu(x) }");
        const QJsonObject rule{{"kind", "pattern"}, {"regex", pattern}};
        const QString config =
            put("pattern.json",
                QJsonDocument(QJsonObject{{"skip", QJsonObject{{"rules", QJsonArray{rule}}}}}).toJson());
        const Outcome outcome = run({"inspect", model, "--config", config});
        verifyRefusal(outcome,
                      pattern.startsWith("(.*)") ? "no layer's name matches" : "the regular expression");
        QVERIFY2(outcome.milliseconds < 5000, described(outcome));
    }

    /// Next to the model, not where the program runs.
    void externalDataOfAConstantLiesNextToTheModel() {
        const float values[] = {1, 2};
        put("constant/w.bin", QByteArray(reinterpret_cast<const char*>(values), sizeof values));
        const QString model =
            put("constant/c.onnx", QByteArray::fromStdString(externalConstantModel("w.bin")));
        const Outcome outcome = run({"inspect", model});
        QVERIFY2(outcome.code == 0, described(outcome));
        verifyRefusal(run({"transform", model, "-o", file("constant/w.bin")}), "external data of the model");
        const QString foreign =
            put("constant/f.onnx", QByteArray::fromStdString(externalConstantModel("../d.npy")));
        verifyRefusal(run({"inspect", foreign}), "outside the model's folder");
    }

    void brokenConstantsNameTheFileAndTheNode() {
        const QString model = put("kind.onnx", QByteArray::fromStdString(constantOfAnotherKind()));
        const Outcome outcome = run({"inspect", model});
        verifyRefusal(outcome, "model 'kind.onnx'");
        QVERIFY2(outcome.err.contains("value_float"), described(outcome));
    }

    void errorsAfterLoadingNameTheModel() {
        const QString model = putModel(
            "wrong.onnx",
            "(float[N,3] x) => (float[N,5] y) <float[2,5] w = {1,2,3,4,5,6,7,8,9,10}> { y = MatMul(x, w) }");
        verifyRefusal(run({"analyze", model}), "model 'wrong.onnx'");
    }

    void sessionRequestsAreBounded() {
        QByteArray names;
        for (int i = 0; i < 200'000; ++i) names += (i ? ",\"layer" : "\"layer") + QByteArray::number(i) + '"';
        QByteArray dots("a");
        for (int i = 0; i < 100'000; ++i) dots += ".a";
        const QByteArray requests =
            "{\"do\":\"skip\",\"layers\":[" + names + "]}\n{\"do\":\"set\",\"key\":\"" + dots +
            "\",\"value\":1}\n{\"do\":\"set\",\"key\":\"layers." + dots + ".weight.bits\",\"value\":4}\n" +
            "{\"do\":\"skip\",\"layers\":[\"" + dots + "\"]}\n{\"do\":\"quit\"}\n";
        const Outcome outcome = run({"session", m_model, "--data", m_data}, requests);
        QVERIFY2(outcome.code == 0, described(outcome));
        const QStringList replies = outcome.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(replies.size(), 5);
        for (int i = 0; i < 4; ++i) {
            const QJsonObject reply = QJsonDocument::fromJson(replies[i].toUtf8()).object();
            QVERIFY2(reply["ok"] == QJsonValue(false), described(outcome));
            QVERIFY2(reply["error"].toString().size() < 1000, described(outcome));
        }
        QVERIFY2(outcome.milliseconds < 5000, described(outcome));
    }

    void longNamesCostLinearTime_data() {
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("one long name") << QByteArray(32'000, 'n');
        QTest::newRow("many scopes") << QByteArray("/a").repeated(50'000);
        QTest::newRow("many slashes") << QByteArray(100'000, '/');
    }
    void longNamesCostLinearTime() {
        QFETCH(QByteArray, name);
        const QString model = put("long.onnx", QByteArray::fromStdString(modelWithNames(name.toStdString())));
        for (const QStringList& command :
             QList<QStringList>{{"render", model, "-o", file("long.svg")},
                                {"render", model, "-o", file("long.dot")},
                                {"inspect", model},
                                {"analyze", model, "--all-layers", "--samples", "4"},
                                {"export", model, "--to", "html", "-o", file("long.html")},
                                {"export", model, "--to", "csv", "-o", file("long.csv")}}) {
            const Outcome outcome = run(command, {}, 2000);
            QVERIFY2(outcome.code == 0, described(outcome));
            QVERIFY2(outcome.milliseconds < 5000, command.join(' ').toUtf8() + ": " + described(outcome));
            for (const QString& line : (outcome.out + outcome.err).split('\n'))
                QVERIFY2(line.size() < 1000, qPrintable(line.left(300)));
        }
        verifyRefusal(run({"inspect", model, "--skip", QString::fromUtf8(name) + "x"}),
                      "the model has no layer");
    }

    void manyAttributesCostLinearTime() {
        const QString model = put("attributes.onnx", QByteArray::fromStdString(modelWithAttributes(4'000)));
        const Outcome outcome = run({"render", model, "-o", file("attributes.svg")});
        QVERIFY2(outcome.code == 0 && outcome.milliseconds < 5000, described(outcome));
    }

    void cellsOfTheLayerTableAreNoFormulas() {
        const QString model =
            put("formula.onnx", QByteArray::fromStdString(modelWithNames("=HYPERLINK(\"x\")")));
        const Outcome outcome = run({"export", model, "--to", "csv", "-o", file("formula.csv")});
        QVERIFY2(outcome.code == 0, described(outcome));
        const QByteArray csv = contentOf(file("formula.csv"));
        QVERIFY2(csv.contains("\"'=HYPERLINK(\"\"x\"\")"), csv);
        QVERIFY2(!csv.contains("\n=") && !csv.contains("\n\"="), csv);
    }

    /// With the reason on stderr and exit code 1, also where it fails before the event loop runs.
    void screenshotsOfWhatCannotBeOpenedEnd_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("no project") << "broken.quantloupe" << QByteArray("{}");
        QTest::newRow("no JSON") << "text.quantloupe" << QByteArray("hello");
        QTest::newRow("deep") << "deep.quantloupe" << QByteArray(200'000, '[');
        QTest::newRow("no model") << "broken.onnx" << QByteArray("hello");
        QTest::newRow("no file") << "missing.quantloupe" << QByteArray();
    }
    void screenshotsOfWhatCannotBeOpenedEnd() {
        QFETCH(QString, name);
        QFETCH(QByteArray, content);
        const QString path = content.isEmpty() ? file(name) : put(name, content);
        const Outcome outcome = runWindow({path, "--screenshot", file("x.png")});
        QVERIFY2(outcome.code == 1, described(outcome));
        QVERIFY2(outcome.err.contains("quantloupe: ") && outcome.err.contains(name), described(outcome));
        QVERIFY(!QFile::exists(file("x.png")));
    }

    void screenshotsDoNotOverwriteInputs() {
        QVERIFY(QFile::copy(m_model, file("shot.onnx")));
        QVERIFY(QFile::link(file("shot.onnx"), file("shot.png")));
        const Outcome outcome = runWindow({file("shot.onnx"), "--screenshot", file("shot.png")});
        QVERIFY2(outcome.code == 1 && outcome.err.contains("would be overwritten"), described(outcome));
        QCOMPARE(contentOf(file("shot.onnx")), contentOf(m_model));
    }

    /// It ends by itself, with an exit code, however little memory there is.
    void tightMemoryIsSaid() {
        const QString demo = QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/");
        for (const rlim_t mebibytes : {120, 160, 200, 240, 280, 320, 360, 400, 450, 500}) {
            const Outcome outcome = run({"analyze", demo + "mobilenetv2_cifar10.onnx", "--data", demo + "val",
                                         "--samples", "8", "--calibration-samples", "4", "--threads", "2"},
                                        {}, mebibytes, 120);
            const QByteArray what =
                "with " + QByteArray::number(qint64(mebibytes)) + " MiB: " + described(outcome);
            QVERIFY2(outcome.code == 0 || outcome.code == 1 || outcome.code == 127,
                     what);  // 127: the program cannot even be loaded
            if (outcome.code == 1) QVERIFY2(outcome.err.contains("memory"), what);
        }
    }

    void largeFixedDimensionsAreRefused() {
        const QString model = putModel(
            "wide.onnx", "(float[1000000,100] x) => (float[1000000,100] y) { t = Relu(x) y = Add(t, x) }");
        const Outcome outcome = run({"analyze", model}, {}, 1500, 120);
        verifyRefusal(outcome, "memory");
    }
};

}  // namespace

QTEST_GUILESS_MAIN(HostileInputTest)
#include "hostile_input_test.moc"
