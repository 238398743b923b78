// SPDX-License-Identifier: Apache-2.0
// The messages of the session protocol, without a process: which requests are rejected, and that a rejected
// request changes nothing.
#include "session_protocol.h"

#include <QtTest>

#include "session_request.h"
#include "support/text_model.h"

using namespace quantloupe;
using quantloupe::cli::SessionProtocol;

namespace {

const char* const kModel = R"(
    <ir_version: 8, opset_import: ["" : 13]>
    net (float[N,2,4,4] X) => (float[N,2,4,4] Y)
    <float[2,2,1,1] V = {1, 0.5, -1, 0.25}, float[2,2,1,1] W = {1, 2, -1, 3}>
    {
        A = Conv(X, V)
        B = Relu(A)
        Y = Conv(B, W)
    })";

}  // namespace

class SessionProtocolTest : public QObject {
    Q_OBJECT

  private:
    std::unique_ptr<Session> m_session;
    std::unique_ptr<SessionProtocol> m_protocol;

    OrderedJson ask(const char* line) { return m_protocol->answer(line); }
    OrderedJson config() { return ask(R"({"do":"config"})")["value"]; }

  private Q_SLOTS:
    void init() {
        m_session = std::make_unique<Session>(test::textModel(kModel));
        m_protocol = std::make_unique<SessionProtocol>(*m_session, QuantizationConfig{});
    }

    /// In percentage points, or in the unit of the user's metric.
    void dropsHaveTheUnitOfTheMetric() {
        QCOMPARE(cli::parseSessionRequest(R"({"do":"tune","max_drop":5})", false).tune.maxDrop, 0.05);
        QCOMPARE(cli::parseSessionRequest(R"({"do":"tune","max_drop":500})", true).tune.maxDrop, 500.0);
        QVERIFY(!m_session->hasMetric());
        QVERIFY(OrderedJson(ask(R"({"do":"tune","max_drop":500})")["error"]).dump().find("max_drop") !=
                std::string::npos);
        m_session->setMetric(UserMetric{[](const MetricInput&, const CancelToken&) { return 1.0; }});
        QVERIFY(m_session->hasMetric());
        QVERIFY(OrderedJson(ask(R"({"do":"tune","max_drop":500})")["error"]).dump().find("max_drop") ==
                std::string::npos);
    }

    void refusals_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QString>("mentions");
        const auto row = [](const char* name, const char* line, const char* mentions) {
            QTest::newRow(name) << QByteArray(line) << QString::fromUtf8(mentions);
        };
        row("nothing", "", "not valid JSON");
        row("no JSON", "{\"do\":", "not valid JSON");
        row("no UTF-8", "{\"do\":\"\xff\"}", "not valid JSON");
        row("no object", "[1, 2]", "must be a JSON object, not a list");
        row("nothing to do", "{}", "no \"do\"");
        row("do is a number", R"({"do":1})", "do: must be a string, not 1");
        row("unknown", R"({"do":"evalute"})", "did you mean 'evaluate'");
        row("unknown key", R"({"do":"evaluate","colds":true})", "unknown key 'colds' (did you mean 'cold'?)");
        row("doubled key", R"({"do":"evaluate","cold":true,"cold":false})", "duplicate key 'cold'");
        row("wrong type", R"({"do":"evaluate","cold":1})", "cold: must be true or false, not 1");
        row("no names", R"({"do":"skip"})", "layers: is missing");
        row("names are no list", R"({"do":"skip","layers":true})",
            "layers: must be a list of strings, not true");
        row("unknown layer", R"({"do":"skip","layers":["Conv_0","Conv_1"]})",
            "no layer 'Conv_1' (did you mean 'Conv_0'");
        row("unknown layer to quantize", R"({"do":"quantize","layers":["Rule_1"]})", "no layer 'Rule_1'");
        row("set without key", R"({"do":"set","value":4})", "key: is missing");
        row("set without value", R"({"do":"set","key":"quantization.weight.bits"})", "value: is missing");
        row("set an unknown key", R"({"do":"set","key":"quantization.weight.bytes","value":4})", "bytes");
        row("set a bad value", R"({"do":"set","key":"quantization.weight.bits","value":40})", "2 to 16");
        row("a rule that fits nothing",
            R"({"do":"set","key":"skip.rules","value":[{"kind":"type","op":"Gemmm"}]})",
            "no layer of type 'Gemmm'");
        row("a configuration of another model",
            R"({"do":"config","value":{"layers":{"Conv_9":{"quantize":true}}}})", "Conv_9");
        row("a configuration with an unknown key", R"({"do":"config","value":{"color":"red"}})", "color");
        row("undo", R"({"do":"undo"})", "nothing to undo");
        row("redo", R"({"do":"redo"})", "nothing to redo");
        row("tune without data", R"({"do":"tune","max_drop":1})", "tuning needs data");
        row("tune without a target", R"({"do":"tune"})", "max_drop: is missing");
        row("tune upwards", R"({"do":"tune","max_drop":-1})", "max_drop: -1 is out of range");
        row("tune for an unknown cost", R"({"do":"tune","max_drop":1,"cost":"time"})",
            "available: macs, parameters, layers");
        row("tune with half a step", R"({"do":"tune","max_drop":1,"max_steps":0.5})",
            "max_steps: must be a whole number");
        row("leave-one-out without data", R"({"do":"leave_one_out"})", "no data");
        row("quit with more", R"({"do":"quit","now":true})", "unknown key 'now'");
    }
    void refusals() {
        QFETCH(QByteArray, line);
        QFETCH(QString, mentions);
        const OrderedJson before = config();
        const OrderedJson reply = m_protocol->answer(line.toStdString());
        const QString text = QString::fromStdString(reply.dump());
        QVERIFY2(reply["ok"] == false && reply.size() == 2, qPrintable(text));
        const QString error = QString::fromStdString(reply["error"].get<std::string>());
        QVERIFY2(error.contains(mentions), qPrintable(error));
        QVERIFY(config() == before);
        QVERIFY(!m_protocol->ended());
        QVERIFY(ask(R"({"do":"undo"})")["ok"] == false);  // no history step was added either
    }

    void aRejectedRequestKeepsRedo() {
        QVERIFY(ask(R"({"do":"skip","layers":["Conv_0"]})")["ok"] == true);
        const OrderedJson skipped = config();
        QVERIFY(ask(R"({"do":"undo"})")["ok"] == true);
        QVERIFY(ask(R"({"do":"skip","layers":["Conv_7"]})")["ok"] == false);
        QVERIFY(ask(R"({"do":"set","key":"skip.rules","value":[{"kind":"downstream","from":"x"}]})")["ok"] ==
                false);
        QVERIFY(ask(R"({"do":"redo"})")["ok"] == true);
        QVERIFY(config() == skipped);
        QVERIFY(ask(R"({"do":"redo"})")["ok"] == false);
    }

    void eachEditIsOneStep() {
        const auto bits = [this] { return config()["quantization"]["weight"]["bits"].get<int>(); };
        QVERIFY(ask(R"({"do":"set","key":"quantization.weight.bits","value":4})")["ok"] == true);
        QVERIFY(ask(R"({"do":"set","key":"quantization.weight.bits","value":4})")["ok"] == true);
        QVERIFY(ask(R"({"do":"set","key":"quantization.weight.bits","value":5})")["ok"] == true);
        QCOMPARE(bits(), 5);
        ask(R"({"do":"undo"})");
        ask(R"({"do":"undo"})");
        QCOMPARE(bits(), 4);
        ask(R"({"do":"undo"})");
        QCOMPARE(bits(), 8);
        QVERIFY(ask(R"({"do":"undo"})")["ok"] == false);
        ask(R"({"do":"redo"})");
        QCOMPARE(bits(), 4);
        // A new edit discards the undone ones.
        QVERIFY(ask(R"({"do":"skip","layers":["Conv_0"]})")["ok"] == true);
        QVERIFY(ask(R"({"do":"redo"})")["ok"] == false);
    }

    void quantizeOverridesTheTail() {
        const auto state = [this](std::size_t layer) {
            return ask(R"({"do":"layers"})")["layers"][layer]["state"].get<std::string>();
        };
        QVERIFY(ask(R"({"do":"set","key":"skip.whole_tail","value":true})")["ok"] == true);
        QCOMPARE(state(2), std::string("skipped"));  // the tail
        QVERIFY(ask(R"({"do":"quantize","layers":["Conv_2","Conv_2"]})")["ok"] == true);
        QCOMPARE(state(2), std::string("quantized"));
        QVERIFY(ask(R"({"do":"skip","layers":["Conv_2"]})")["ok"] == true);
        QCOMPARE(state(2), std::string("skipped"));
        QVERIFY(config()["layers"].empty());
    }

    void configurationRoundTrips() {
        const OrderedJson before = config();
        OrderedJson other = before;
        other["quantization"]["weight"]["bits"] = 3;
        QVERIFY(m_protocol->answer(OrderedJson{{"do", "config"}, {"value", other}}.dump())["ok"] == true);
        QVERIFY(config() == other);
        ask(R"({"do":"undo"})");
        QVERIFY(config() == before);
    }

    void layerTableOnRequest() {
        QVERIFY(!ask(R"({"do":"evaluate"})").contains("layers"));
        const OrderedJson reply =
            ask(R"({"do":"set","key":"skip.tail","value":false,"layers":true,"cold":true})");
        QCOMPARE(reply["layers"].size(), std::size_t(3));
        QCOMPARE(reply["counts"]["quantized"].get<int>(), 2);
        QCOMPARE(reply["layers"][1]["host"].get<std::string>(), std::string("Conv_0"));
    }

    void quitEndsTheSession() {
        QVERIFY(ask(R"({"do":"quit"})")["ok"] == true);
        QVERIFY(m_protocol->ended());
    }
};

QTEST_GUILESS_MAIN(SessionProtocolTest)
#include "session_protocol_test.moc"
