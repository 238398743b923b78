// SPDX-License-Identifier: Apache-2.0
// The dialog that changes the inputs of a model. (What the changes do: set_inputs_test.)
#include "dialogs/set_inputs_dialog.h"

#include "base/atomic_file.h"
#include "model/load_model.h"
#include "support/text_model.h"
#include "ui_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class SetInputsDialogTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }

    void theModelIsWrittenWithOtherInputs() {
        const std::filesystem::path model = m_folder.filePath(QStringLiteral("m.onnx")).toStdString(),
                                    fixed = m_folder.filePath(QStringLiteral("fixed.onnx")).toStdString();
        writeFileAtomically(model, test::textModelBytes(R"(<ir_version: 8, opset_import: ["" : 13]> g
            (float[n,samples] x, int64 rate) => (float[n,samples] y) <int64 High = {16000}>
            { fast = Equal (rate, High)
              y = If <then_branch = a () => (float[n,samples] p) { p = Abs (x) },
                      else_branch = b () => (float[n,samples] q) { q = Exp (x) }> (fast) })"));
        Document document;
        document.open({model, {}, {}, {}});  // it cannot be evaluated
        QVERIFY(QTest::qWaitFor([&] { return document.hasModel() && !document.job()->busy(); }, 20000));
        SetInputsDialog dialog(document);
        dialog.show();
        QVERIFY(!test::button(dialog, "save")->isEnabled());
        QCOMPARE(test::child<QTableWidget>(dialog)->item(0, 2)->text(), QStringLiteral("n, samples"));
        const auto write = [&](const std::filesystem::path& path) {
            dialog.write(path);
            return QTest::qWaitFor(
                [&] { return !test::labelText(dialog, "result").startsWith(QStringLiteral("Writing")); },
                20000);
        };

        test::child<QTableWidget>(dialog)->item(1, 3)->setText(QStringLiteral("fast"));
        QVERIFY(test::button(dialog, "save")->isEnabled());
        QVERIFY(write(fixed));
        QVERIFY2(
            test::labelText(dialog, "result").contains(QStringLiteral("of type int64 and cannot be 'fast'")),
            qPrintable(test::labelText(dialog, "result")));
        QVERIFY(!std::filesystem::exists(fixed));

        test::child<QTableWidget>(dialog)->item(1, 3)->setText(QStringLiteral("16000"));
        test::child<QTableWidget>(dialog)->item(0, 2)->setText(QStringLiteral("batch, 512"));
        QVERIFY(write(model));
        QVERIFY2(test::labelText(dialog, "result").contains(QStringLiteral("would be overwritten")),
                 qPrintable(test::labelText(dialog, "result")));
        QVERIFY(write(fixed));
        QCOMPARE(dialog.result(), static_cast<int>(QDialog::Accepted));
        QVERIFY(dialog.written() == fixed);
        const GraphPtr graph = loadModel(fixed).graph;
        QCOMPARE(graph->inputs().size(), std::size_t(1));
        QCOMPARE(toString(*graph->tensor(graph->inputs()[0]).shape), "batch×512");
        QVERIFY(graph->findTensor("y").has_value());
        for (const Node& node : graph->nodes()) QVERIFY(node.op != "If");
    }
};

QTEST_MAIN(SetInputsDialogTest)
#include "set_inputs_dialog_test.moc"
