// SPDX-License-Identifier: Apache-2.0
// Exports in the window, on the demo: options of models, several files at once, "Verify in ONNX Runtime", and
// the report.
#include <QApplication>
#include <QMessageBox>

#include "demo_window.h"
#include "dialogs/batch_export_dialog.h"
#include "dialogs/model_export_dialog.h"
#include "dialogs/verify_dialog.h"
#include "reports/pdf_report.h"
#include "support/python.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class ExportDialogsTest : public QObject, private test::DemoWindow {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { QVERIFY(openDemoWindow()); }

    /// Changing the export options is an undo step, but nothing is evaluated again.
    void exportOptionsAreChosenInTheDialog() {
        ModelExportDialog dialog(document(), m_window.get());
        dialog.show();
        shoot(&dialog, "model_export");
        const QuantizationConfig before = document().config();
        QSignalSpy evaluated(&document(), &Document::evaluationChanged);
        const auto click = [&](const char* text) {
            for (QAbstractButton* button : dialog.findChildren<QAbstractButton*>())
                if (button->text() == QLatin1String(text)) QTest::mouseClick(button, Qt::LeftButton);
        };
        click("Weights in float");
        QVERIFY(document().config().exports.floatWeights);
        click("4-bit types");
        QVERIFY(!document().config().exports.fourBitTypes);
        QVERIFY(document().config().quantization == before.quantization);
        document().undoStack()->undo();
        document().undoStack()->undo();
        QVERIFY(document().config() == before);
        QCOMPARE(evaluated.size(), 0);
        QVERIFY(!document().evaluating());
    }

    void severalExportsAtOnce() {
        BatchExportDialog dialog(document(), m_window.get());
        dialog.show();
        const QString folder = m_folder.filePath(QStringLiteral("several"));
        test::child<QLineEdit>(dialog, "folder")->setText(folder);
        QVERIFY(!test::button(dialog, "export")->isEnabled());
        for (const char* format : {"amct", "quark", "onnxruntime", "csv"}) dialog.setChecked(format, true);
        QCOMPARE(test::button(dialog, "export")->text(), QStringLiteral("Export 4"));
        test::button(dialog, "export")->click();
        QVERIFY(QTest::qWaitFor([&] { return !dialog.running(); }, 600000));
        shoot(&dialog, "batch_export");
        QVERIFY2(test::labelText(dialog, "result").startsWith(QStringLiteral("Wrote 4 of 4.")),
                 qPrintable(test::labelText(dialog, "result")));
        for (const char* name : {"mobilenetv2_cifar10.amct.json", "mobilenetv2_cifar10.quark.py",
                                 "mobilenetv2_cifar10.quark.float.onnx", "mobilenetv2_cifar10.onnxruntime.py",
                                 "mobilenetv2_cifar10.layers.csv"})
            QVERIFY2(QFileInfo::exists(folder + QLatin1Char('/') + QLatin1String(name)), name);
        int noticed = 0;
        for (const char* format : {"amct", "quark", "onnxruntime", "csv"})
            noticed += dialog.item(format)->childCount();
        QVERIFY(noticed >= 2);  // 4-bit weights are not Quark's
    }

    void failedExportDoesNotPreventOthers() {
        const QString folder = m_folder.filePath(QStringLiteral("partly"));
        // a folder has the name of the file
        QDir().mkpath(folder + QStringLiteral("/mobilenetv2_cifar10.amct.json"));
        BatchExportDialog dialog(document(), m_window.get());
        test::child<QLineEdit>(dialog, "folder")->setText(folder);
        for (int i = 0; i < test::child<QTreeWidget>(dialog)->topLevelItemCount(); ++i)
            test::child<QTreeWidget>(dialog)->topLevelItem(i)->setCheckState(0, Qt::Unchecked);
        QVERIFY(!test::button(dialog, "export")->isEnabled());
        dialog.setChecked("amct", true);
        dialog.setChecked("clika", true);
        QCOMPARE(dialog.item("amct")->parent()->checkState(0), Qt::PartiallyChecked);
        QTimer::singleShot(200, [] {  // it asks before it overwrites
            if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget()))
                for (QAbstractButton* button : box->buttons())
                    if (button->text() == QStringLiteral("Overwrite")) button->click();
        });
        test::button(dialog, "export")->click();
        QVERIFY(QTest::qWaitFor([&] { return !dialog.running(); }, 600000));
        QVERIFY2(test::labelText(dialog, "result").startsWith(QStringLiteral("Wrote 1 of 2.")),
                 qPrintable(test::labelText(dialog, "result")));
        QVERIFY(QFileInfo::exists(folder + QStringLiteral("/mobilenetv2_cifar10.clika.py")));
        QCOMPARE(dialog.item("amct")->text(1), QStringLiteral("Is a folder; choose a file name"));
        QVERIFY(dialog.item("amct")->toolTip(1).contains(QStringLiteral("amct.json")));

        // Cancelling the question changes nothing.
        const QString status = test::labelText(dialog, "result"), written = dialog.item("clika")->text(1);
        QTimer::singleShot(200, [] {
            if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) box->reject();
        });
        test::button(dialog, "export")->click();
        QVERIFY(!dialog.running());
        QCOMPARE(test::labelText(dialog, "result"), status);
        QCOMPARE(dialog.item("clika")->text(1), written);
    }

    void verifiesInOnnxRuntime() {
        VerifyDialog dialog(document(), m_window.get());
        dialog.show();
        const QString none =
            writtenProgram("no_runtime", "echo \"No module named 'onnxruntime'\" >&2\nexit 3\n");
        test::child<QLineEdit>(dialog)->setText(none);
        QCOMPARE(QSettings().value(QStringLiteral("python")).toString(), none);
        dialog.start();
        QVERIFY(dialog.job()->running());
        QVERIFY(QTest::qWaitFor([&] { return !dialog.job()->running(); }, 600000));
        shoot(&dialog, "verify_without");
        QCOMPARE(test::labelText(dialog, "verdict"), QStringLiteral("The model could not be run."));
        QVERIFY2(test::labelText(dialog, "details").contains(QStringLiteral("pip install onnxruntime")),
                 qPrintable(test::labelText(dialog, "details")));

        test::child<QLineEdit>(dialog)->clear();
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        document().setMetricProgram(
            MetricProgram{writtenProgram("metric", "echo 7.5\n").toStdString(), {}, 60, false});
        QVERIFY(waitForEvaluation());
        dialog.start();
        QVERIFY(QTest::qWaitFor([&] { return !dialog.job()->running(); }, 600000));
        shoot(&dialog, "verify");
        QVERIFY2(test::labelText(dialog, "verdict").startsWith(QStringLiteral("Verified")),
                 qPrintable(test::labelText(dialog, "verdict") + test::labelText(dialog, "details")));
        const double here = test::labelText(dialog, "here").split(' ').at(0).toDouble(),
                     there = test::labelText(dialog, "there").split(' ').at(0).toDouble();
        QVERIFY(std::abs(here - 100 * *document().evaluation()->quantized->top1) < 0.005);
        QVERIFY(std::abs(here - there) <= 0.5);
        QVERIFY2(test::labelText(dialog, "details")
                     .contains(QStringLiteral("Your metric is 7.5 in the preview and 7.5 in ONNX Runtime.")),
                 qPrintable(test::labelText(dialog, "details")));
        document().setMetricProgram(std::nullopt);
        QVERIFY(waitForEvaluation());
    }

    void verificationCanBeCancelled() {
        VerifyDialog dialog(document(), m_window.get());
        const QString started = m_folder.filePath(QStringLiteral("started"));
        const QByteArray program = "touch '" + started.toUtf8() + "'\nsleep 600\n";
        test::child<QLineEdit>(dialog)->setText(writtenProgram("slow", program.constData()));
        dialog.start();
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(started), 60000);
        QVERIFY(dialog.job()->running());
        test::button(dialog, "run")->click();
        QVERIFY(!dialog.job()->running());
        test::child<QLineEdit>(dialog)->clear();
    }  // and its end does not wait ten minutes

    void pdfReport() {
        // It appears under its name when it is complete.
        startExport(document(), exportInfo(ExportKind::Pdf), file("net.report.pdf"));
        QTRY_VERIFY_WITH_TIMEOUT(std::filesystem::exists(file("net.report.pdf")), 600000);
        const std::string pdf = readFile(file("net.report.pdf"));
        QVERIFY(pdf.starts_with("%PDF-"));
        QVERIFY(pdf.find("/Image") != std::string::npos);  // plots and the drawing
        QVERIFY2(pdf.size() < 10'000'000, qPrintable(QString::number(pdf.size())));
        const auto pages = QByteArray::fromStdString(pdf).count("/Type /Page\n");
        // a hundred layers, drawn and listed
        QVERIFY2(pages >= 3 && pages <= 40, qPrintable(QString::number(pages)));
        const QString folder = qEnvironmentVariable("QUANTLOUPE_SCREENSHOTS");
        if (!folder.isEmpty())
            QFile::copy(QString::fromStdString(file("net.report.pdf").string()),
                        folder + QStringLiteral("/report.pdf"));
    }
};

QTEST_MAIN(ExportDialogsTest)
#include "export_dialogs_test.moc"
