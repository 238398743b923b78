// SPDX-License-Identifier: Apache-2.0
// Importing another tool's file in the window, on the demo: the review, and the single undo step.
#include "dialogs/import_dialog.h"

#include <QApplication>
#include <nlohmann/json.hpp>

#include "config/config_json.h"
#include "demo_window.h"

using namespace quantloupe;
using namespace quantloupe::ui;
using namespace quantloupe::test;

namespace {

constexpr const char* kFirst = "/features/features.0/features.0.0/Conv";

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

class ImportDialogTest : public QObject, private test::DemoWindow {
    Q_OBJECT

    static bool waitForReview(ImportDialog& dialog) {
        return QTest::qWaitFor([&] { return !dialog.reading(); }, 60000);
    }

  private Q_SLOTS:
    void initTestCase() { QVERIFY(openDemoWindow()); }

    void importIsReviewedAndOneUndoStep() {
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
        auto* review = test::child<QTreeWidget>(dialog);
        QCOMPARE(test::child<ChoiceBox>(dialog)->currentText(), QStringLiteral("AMCT configuration"));
        QVERIFY(waitForReview(dialog));
        dialog.show();
        shoot(&dialog, "import");
        QVERIFY(
            review->topLevelItem(0)->text(0).startsWith(QStringLiteral("Not in the model")));  // comes first
        const QString left = linesUnder(review, QStringLiteral("Not in the model")).join('\n');
        QVERIFY2(
            left.contains(QStringLiteral("conv.0.0/Cov")) && left.contains(QStringLiteral("did you mean")),
            qPrintable(left));
        QVERIFY(!linesUnder(review, QStringLiteral("Recognized")).isEmpty());
        QVERIFY(!linesUnder(review, QStringLiteral("Changes to the configuration")).isEmpty());
        QCOMPARE(test::button(dialog, "import")->text(), QStringLiteral("Import Recognized Settings"));
        QVERIFY(document().config() == before);  // a review changes nothing

        const int steps = document().undoStack()->count();
        test::button(dialog, "import")->click();
        QCOMPARE(document().undoStack()->count(), steps + 1);
        QVERIFY(document().config() != before);
        QVERIFY(document().layer(*document().graph()->findNode(kFirst))->state == LayerState::Skipped);
        QCOMPARE(document().undoStack()->undoText(), QStringLiteral("Import other.encodings.json"));
        document().undoStack()->undo();
        QVERIFY(document().config() == before);
        QVERIFY(waitForEvaluation());
    }

    void refinementsOfThePreviewAreTurnedOff() {
        const auto path =
            written("plain.py", "quantize_static('a.onnx', 'b.onnx', reader, per_channel=True)");
        const QuantizationConfig before = document().config();
        QuantizationConfig refined = before;
        refined.refine.biasCorrection = BiasCorrection::Empirical;
        QVERIFY(document().edit({refined, QStringLiteral("Bias correction"), {}, -1}));
        ImportDialog dialog(document(), path, m_window.get());
        QVERIFY(waitForReview(dialog));
        const QStringList changes =
            linesUnder(test::child<QTreeWidget>(dialog), "Changes to the configuration");
        QVERIFY2(!changes.filter(QStringLiteral("ias correction")).isEmpty(), qPrintable(changes.join('\n')));
        test::button(dialog, "import")->click();
        QCOMPARE(document().config().refine.biasCorrection, BiasCorrection::Off);
        document().undoStack()->undo();
        document().undoStack()->undo();
        QVERIFY(document().config() == before);
        QVERIFY(waitForEvaluation());
    }

    void similarNameIsChosenByAClick() {
        const std::string wrong = "/features/features.0/features.0.0/Cov";
        const auto path = written(
            "near.json",
            R"({"version": 1, "batch_num": 2, "activation_offset": true, "joint_quant": false, "do_fusion": true,
            "skip_fusion_layers": [], ")" +
                wrong + R"(": {"quant_enable": false},
            "/features/features.1/conv/conv.0/conv.0.0/Conv": {"quant_enable": true}})");
        const QuantizationConfig before = document().config();
        ImportDialog dialog(document(), path, m_window.get());
        auto* review = test::child<QTreeWidget>(dialog);
        dialog.show();
        QVERIFY(waitForReview(dialog));
        const auto link = [&](const QString& text) -> QTreeWidgetItem* {
            const auto found = review->findItems(text, Qt::MatchExactly | Qt::MatchRecursive);
            return found.isEmpty() ? nullptr : found.front();
        };
        const QString is = QStringLiteral("Use ") + QLatin1String(kFirst);
        QVERIFY(link(is));
        const auto clickOn = [&](QTreeWidgetItem* item) {
            review->scrollToItem(item);
            QTest::mouseClick(review->viewport(), Qt::LeftButton, {}, review->visualItemRect(item).center());
        };
        shoot(&dialog, "import_near");
        clickOn(link(is));
        QVERIFY(waitForReview(dialog));
        shoot(&dialog, "import_near_taken");
        QVERIFY(!linesUnder(review, QStringLiteral("Not in the model"))
                     .join('\n')
                     .contains(QString::fromStdString(wrong)));
        QCOMPARE(linesUnder(review, QStringLiteral("Names that you replaced")).size(), 1);
        QVERIFY(document().config() == before);
        // It can be undone, also by keyboard.
        review->setFocus();
        review->setCurrentItem(link(QStringLiteral("Undo This")));
        QTest::keyClick(review, Qt::Key_Return);
        QVERIFY(waitForReview(dialog));
        QVERIFY(dialog.isVisible());
        QVERIFY(link(is));
        clickOn(link(is));
        QVERIFY(waitForReview(dialog));
        test::button(dialog, "import")->click();
        const NodeId first = *document().graph()->findNode(kFirst);
        QCOMPARE(document().layer(first)->state, LayerState::Skipped);
        document().undoStack()->undo();
        QVERIFY(document().config() == before);
        QVERIFY(waitForEvaluation());
    }

    void usedNamesAreNotSuggested() {
        QString text = QStringLiteral(
            "{'version': 1, 'batch_num': 2, 'activation_offset': true, 'joint_quant': false, 'do_fusion': "
            "true, 'skip_fusion_layers': [], '%1': {'quant_enable': true}, '%1v': {'quant_enable': true}}");
        const auto path = written(
            "twice.json",
            text.arg(QLatin1String(kFirst)).replace(QLatin1Char('\''), QLatin1Char('"')).toStdString());
        ImportDialog dialog(document(), path, m_window.get());
        auto* review = test::child<QTreeWidget>(dialog);
        dialog.show();
        QVERIFY(waitForReview(dialog));
        const auto links = review->findItems(QStringLiteral("Use ") + QLatin1String(kFirst),
                                             Qt::MatchExactly | Qt::MatchRecursive);
        QCOMPARE(links.size(), 1);
        Q_EMIT review->itemClicked(links.front(), 0);
        QVERIFY(waitForReview(dialog));
        QVERIFY(!test::button(dialog, "import")->isEnabled());
        QVERIFY2(test::labelText(dialog, "result").contains(QLatin1String(kFirst)),
                 qPrintable(test::labelText(dialog, "result")));
        const auto back =
            review->findItems(QStringLiteral("Undo This"), Qt::MatchExactly | Qt::MatchRecursive);
        QCOMPARE(back.size(), 1);
        Q_EMIT review->itemClicked(back.front(), 0);
        QVERIFY(waitForReview(dialog));
        QVERIFY2(
            !review->findItems(QStringLiteral("Use "), Qt::MatchStartsWith | Qt::MatchRecursive).isEmpty(),
            qPrintable(test::labelText(dialog, "result")));
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
        QCOMPARE(test::child<ChoiceBox>(dialog)->currentText(), title);
        QVERIFY(waitForReview(dialog));
    }

    void invalidFileIsRejectedAndAnotherFormatCanBeTried() {
        const auto path = written("broken.json", R"({"version": 1, "quant_enable": tru})");
        ImportDialog dialog(document(), path, m_window.get());
        QVERIFY(waitForReview(dialog));
        dialog.show();
        shoot(&dialog, "import_refused");
        QVERIFY(!test::button(dialog, "import")->isEnabled());
        QVERIFY2(test::labelText(dialog, "result").contains(QStringLiteral("broken.json")) &&
                     test::labelText(dialog, "result").contains(QStringLiteral("line 1")),
                 qPrintable(test::labelText(dialog, "result")));
        const int aimet = test::child<ChoiceBox>(dialog)->findText(QStringLiteral("AIMET encodings"));
        test::child<ChoiceBox>(dialog)->setCurrentIndex(aimet);
        Q_EMIT test::child<ChoiceBox>(dialog)->activated(aimet);
        QVERIFY(waitForReview(dialog));
        QVERIFY(!test::button(dialog, "import")->isEnabled());
        ImportDialog own(document(), written("own.json", R"({"quantloupe": 1})"));
        QVERIFY2(test::labelText(own, "result").contains(QStringLiteral("Open Configuration")),
                 qPrintable(test::labelText(own, "result")));
        ImportDialog missing(document(), file("not_there.cfg"));
        QVERIFY(waitForReview(missing));
        QVERIFY2(test::labelText(missing, "result").contains(QStringLiteral("not_there.cfg")),
                 qPrintable(test::labelText(missing, "result")));
    }

    void droppingAForeignFileOpensTheReview() {
        m_window->openDropped(QString::fromStdString(
            written("dropped.cfg", "skip_layers: \"/classifier/classifier.1/Gemm\"\n").string()));
        const auto dialog = m_window->findChild<ImportDialog*>();
        QVERIFY(dialog != nullptr);
        QVERIFY(waitForReview(*dialog));
        QCOMPARE(test::child<ChoiceBox>(*dialog)->currentText(),
                 QStringLiteral("AMCT simplified configuration"));
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
};

QTEST_MAIN(ImportDialogTest)
#include "import_dialog_test.moc"
