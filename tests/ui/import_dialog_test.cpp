// SPDX-License-Identifier: Apache-2.0
// Import, batch export and "Verify in ONNX Runtime" as the user meets them in the window, on the demo.
#include <QDialogButtonBox>
#include <QMessageBox>
#include <QProcess>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "dialogs/batch_export_dialog.h"
#include "dialogs/import_dialog.h"
#include "dialogs/model_export_dialog.h"
#include "dialogs/verify_dialog.h"
#include "document/demo.h"
#include "interchange/onnxruntime/run_onnxruntime.h"
#include "reports/pdf_report.h"
#include "support/demo.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;
using namespace quantloupe::test;

namespace {

constexpr const char* kFirst = "/features/features.0/features.0.0/Conv";

/// Saves screenshots of the window to the folder QUANTLOUPE_SCREENSHOTS, if set, for manual review.
void shoot(QWidget* widget, const char* name) {
    const QString folder = qEnvironmentVariable("QUANTLOUPE_SCREENSHOTS");
    if (folder.isEmpty()) return;
    QTest::qWait(100);
    widget->grab().save(folder + QLatin1Char('/') + QLatin1String(name) + QLatin1String(".png"));
}

QStringList linesUnder(const QTreeWidget* tree, const QString& group) {
    QStringList lines;
    for (int i = 0; i < tree->topLevelItemCount(); ++i) {
        if (!tree->topLevelItem(i)->text(0).startsWith(group)) continue;
        for (int k = 0; k < tree->topLevelItem(i)->childCount(); ++k)
            lines << tree->topLevelItem(i)->child(k)->text(0);
    }
    return lines;
}

}  // namespace

class InterchangeDialogsTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
    std::filesystem::path file(const char* name) const {
        return m_folder.filePath(QString::fromLatin1(name)).toStdString();
    }
    Document& document() { return *m_window->document(); }

    std::filesystem::path written(const char* name, const std::string& text) {
        writeFileAtomically(file(name), text);
        return file(name);
    }
    static bool waitForReview(ImportDialog& dialog) {
        return QTest::qWaitFor([&] { return !dialog.reading(); }, 60000);
    }
    bool waitForEvaluation() {
        return QTest::qWaitFor(
            [&] {
                return !document().evaluating() && document().evaluation() &&
                       document().evaluation()->complete;
            },
            1800000);
    }

  private Q_SLOTS:
    void initTestCase() {
        keepSettingsIn(m_folder);
        QSettings().setValue(QStringLiteral("measureWhileIdle"), false);
        m_window = std::make_unique<MainWindow>(std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "resources");
        m_window->setAskBeforeClosing(false);
        if (qEnvironmentVariable("QUANTLOUPE_SCREENSHOTS_THEME") == QLatin1String("dark"))
            QApplication::setPalette(paletteOf(theme(true)));
        m_window->resize(1280, 860);
        m_window->show();
        QVERIFY(m_window->openDemo());
        QVERIFY(waitForEvaluation());
    }

    void anImportIsReviewedAndOneStep() {
        const auto path = written("other.encodings.json", "");
        writeFileAtomically(
            path,
            R"({"version": 1, "batch_num": 2, "activation_offset": true, "joint_quant": false, "do_fusion": true,
            "skip_fusion_layers": [], ")" +
                std::string(kFirst) + R"(": {"quant_enable": false},
            "/features/features.1/conv/conv.0/conv.0.0/Conv": {"quant_enable": true},
            "/features/features.1/conv/conv.0/conv.0.0/Cov": {"quant_enable": true}})");
        const QuantizationConfig before = document().config();
        ImportDialog dialog(document(), path, m_window.get());
        QCOMPARE(dialog.formatBox()->currentText(), QStringLiteral("AMCT configuration"));
        QVERIFY(waitForReview(dialog));
        dialog.show();
        shoot(&dialog, "import");
        QVERIFY(dialog.review()->topLevelItem(0)->text(0).startsWith(
            QStringLiteral("Not in the model")));  // comes first
        const QString left = linesUnder(dialog.review(), QStringLiteral("Not in the model")).join('\n');
        QVERIFY2(
            left.contains(QStringLiteral("conv.0.0/Cov")) && left.contains(QStringLiteral("did you mean")),
            qPrintable(left));
        QVERIFY(!linesUnder(dialog.review(), QStringLiteral("Recognized")).isEmpty());
        QVERIFY(!linesUnder(dialog.review(), QStringLiteral("Changes to the configuration")).isEmpty());
        QCOMPARE(dialog.importButton()->text(), QStringLiteral("Import Recognized Settings"));
        QVERIFY(document().config() == before);  // a review changes nothing

        const int steps = document().undoStack()->count();
        dialog.importButton()->click();
        QCOMPARE(document().undoStack()->count(), steps + 1);
        QVERIFY(document().config() != before);
        QVERIFY(document().layer(*document().graph()->findNode(kFirst))->state == LayerState::Skipped);
        QCOMPARE(document().undoStack()->undoText(), QStringLiteral("Import other.encodings.json"));
        document().undoStack()->undo();
        QVERIFY(document().config() == before);
        QVERIFY(waitForEvaluation());
    }

    void aNearNameIsTakenByAClick() {
        const std::string wrong = "/features/features.0/features.0.0/Cov";
        const auto path = written(
            "near.json",
            R"({"version": 1, "batch_num": 2, "activation_offset": true, "joint_quant": false, "do_fusion": true,
            "skip_fusion_layers": [], ")" +
                wrong + R"(": {"quant_enable": false},
            "/features/features.1/conv/conv.0/conv.0.0/Conv": {"quant_enable": true}})");
        const QuantizationConfig before = document().config();
        ImportDialog dialog(document(), path, m_window.get());
        dialog.show();
        QVERIFY(waitForReview(dialog));
        const auto link = [&](const QString& text) -> QTreeWidgetItem* {
            const auto found = dialog.review()->findItems(text, Qt::MatchExactly | Qt::MatchRecursive);
            return found.isEmpty() ? nullptr : found.front();
        };
        const QString is = QStringLiteral("Use ") + QLatin1String(kFirst);
        QVERIFY(link(is));
        const auto clickOn = [&](QTreeWidgetItem* item) {
            dialog.review()->scrollToItem(item);
            QTest::mouseClick(dialog.review()->viewport(), Qt::LeftButton, {},
                              dialog.review()->visualItemRect(item).center());
        };
        shoot(&dialog, "import_near");
        clickOn(link(is));
        QVERIFY(waitForReview(dialog));
        shoot(&dialog, "import_near_taken");
        QVERIFY(!linesUnder(dialog.review(), QStringLiteral("Not in the model"))
                     .join('\n')
                     .contains(QString::fromStdString(wrong)));
        QCOMPARE(linesUnder(dialog.review(), QStringLiteral("Names that you replaced")).size(), 1);
        QVERIFY(document().config() == before);
        // It can be taken back, by the keyboard too.
        dialog.review()->setFocus();
        dialog.review()->setCurrentItem(link(QStringLiteral("Undo This")));
        QTest::keyClick(dialog.review(), Qt::Key_Return);
        QVERIFY(waitForReview(dialog));
        QVERIFY(dialog.isVisible());
        QVERIFY(link(is));
        clickOn(link(is));
        QVERIFY(waitForReview(dialog));
        dialog.importButton()->click();
        const NodeId first = *document().graph()->findNode(kFirst);
        QCOMPARE(document().layer(first)->state, LayerState::Skipped);
        document().undoStack()->undo();
        QVERIFY(document().config() == before);
        QVERIFY(waitForEvaluation());
    }

    void aNameThatIsThereAlreadyIsNotGivenTwice() {
        QString text = QStringLiteral(
            "{'version': 1, 'batch_num': 2, 'activation_offset': true, 'joint_quant': false, 'do_fusion': "
            "true, "
            "'skip_fusion_layers': [], '%1': {'quant_enable': true}, '%1v': {'quant_enable': true}}");
        const auto path = written(
            "twice.json",
            text.arg(QLatin1String(kFirst)).replace(QLatin1Char('\''), QLatin1Char('"')).toStdString());
        ImportDialog dialog(document(), path, m_window.get());
        dialog.show();
        QVERIFY(waitForReview(dialog));
        const auto links = dialog.review()->findItems(QStringLiteral("Use ") + QLatin1String(kFirst),
                                                      Qt::MatchExactly | Qt::MatchRecursive);
        QCOMPARE(links.size(), 1);
        Q_EMIT dialog.review()->itemClicked(links.front(), 0);
        QVERIFY(waitForReview(dialog));
        QVERIFY(!dialog.importButton()->isEnabled());
        QVERIFY2(dialog.status().contains(QLatin1String(kFirst)), qPrintable(dialog.status()));
        const auto back =
            dialog.review()->findItems(QStringLiteral("Undo This"), Qt::MatchExactly | Qt::MatchRecursive);
        QCOMPARE(back.size(), 1);
        Q_EMIT dialog.review()->itemClicked(back.front(), 0);
        QVERIFY(waitForReview(dialog));
        QVERIFY2(!dialog.review()
                      ->findItems(QStringLiteral("Use "), Qt::MatchStartsWith | Qt::MatchRecursive)
                      .isEmpty(),
                 qPrintable(dialog.status()));
    }

    /// A chosen replacement concerns layer names only: keys and values with the same text stay.
    void onlyLayerNamesAreReplaced() {
        const auto path = written("keys.json", R"({"version": 1, "do_fusion": true, "skip_fusion_layers": [],
            "do_fusio": {"quant_enable": true}})");
        const std::map<std::string, std::string> renamed = {{"do_fusio", kFirst}, {"version", kFirst}};
        const ImportResult result =
            importFile(formatNamed("amct", true), document().graph(), {}, path, renamed);
        QVERIFY(result.unknown.empty());
        const std::string script = std::string("batch_num: 1\nskip_layers: \"batch_num\"\n");
        const ImportResult simple = importFile(formatNamed("amct-simple", true), document().graph(), {},
                                               written("keys.cfg", script), {{"batch_num", kFirst}});
        QCOMPARE(simple.config.rules.at(0).layers, std::vector<std::string>{kFirst});
    }

    void theFormatIsGuessed_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("title");
        const auto row = [](const char* name, const char* text, const char* title) {
            QTest::newRow(name) << QString(name) << QString(text) << QString(title);
        };
        row("a.cfg", "batch_num: 1", "AMCT simplified configuration");
        row("a.py", "from onnxruntime.quantization import quantize_static\nquantize_static('a', 'b', None)",
            "ONNX Runtime script");
        row("b.py", "from onnxruntime.quantization import QuantType\nfrom quark.onnx import ModelQuantizer",
            "Quark script");
        row("c.py", "settings.set_quantization_settings_for_layer('conv', skip_quantization=True)",
            "CLIKA settings");
        row("a.yaml", "a: 1", "CLIKA settings");
        row("b.json", R"({"global_config": {}, "exclude": []})", "Quark script");
        row("c.json", R"({"version": "0.6.1", "activation_encodings": {}, "param_encodings": {}})",
            "AIMET encodings");
        row("d.json", R"({"something": 1})", "");
    }
    void theFormatIsGuessed() {
        QFETCH(QString, name);
        QFETCH(QString, text);
        QFETCH(QString, title);
        ImportDialog dialog(document(), written(qPrintable(name), text.toStdString()));
        QCOMPARE(dialog.formatBox()->currentText(), title);
        QVERIFY(waitForReview(dialog));
    }

    void aBadFileIsRefusedAndAnotherFormatCanBeTried() {
        const auto path = written("broken.json", R"({"version": 1, "quant_enable": tru})");
        ImportDialog dialog(document(), path, m_window.get());
        QVERIFY(waitForReview(dialog));
        dialog.show();
        shoot(&dialog, "import_refused");
        QVERIFY(!dialog.importButton()->isEnabled());
        QVERIFY2(dialog.status().contains(QStringLiteral("broken.json")) &&
                     dialog.status().contains(QStringLiteral("line 1")),
                 qPrintable(dialog.status()));
        const int aimet = dialog.formatBox()->findText(QStringLiteral("AIMET encodings"));
        dialog.formatBox()->setCurrentIndex(aimet);
        Q_EMIT dialog.formatBox()->activated(aimet);
        QVERIFY(waitForReview(dialog));
        QVERIFY(!dialog.importButton()->isEnabled());
        ImportDialog own(document(), written("own.json", R"({"quantloupe": 1})"));
        QVERIFY2(own.status().contains(QStringLiteral("Open Configuration")), qPrintable(own.status()));
        ImportDialog missing(document(), file("not_there.cfg"));
        QVERIFY(waitForReview(missing));
        QVERIFY2(missing.status().contains(QStringLiteral("not_there.cfg")), qPrintable(missing.status()));
    }

    void droppingAForeignFileOpensTheReview() {
        m_window->openDropped(QString::fromStdString(
            written("dropped.cfg", "skip_layers: \"/classifier/classifier.1/Gemm\"\n").string()));
        const auto dialog = m_window->findChild<ImportDialog*>();
        QVERIFY(dialog != nullptr);
        QVERIFY(waitForReview(*dialog));
        QCOMPARE(dialog->formatBox()->currentText(), QStringLiteral("AMCT simplified configuration"));
        dialog->reject();
        const QuantizationConfig before = document().config();
        QuantizationConfig other = before;
        other.skipTail = !other.skipTail;
        saveConfig(other, file("ours.json"));
        m_window->openDropped(QString::fromStdString(file("ours.json").string()));
        QVERIFY(document().config() == other);  // Quantloupe's own configuration needs no review
        document().undoStack()->undo();
        QVERIFY(waitForEvaluation());
    }

    /// Changing the export options is an undo step, but nothing is evaluated again.
    void howAModelIsWrittenIsChosenBeforeIt() {
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
        dialog.folderLine()->setText(folder);
        QVERIFY(!dialog.exportButton()->isEnabled());
        for (const char* format : {"amct", "quark", "onnxruntime", "csv"}) dialog.setChecked(format, true);
        QCOMPARE(dialog.exportButton()->text(), QStringLiteral("Export 4"));
        dialog.exportButton()->click();
        QVERIFY(QTest::qWaitFor([&] { return !dialog.running(); }, 600000));
        shoot(&dialog, "batch_export");
        QVERIFY2(dialog.status().startsWith(QStringLiteral("Wrote 4 of 4.")), qPrintable(dialog.status()));
        for (const char* name : {"mobilenetv2_cifar10.amct.json", "mobilenetv2_cifar10.quark.py",
                                 "mobilenetv2_cifar10.quark.float.onnx", "mobilenetv2_cifar10.onnxruntime.py",
                                 "mobilenetv2_cifar10.layers.csv"})
            QVERIFY2(QFileInfo::exists(folder + QLatin1Char('/') + QLatin1String(name)), name);
        int noticed = 0;
        for (int i = 0; i < dialog.list()->topLevelItemCount(); ++i)
            noticed += dialog.list()->topLevelItem(i)->childCount();
        QVERIFY(noticed >= 2);  // 4-bit weights are not Quark's
    }

    void oneThatFailsDoesNotKeepBackTheOthers() {
        const QString folder = m_folder.filePath(QStringLiteral("partly"));
        // a folder has the name of the file
        QDir().mkpath(folder + QStringLiteral("/mobilenetv2_cifar10.amct.json"));
        BatchExportDialog dialog(document(), m_window.get());
        dialog.folderLine()->setText(folder);
        for (int i = 0; i < dialog.list()->topLevelItemCount(); ++i)
            dialog.list()->topLevelItem(i)->setCheckState(0, Qt::Unchecked);
        dialog.setChecked("amct", true);
        dialog.setChecked("clika", true);
        QTimer::singleShot(200, [] {  // it asks before it overwrites
            if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget()))
                for (QAbstractButton* button : box->buttons())
                    if (button->text() == QStringLiteral("Overwrite")) button->click();
        });
        dialog.exportButton()->click();
        QVERIFY(QTest::qWaitFor([&] { return !dialog.running(); }, 600000));
        QVERIFY2(dialog.status().startsWith(QStringLiteral("Wrote 1 of 2.")), qPrintable(dialog.status()));
        QVERIFY(QFileInfo::exists(folder + QStringLiteral("/mobilenetv2_cifar10.clika.py")));
        QVERIFY(dialog.item("amct")->text(1).contains(QStringLiteral("amct.json")));
    }

    void willItHold() {
        VerifyDialog dialog(document(), m_window.get());
        dialog.show();
        const QString none = m_folder.filePath(QStringLiteral("no_runtime"));
        writeFileAtomically(none.toStdString(),
                            "#!/bin/sh\necho \"No module named 'onnxruntime'\" >&2\nexit 3\n");
        std::filesystem::permissions(none.toStdString(), std::filesystem::perms::owner_all);
        dialog.pythonLine()->setText(none);
        QCOMPARE(QSettings().value(QStringLiteral("python")).toString(), none);
        dialog.start();
        QVERIFY(dialog.job()->running());
        QVERIFY(QTest::qWaitFor([&] { return !dialog.job()->running(); }, 600000));
        shoot(&dialog, "verify_without");
        QCOMPARE(dialog.verdict(), QStringLiteral("The model could not be run."));
        QVERIFY2(dialog.details().contains(QStringLiteral("pip install onnxruntime")),
                 qPrintable(dialog.details()));

        dialog.pythonLine()->clear();
        QProcess python;
        python.start(QString::fromStdString(findPython().string()), {"-c", "import onnxruntime, numpy"});
        if (!python.waitForFinished(60000) || python.exitCode() != 0)
            QSKIP("Python with onnxruntime is not available (QUANTLOUPE_PYTHON)");
        dialog.start();
        QVERIFY(QTest::qWaitFor([&] { return !dialog.job()->running(); }, 600000));
        shoot(&dialog, "verify");
        QVERIFY2(dialog.verdict() == QStringLiteral("Verified."),
                 qPrintable(dialog.verdict() + dialog.details()));
        const double here = dialog.here().split(' ').at(0).toDouble(),
                     there = dialog.there().split(' ').at(0).toDouble();
        QVERIFY(std::abs(here - 100 * *document().evaluation()->quantized->top1) < 0.005);
        QVERIFY(std::abs(here - there) <= 0.5);
    }

    void verifyingCanBeCancelled() {
        VerifyDialog dialog(document(), m_window.get());
        const QString slow = m_folder.filePath(QStringLiteral("slow"));
        writeFileAtomically(slow.toStdString(), "#!/bin/sh\nsleep 600\n");
        std::filesystem::permissions(slow.toStdString(), std::filesystem::perms::owner_all);
        dialog.pythonLine()->setText(slow);
        dialog.start();
        QTest::qWait(1500);
        QVERIFY(dialog.job()->running());
        dialog.runButton()->click();
        QVERIFY(!dialog.job()->running());
        dialog.pythonLine()->clear();
    }  // and its end does not wait ten minutes

    void theReportOnPaper() {
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

QTEST_MAIN(InterchangeDialogsTest)
#include "interchange_dialogs_test.moc"
