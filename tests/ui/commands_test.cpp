// SPDX-License-Identifier: Apache-2.0
// The command palette, manual evaluation, the tabs, and the filter and columns of the layer table: by
// keyboard, in the whole window.
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>

#include "dialogs/shortcut_sheet.h"
#include "ui_test_support.h"
#include "widgets/command_palette.h"
#include "window/main_window.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class CommandsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }
    void init() {
        QSettings().clear();
        m_window = std::make_unique<MainWindow>();
        m_window->setAskBeforeClosing(false);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        QVERIFY(test::openAndWait(*m_window->document(), test::writeModel(m_folder)));
        QVERIFY(idle());
    }
    void cleanup() { m_window.reset(); }

    void paletteFindsCommandsByAFewLettersAndRunsThem() {
        QTest::keyClick(m_window.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        const QPointer<CommandPalette> palette = m_window->findChild<CommandPalette*>();
        QVERIFY(palette);
        QVERIFY(palette->list()->count() > 30);
        m_window->document()->select(NodeId(0));
        QTest::keyClicks(palette->line(), QStringLiteral("manual ev"));
        QVERIFY2(palette->list()->currentItem()->text().contains(QStringLiteral("Manual Evaluation")),
                 qPrintable(palette->list()->currentItem()->text()));
        QTest::keyClick(palette->line(), Qt::Key_Return);
        QVERIFY(QTest::qWaitFor([&] { return m_window->document()->manualEvaluation(); }, 5000));
        QVERIFY(!palette || !palette->isVisible());  // it deletes itself
    }

    void mnemonicsAreUniqueInEachMenu() {
        QStringList repeated;
        const auto check = [&](const auto& self, const QString& menu,
                               const QList<QAction*>& actions) -> void {
            QHash<QString, QString> known;
            for (const QAction* action : actions) {
                if (const QString key = QKeySequence::mnemonic(action->text()).toString(); !key.isEmpty()) {
                    if (known.contains(key))
                        repeated << QStringLiteral("%1: %2, %3").arg(menu, known[key], action->text());
                    known[key] = action->text();
                }
                if (action->menu()) self(self, action->text(), action->menu()->actions());
            }
        };
        check(check, QStringLiteral("menu bar"), m_window->menuBar()->actions());
        QCOMPARE(repeated.join('\n'), QString());
    }

    void paletteListsLiteralMatchesFirst() {
        QAction calibration(QStringLiteral("Open Calibration Folder")),
            operators(QStringLiteral("QOperator"));
        operators.setEnabled(false);
        CommandPalette palette({&calibration, &operators});
        palette.line()->setText(QStringLiteral("operator"));
        QCOMPARE(palette.list()->count(), 2);
        QCOMPARE(palette.list()->item(0)->text(), QStringLiteral("QOperator"));
        palette.line()->setText(QStringLiteral("xyz"));
        QCOMPARE(palette.list()->count(), 1);
        QVERIFY(palette.list()->item(0)->text().startsWith(QStringLiteral("No command matches")));
        QVERIFY(!(palette.list()->item(0)->flags() & Qt::ItemIsEnabled));
    }

    /// For example "export amct": the name of the menu and that of the command.
    void paletteFindsWordsOfMenusAndToolTips() {
        QAction amct(QStringLiteral("AMCT Configuration")), skip(QStringLiteral("Skip Quantization"));
        amct.setProperty("menuPath", QStringLiteral("Export \u25b8 "));
        skip.setToolTip(QStringLiteral("Keeps the selected layers in float"));
        CommandPalette palette({&amct, &skip});
        palette.line()->setText(QStringLiteral("export amct"));
        QCOMPARE(palette.list()->count(), 1);
        QCOMPARE(palette.list()->item(0)->text(), QStringLiteral("Export \u25b8 AMCT Configuration"));
        palette.line()->setText(QStringLiteral("keep in float"));
        QCOMPARE(palette.list()->count(), 1);
        QCOMPARE(palette.list()->item(0)->text(), QStringLiteral("Skip Quantization"));
    }

    void commandsMayVanishWhileThePaletteIsOpen() {
        auto recent = std::make_unique<QAction>(QStringLiteral("recent.onnx"));
        QAction quit(QStringLiteral("Quit"));
        CommandPalette palette({recent.get(), &quit});
        QCOMPARE(palette.list()->count(), 2);
        recent.reset();
        palette.line()->setText(QStringLiteral("e"));
        QVERIFY(palette.list()->item(0)->text().startsWith(QStringLiteral("No command matches")));
        palette.line()->setText(QStringLiteral("q"));
        QCOMPARE(palette.list()->count(), 1);
    }

    void scoresPreferWordBeginnings() {
        QVERIFY(fuzzyScore(QStringLiteral("sd"), QStringLiteral("Skip all downstream")) >
                fuzzyScore(QStringLiteral("sd"), QStringLiteral("Used")));
        QVERIFY(fuzzyScore(QStringLiteral("xyz"), QStringLiteral("Skip all downstream")) < 0);
        QVERIFY(fuzzyScore({}, QStringLiteral("anything")) == 0);
        // The beginning of a word is not preferred if the other letters are not after it.
        QVERIFY(fuzzyScore(QStringLiteral("qoper"), QStringLiteral("Quantized model (QOperator ONNX)")) > 0);
        // Matching ignores case, and spaces only separate words.
        QCOMPARE(fuzzyScore(QStringLiteral("SKIP A"), QStringLiteral("skip all")),
                 fuzzyScore(QStringLiteral("skipa"), QStringLiteral("skip all")));
    }

    void manualEditsAreEvaluatedTogether() {
        Document& document = *m_window->document();
        QTest::keyClick(m_window.get(), Qt::Key_H, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(document.manualEvaluation());
        QSignalSpy finished(&document, &Document::evaluationFinished);
        document.select(NodeId(0));
        m_window->layerTable()->view()->setFocus();
        QTest::keyClick(m_window->layerTable()->view(), Qt::Key_Space);
        QVERIFY(document.layer(NodeId(0))->state == LayerState::Skipped);  // at once
        document.edit(skipType(document.config(), "Conv"));
        QCOMPARE(document.pendingEdits(), 2);
        QTest::qWait(200);
        QCOMPARE(finished.size(), 0);
        QVERIFY(document.metricsStale());
        QTest::keyClick(m_window.get(), Qt::Key_F5);
        QVERIFY(QTest::qWaitFor([&] { return finished.size() == 1; }, 20000));
        QCOMPARE(document.pendingEdits(), 0);
        QVERIFY(document.manualEvaluation());
        QVERIFY(!document.metricsStale());
        document.undoStack()->undo();
        QVERIFY(idle());
        QCOMPARE(finished.size(), 1);
        QTest::keyClick(m_window.get(), Qt::Key_H,
                        Qt::ControlModifier | Qt::ShiftModifier);  // manual evaluation is off again
        QVERIFY(QTest::qWaitFor([&] { return finished.size() == 2; }, 20000));
    }

    void shortcutSheetListsEveryShortcut() {
        QTest::keyClick(m_window.get(), Qt::Key_F1);
        auto* sheet = m_window->findChild<ShortcutSheet*>();
        QVERIFY(sheet);
        QStringList texts;
        for (QTreeWidgetItemIterator item(test::child<QTreeWidget>(*sheet)); *item; ++item)
            texts << (*item)->text(1);
        for (const char* keys : {"Ctrl+Shift+P", "F5", "Ctrl+H", "Space", "U", "]"})
            QVERIFY2(texts.filter(QLatin1String(keys)).size() > 0, keys);
    }

    void tabsAreChosenByKeys() {
        int previous = WorkTabs::Layers;
        for (int tab = WorkTabs::Count - 1; tab >= 0; --tab) {
            QTest::keyClick(m_window.get(), static_cast<Qt::Key>(Qt::Key_1 + tab), Qt::AltModifier);
            // Without data there are no images and no classes, and the network has no blocks.
            const bool empty =
                tab == WorkTabs::Images || tab == WorkTabs::Classes || tab == WorkTabs::Blocks ||
                (tab == WorkTabs::Notices && m_window->document()->evaluation()->notices.empty());
            QCOMPARE(m_window->workTabs()->whyNot(tab).isEmpty(), !empty);
            QCOMPARE(m_window->workTabs()->currentTab(), empty ? previous : tab);
            previous = m_window->workTabs()->currentTab();
        }
        m_window->workTabs()->showTab(WorkTabs::Log);
        QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier);
        QCOMPARE(m_window->workTabs()->currentTab(), static_cast<int>(WorkTabs::Layers));
        QVERIFY(m_window->layerTable()->filterLine()->hasFocus());
    }

    void onlyAnotherModelClearsTheFilter() {
        QLineEdit* line = m_window->layerTable()->filterLine();
        line->setText(QStringLiteral("Conv"));
        QSignalSpy reloaded(m_window->document(), &Document::modelChanged);
        m_window->document()->reload();
        QVERIFY(reloaded.wait(20000));
        QCOMPARE(line->text(), QStringLiteral("Conv"));
        QVERIFY(idle());
        const std::filesystem::path other =
            m_window->document()->model()->path.parent_path() / "another.onnx";
        saveModel(*m_window->document()->graph(), other);
        QVERIFY(test::openAndWait(*m_window->document(), other));
        QCOMPARE(line->text(), QString());
    }

    void filterSupportsExpressionsAndNegation() {
        QLineEdit* line = m_window->layerTable()->filterLine();
        const auto names = [&](const QString& text) {
            line->setText(text);
            m_window->layerTable()->view()->sortByColumn(LayerTableModel::Number, Qt::AscendingOrder);
            QStringList seen;
            for (int row = 0; row < m_window->layerTable()->filter()->rowCount(); ++row)
                seen << m_window->layerTable()->filter()->index(row, LayerTableModel::Name).data().toString();
            return seen.join(QLatin1Char(' '));
        };
        QCOMPARE(names(QStringLiteral("/_[24]$/")), QStringLiteral("Conv_2 Conv_4"));
        QCOMPARE(names(QStringLiteral("re:^Conv -state:skipped")), QStringLiteral("Conv_0 Conv_2"));
        QCOMPARE(names(QStringLiteral("-op:conv")), QStringLiteral("Relu_1 Relu_3 Relu_5"));
        QCOMPARE(names(QStringLiteral("op:Conv qs>=0 state:skipped")), QStringLiteral("Conv_4"));
        QCOMPARE(names(QStringLiteral("weights>=4 weights<=4")), QStringLiteral("Conv_0 Conv_2 Conv_4"));
        QVERIFY(line->toolTip().isEmpty());
        names(QStringLiteral("/_[24/"));
        QVERIFY(!line->toolTip().isEmpty());                        // the error message
        QCOMPARE(m_window->layerTable()->filter()->rowCount(), 3);  // an incomplete term hides nothing
    }

    void columnsAreRemembered() {
        QTableView* view = m_window->layerTable()->view();
        m_window->resize(2400, 850);  // with room for all columns
        QTRY_VERIFY(!view->isColumnHidden(LayerTableModel::Cosine));
        QVERIFY(view->isColumnHidden(LayerTableModel::WeightQs));
        for (auto* button : m_window->layerTable()->head()->findChildren<QPushButton*>())
            if (button->text().startsWith(QStringLiteral("Columns")))
                QTest::mouseClick(button, Qt::LeftButton);
        QMenu* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        for (QAction* action : menu->actions())
            if (action->text() == QStringLiteral("QS weight") || action->text() == QStringLiteral("cosine"))
                action->trigger();
        menu->close();
        QVERIFY(!view->isColumnHidden(LayerTableModel::WeightQs));
        QVERIFY(view->isColumnHidden(LayerTableModel::Cosine));
        view->horizontalHeader()->moveSection(view->horizontalHeader()->visualIndex(LayerTableModel::State),
                                              1);
        const QString csv = m_window->layerTable()->asCsv().section(QLatin1Char('\n'), 0, 0);
        QVERIFY(csv.contains(QStringLiteral("QS weight")) && !csv.contains(QStringLiteral("cosine")));
        MainWindow again;
        again.setAskBeforeClosing(false);
        QVERIFY(again.layerTable()->view()->isColumnHidden(LayerTableModel::Cosine));
        QVERIFY(!again.layerTable()->view()->isColumnHidden(LayerTableModel::WeightQs));
        QCOMPARE(again.layerTable()->view()->horizontalHeader()->visualIndex(LayerTableModel::State), 1);
    }

    void manyRowsAreSkippedAtOnce() {
        QTableView* view = m_window->layerTable()->view();
        m_window->layerTable()->filterLine()->setText(QStringLiteral("op:Conv -state:skipped"));
        view->setFocus();
        view->selectAll();
        QTest::keyClick(view, Qt::Key_Space);
        QVERIFY(m_window->document()->layer(NodeId(0))->state == LayerState::Skipped);
        QVERIFY(m_window->document()->layer(NodeId(2))->state == LayerState::Skipped);
        QCOMPARE(m_window->document()->undoStack()->count(), 1);
    }

  private:
    bool idle() {
        return QTest::qWaitFor([&] { return !m_window->document()->job()->busy(); }, 20000);
    }
    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(CommandsTest)
#include "commands_test.moc"
