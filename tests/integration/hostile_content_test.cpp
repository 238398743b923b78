// SPDX-License-Identifier: Apache-2.0
// Damaged or malicious content is rejected with one readable message, in bounded time and memory. tests/fuzz
// searches for more cases.
#include <onnx/onnx_pb.h>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "support/hostile.h"

using namespace quantloupe::test;

namespace {

/// One Relu whose node, input and output have such names.
std::string modelWithNames(const std::string& name) {
    onnx::ModelProto model;
    model.ParseFromString(
        textModelBytes("<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2] x) => "
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
    model.ParseFromString(textModelBytes(
        "<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,2] x) => (float[N,2] y) { y = Relu(x) }"));
    for (int i = 0; i < count; ++i) {
        auto& attribute = *model.mutable_graph()->mutable_node(0)->add_attribute();
        attribute.set_name("attribute" + std::to_string(i));
        attribute.set_type(onnx::AttributeProto::STRING);
        attribute.set_s(std::string(50, 'v'));
    }
    return model.SerializeAsString();
}

/// A Constant whose value_float is declared as an integer.
std::string constantOfAnotherKind() {
    onnx::ModelProto model;
    model.ParseFromString(textModelBytes(
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
    model.ParseFromString(externalModelBytes(location));
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

}  // namespace

class HostileContentTest : public QObject {
    Q_OBJECT

  private:
    HostileFolder m_in;

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(!m_in.model.isEmpty() && !m_in.data.isEmpty());
        QCOMPARE(runCli({"analyze", m_in.model, "--data", m_in.data}).code, 0);
    }

    void deepJsonIsRefused() {
        const QByteArray deep = QByteArray(200'000, '[') + QByteArray(200'000, ']');
        const QString model =
            m_in.putModel("deep.onnx", "(float[N,3,4,4] x) => (float[N,3,4,4] y) { y = Relu(x) }");
        m_in.put("deep.preprocess.json", "{\"scale\": " + deep + "}");
        m_in.put("images/1.png", "no image");
        m_in.put("images/2.png", "no image");
        verifyRefusal(runCli({"analyze", model, "--data", m_in.file("images")}),
                      "nested more than 32 levels");
        const QString config = m_in.put("deep.json", "{\"skip\": " + deep + "}");
        verifyRefusal(runCli({"inspect", m_in.model, "--config", config}), "nested more than 32 levels");
        const QString amct = m_in.put("deep.amct.json", "{\"version\": 1, \"x\": " + deep + "}");
        verifyRefusal(
            runCli({"import", amct, "--from", "amct", "--model", m_in.model, "-o", m_in.file("out.json")}),
            "nested more than 32 levels");
    }

    void regularExpressionsTakeBoundedTime_data() {
        QTest::addColumn<QString>("pattern");
        QTest::newRow("deep") << QString(16'000, '(') + QString(16'000, ')');
        QTest::newRow("exponential") << "(.*)*(.*)*(.*)*(.*)*z";
        QTest::newRow("repeated") << "((x{1000}){1000}){1000}";
        QTest::newRow("backreference") << "(a)\\1";
        QTest::newRow("unbalanced") << "(";
    }
    void regularExpressionsTakeBoundedTime() {
        QFETCH(QString, pattern);
        const QString model = m_in.putModel("named.onnx", "(float[N,2] x) => (float[N,2] y) { y = Relu(x) }");
        const QJsonObject rule{{"kind", "pattern"}, {"regex", pattern}};
        const QString config =
            m_in.put("pattern.json",
                     QJsonDocument(QJsonObject{{"skip", QJsonObject{{"rules", QJsonArray{rule}}}}}).toJson());
        const Outcome outcome = runCli({"inspect", model, "--config", config});
        verifyRefusal(outcome,
                      pattern.startsWith("(.*)") ? "no layer's name matches" : "the regular expression");
        QVERIFY2(outcome.milliseconds < 5000, outcome.text());
    }

    /// External data is next to the model, not in the current folder.
    void externalDataOfAConstantIsNextToTheModel() {
        m_in.putTwoFloats("constant/w.bin");
        const QString model =
            m_in.put("constant/c.onnx", QByteArray::fromStdString(externalConstantModel("w.bin")));
        const Outcome outcome = runCli({"inspect", model});
        QVERIFY2(outcome.code == 0, outcome.text());
        verifyRefusal(runCli({"transform", model, "-o", m_in.file("constant/w.bin")}),
                      "external data of the model");
        const QString foreign =
            m_in.put("constant/f.onnx", QByteArray::fromStdString(externalConstantModel("../d.npy")));
        verifyRefusal(runCli({"inspect", foreign}), "outside the model's folder");
    }

    void brokenConstantsNameTheFileAndTheNode() {
        const QString model = m_in.put("kind.onnx", QByteArray::fromStdString(constantOfAnotherKind()));
        const Outcome outcome = runCli({"inspect", model});
        verifyRefusal(outcome, "model 'kind.onnx'");
        QVERIFY2(outcome.err.contains("value_float"), outcome.text());
    }

    void errorsAfterLoadingNameTheModel() {
        const QString model = m_in.putModel(
            "wrong.onnx",
            "(float[N,3] x) => (float[N,5] y) <float[2,5] w = {1,2,3,4,5,6,7,8,9,10}> { y = MatMul(x, w) }");
        verifyRefusal(runCli({"analyze", model}), "model 'wrong.onnx'");
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
        const Outcome outcome = runCli({"session", m_in.model, "--data", m_in.data}, requests);
        QVERIFY2(outcome.code == 0, outcome.text());
        const QStringList replies = outcome.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(replies.size(), 5);
        for (int i = 0; i < 4; ++i) {
            const QJsonObject reply = QJsonDocument::fromJson(replies[i].toUtf8()).object();
            QVERIFY2(reply["ok"] == QJsonValue(false), outcome.text());
            QVERIFY2(reply["error"].toString().size() < 1000, outcome.text());
        }
        QVERIFY2(outcome.milliseconds < 5000, outcome.text());
    }

    void longNamesTakeLinearTime_data() {
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("one long name") << QByteArray(32'000, 'n');
        QTest::newRow("many scopes") << QByteArray("/a").repeated(50'000);
        QTest::newRow("many slashes") << QByteArray(100'000, '/');
    }
    void longNamesTakeLinearTime() {
        QFETCH(QByteArray, name);
        const QString model =
            m_in.put("long.onnx", QByteArray::fromStdString(modelWithNames(name.toStdString())));
        for (const QStringList& command :
             QList<QStringList>{{"render", model, "-o", m_in.file("long.svg")},
                                {"render", model, "-o", m_in.file("long.dot")},
                                {"inspect", model},
                                {"analyze", model, "--all-layers", "--samples", "4"},
                                {"export", model, "--to", "html", "-o", m_in.file("long.html")},
                                {"export", model, "--to", "csv", "-o", m_in.file("long.csv")}}) {
            const Outcome outcome = runCli(command, {}, 2000);
            QVERIFY2(outcome.code == 0, outcome.text());
            QVERIFY2(outcome.milliseconds < 5000, command.join(' ').toUtf8() + ": " + outcome.text());
            for (const QString& line : (outcome.out + outcome.err).split('\n'))
                QVERIFY2(line.size() < 1000, qPrintable(line.left(300)));
        }
        verifyRefusal(runCli({"inspect", model, "--skip", QString::fromUtf8(name) + "x"}),
                      "the model has no layer");
    }

    void manyAttributesTakeLinearTime() {
        const QString model =
            m_in.put("attributes.onnx", QByteArray::fromStdString(modelWithAttributes(4'000)));
        const Outcome outcome = runCli({"render", model, "-o", m_in.file("attributes.svg")});
        QVERIFY2(outcome.code == 0 && outcome.milliseconds < 5000, outcome.text());
    }

    void cellsOfTheLayerTableAreNotFormulas() {
        const QString model =
            m_in.put("formula.onnx", QByteArray::fromStdString(modelWithNames("=HYPERLINK(\"x\")")));
        const Outcome outcome = runCli({"export", model, "--to", "csv", "-o", m_in.file("formula.csv")});
        QVERIFY2(outcome.code == 0, outcome.text());
        const QByteArray csv = contentOf(m_in.file("formula.csv"));
        QVERIFY2(csv.contains("\"'=HYPERLINK(\"\"x\"\")"), csv);
        QVERIFY2(!csv.contains("\n=") && !csv.contains("\n\"="), csv);
    }

    /// The reason is on stderr and the exit code is 1, even if it fails before the event loop runs.
    void screenshotsOfUnreadableFilesFail_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("no project") << "broken.quantloupe" << QByteArray("{}");
        QTest::newRow("no JSON") << "text.quantloupe" << QByteArray("hello");
        QTest::newRow("deep") << "deep.quantloupe" << QByteArray(200'000, '[');
        QTest::newRow("no model") << "broken.onnx" << QByteArray("hello");
        QTest::newRow("no file") << "missing.quantloupe" << QByteArray();
    }
    void screenshotsOfUnreadableFilesFail() {
        QFETCH(QString, name);
        QFETCH(QByteArray, content);
        const QString path = content.isEmpty() ? m_in.file(name) : m_in.put(name, content);
        const Outcome outcome = m_in.runWindow({path, "--screenshot", m_in.file("x.png")});
        QVERIFY2(outcome.code == 1, outcome.text());
        QVERIFY2(outcome.err.contains("quantloupe: ") && outcome.err.contains(name), outcome.text());
        QVERIFY(!QFile::exists(m_in.file("x.png")));
    }

    /// The program exits normally with an exit code, however little memory there is.
    void lackOfMemoryIsReported() {
        if (!kLimitsMemory) QSKIP("sanitizers reserve all address space");
        const QString demo = QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/");
        for (const rlim_t mebibytes : {120, 160, 200, 240, 280, 320, 360, 400, 450, 500}) {
            const Outcome outcome =
                runCli({"analyze", demo + "mobilenetv2_cifar10.onnx", "--data", demo + "val", "--samples",
                        "8", "--calibration-samples", "4", "--threads", "2"},
                       {}, mebibytes, 120);
            const QByteArray what =
                "with " + QByteArray::number(qint64(mebibytes)) + " MiB: " + outcome.text();
            QVERIFY2(outcome.code == 0 || outcome.code == 1 || outcome.code == 127,
                     what);  // 127: the program cannot even be loaded
            if (outcome.code == 1) QVERIFY2(outcome.err.contains("memory"), what);
        }
    }

    void largeFixedDimensionsAreRefused() {
        if (!kLimitsMemory) QSKIP("sanitizers reserve all address space");
        const QString model = m_in.putModel(
            "wide.onnx", "(float[1000000,100] x) => (float[1000000,100] y) { t = Relu(x) y = Add(t, x) }");
        const Outcome outcome = runCli({"analyze", model}, {}, 1500, 120);
        verifyRefusal(outcome, "memory");
    }
};

QTEST_GUILESS_MAIN(HostileContentTest)
#include "hostile_content_test.moc"
