// SPDX-License-Identifier: Apache-2.0
// Shapes and values of inputs that are set when a model is loaded.
#include <onnx/onnx_pb.h>

#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "model/load_model.h"
#include "support/errors.h"
#include "support/small_graph.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

/// The sampling rate chooses the branch; the intermediate shape in the file fits only one sample.
constexpr const char* kModel =
    R"(<ir_version: 8, opset_import: ["" : 13]> g
    (float[1,samples] x, int64 rate, bool[1] cached, float[batch,2] state, float16[2] bias) =>
    (float[1,samples] y, float[batch,2] next)
    <int64 High = {16000}>
    { negative = Neg (x) fast = Equal (rate, High)
      y = If <then_branch = a () => (float[1,samples] p) { p = Abs (negative) },
              else_branch = b () => (float[1,samples] q) { q = Exp (negative) }> (fast)
      shift = Cast <to = 1> (bias) next = Add (state, shift) })";

}  // namespace

class SetInputsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    GraphPtr loaded(const InputChanges& changes) const {
        return loadModel(m_folder.filePath(QStringLiteral("m.onnx")).toStdString(), changes).graph;
    }

    static QString shapeOf(const Graph& graph, const std::string& tensor) {
        const auto& shape = graph.tensor(*graph.findTensor(tensor)).shape;
        return shape ? QString::fromStdString(toString(*shape)) : QStringLiteral("unknown");
    }

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        writeFileAtomically(m_folder.filePath(QStringLiteral("m.onnx")).toStdString(),
                            test::textModelBytes(kModel));
    }

    void shapesReplaceThoseOfTheFile() {
        const GraphPtr graph =
            loaded({.shapes = {{"x", {"batch", "512"}}, {"state", {"?", "2"}}}, .sizes = {}, .values = {}});
        QCOMPARE(shapeOf(*graph, "x"), QStringLiteral("batch×512"));
        QCOMPARE(shapeOf(*graph, "negative"), QStringLiteral("batch×512"));
        QCOMPARE(shapeOf(*graph, "state"), QStringLiteral("?×2"));
        QCOMPARE(shapeOf(*graph, "next"), QStringLiteral("?×2"));
    }

    void sizesAreReplacedEverywhere() {
        const GraphPtr graph =
            loaded({.shapes = {}, .sizes = {{"samples", "512"}, {"batch", "n"}}, .values = {}});
        QCOMPARE(shapeOf(*graph, "x"), QStringLiteral("1×512"));
        QCOMPARE(shapeOf(*graph, "y"), QStringLiteral("1×512"));
        QCOMPARE(shapeOf(*graph, "next"), QStringLiteral("n×2"));
    }

    void anInputThatDecidesBecomesAConstant_data() {
        QTest::addColumn<QString>("rate");
        QTest::addColumn<QString>("branch");
        QTest::newRow("then") << "16000"
                              << "Abs";
        QTest::newRow("else") << "8000"
                              << "Exp";
    }
    void anInputThatDecidesBecomesAConstant() {
        QFETCH(QString, rate);
        QFETCH(QString, branch);
        const GraphPtr graph =
            loaded({.shapes = {}, .sizes = {}, .values = {{"rate", rate.toStdString()}, {"cached", "true"}}});
        QCOMPARE(graph->inputs().size(), std::size_t(3));
        const QString ops = test::ops(*graph);
        QVERIFY2(ops.contains(branch), qPrintable(ops));
        QVERIFY2(!ops.contains("If") && !ops.contains("Equal"), qPrintable(ops));
    }

    void halfValuesAreExact() {
        const GraphPtr graph = loaded({.shapes = {}, .sizes = {}, .values = {{"bias", "0.1"}}});
        QCOMPARE(graph->inputs().size(), std::size_t(4));
        const auto tensor = graph->findTensor("bias");
        QVERIFY(tensor.has_value());
        const Constant* bias = graph->constantOf(*tensor);
        QVERIFY(bias != nullptr && bias->type() == DataType::Float16);
        const QByteArray bytes(reinterpret_cast<const char*>(bias->bytes().data()),
                               static_cast<qsizetype>(bias->bytes().size()));
        QCOMPARE(bytes.toHex(), QByteArray("662e662e"));  // the half that is nearest to 0.1
    }

    void wrongChangesAreRefused_data() {
        QTest::addColumn<QStringList>("change");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const QStringList& change, const char* message) {
            QTest::newRow(name) << change << QString::fromUtf8(message);
        };
        row("no such input", {"value", "z", "1"},
            "no input 'z'; its inputs are x, rate, cached, state, bias");
        row("rank", {"shape", "x", "512"}, "the input 'x' has 2 dimensions, not 1");
        row("zero", {"size", "samples", "0"}, "a number from 1 to 2147483647, a name, or '?', not '0'");
        row("no number or name", {"size", "samples", "3.5"}, "a name, or '?', not '3.5'");
        row("not finite", {"value", "rate", "nan"}, "cannot be 'nan'");
        row("no such size", {"size", "time", "5"},
            "no input has a size called 'time'; their sizes are called "
            "batch, samples");
        row("no number", {"value", "rate", "fast"}, "the input 'rate' is of type int64 and cannot be 'fast'");
        row("a fraction", {"value", "rate", "0.5"}, "cannot be '0.5'");
        row("a large unsigned number", {"value", "rate", "9223372036854775808"}, "cannot be");
        row("too large", {"value", "rate", "1e30"}, "cannot be '1e30'");
        row("no condition", {"value", "cached", "2"}, "of type bool and cannot be '2'");
        row("an open size", {"value", "state", "0"}, "needs a shape of numbers");
    }
    void wrongChangesAreRefused() {
        QFETCH(QStringList, change);
        QFETCH(QString, message);
        InputChanges changes;
        const std::string name = change[1].toStdString(), text = change[2].toStdString();
        if (change[0] == "shape") changes.shapes[name] = {text};
        if (change[0] == "size") changes.sizes[name] = text;
        if (change[0] == "value") changes.values[name] = text;
        const QString error = test::errorOf([&] { loaded(changes); });
        QVERIFY2(error.contains(message), qPrintable(error));
    }
};

QTEST_GUILESS_MAIN(SetInputsTest)
#include "set_inputs_test.moc"
