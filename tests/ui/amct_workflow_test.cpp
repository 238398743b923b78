// SPDX-License-Identifier: Apache-2.0
// AMCT's tuning workflow in the panel, to the verdict and back. (The workflow as data: amct_state_test.) The
// network's numbers are derived in color_data.h.
#include <QApplication>

#include "color_data.h"
#include "config/layer_choices.h"
#include "config/presets.h"
#include "panels/amct_panel.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class AmctWorkflowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        test::keepSettingsIn(m_folder);
        m_data = test::writeColors(m_folder);
    }
    void init() { QSettings().clear(); }
    void cleanup() { m_window.reset(); }

    void wholeWorkflowByMouseAndUndo() {
        openWindow();
        AmctPanel* panel = m_window->amctPanel();
        QVERIFY(!panel->isVisible());
        QTest::keyClick(m_window.get(), Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(panel->isVisible());
        // 4-bit weights cost half of the accuracy, so layers have to be skipped.
        QVERIFY(settled(AmctStep::Skip));
        QCOMPARE(panel->head(AmctStep::Initial)->remark(), QStringLiteral("\u221250.0"));
        QVERIFY(panel->head(AmctStep::Initial)->done() && !panel->head(AmctStep::Skip)->done());
        QVERIFY(panel->isOpen(AmctStep::Skip) && !panel->isOpen(AmctStep::Initial));
        QVERIFY2(panel->verdict().contains(QStringLiteral("loses 50.0 points")) &&
                     panel->verdict().contains(QStringLiteral("step 2")),
                 qPrintable(panel->verdict()));
        // Keeping the last layer in float fixes it.
        click("Skip: Output layers");
        QVERIFY(settled(AmctStep::JudgeSkipped));
        QVERIFY2(panel->verdict().startsWith(QStringLiteral("Target met")), qPrintable(panel->verdict()));
        QCOMPARE(panel->head(AmctStep::JudgeSkipped)->remark(), QStringLiteral("+0.0"));
        document().undoStack()->undo();
        QVERIFY(settled(AmctStep::Skip));  // the undo goes back
        QVERIFY(!panel->head(AmctStep::JudgeSkipped)->done());

        click("Skip: Input layers");  // does not fix it
        QVERIFY(settled(AmctStep::Parameters));
        QVERIFY(panel->head(AmctStep::Skip)->done());
        click("Try Variants");
        QVERIFY(panel->guide()->trying());
        QVERIFY(settled(AmctStep::Verdict));
        QVERIFY(!panel->guide()->trying());
        QVERIFY2(panel->verdict().contains(QStringLiteral("not suitable for quantization")),
                 qPrintable(panel->verdict()));
        QVERIFY(panel->isOpen(AmctStep::Verdict));
        const QuantizationConfig before = document().config();
        // trials do not appear in the history
        QCOMPARE(document().history().entries().size(), std::size_t(4));
        click("Keep Every Layer in Float");
        QVERIFY(waitFor([&] { return panel->guide()->state().verdict == TuningVerdict::Removed; }));
        QVERIFY(waitFor([&] { return !document().evaluating(); }));
        QCOMPARE(document().evaluation()->counts.quantized, std::size_t(0));
        document().undoStack()->undo();
        QVERIFY(document().config() == before);
        QVERIFY(waitFor([&] { return panel->guide()->state().verdict == TuningVerdict::Unsuitable; }));
        // A less strict target gives another verdict.
        enterTarget(QStringLiteral("60"));
        QVERIFY(waitFor([&] { return panel->guide()->state().verdict == TuningVerdict::Good; }));
        QCOMPARE(AmctGuide(&document()).target().points, 60.0);  // kept
        enterTarget(QStringLiteral("many"));
        QVERIFY(!test::child<NumberField>(*panel)->complaint().isEmpty());
        enterTarget(QStringLiteral("-1"));
        QCOMPARE(panel->guide()->target().points, 60.0);
    }

    void presetAndWorkflowLeadToEachOther() {
        openWindow();
        AmctPanel* panel = m_window->amctPanel();
        QVERIFY(!visibleButton("AMCT Workflow\u2026"));
        QTest::keyClick(m_window.get(), Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(settled(AmctStep::Skip));
        QVERIFY(!panel->guide()->differences().isEmpty());
        QTest::mouseClick(panel->head(AmctStep::Initial), Qt::LeftButton);
        QVERIFY(panel->isOpen(AmctStep::Initial) && !panel->isOpen(AmctStep::Skip));
        // collapsed again: the next step is open
        QTest::mouseClick(panel->head(AmctStep::Initial), Qt::LeftButton);
        QVERIFY(panel->isOpen(AmctStep::Skip));
        panel->head(AmctStep::Initial)->setFocus();
        QTest::keyClick(panel->head(AmctStep::Initial), Qt::Key_Return);
        click("Use AMCT Preset");
        QCOMPARE(document().config().preset, std::string(kAmctPreset));
        QVERIFY(settled(AmctStep::Initial));  // 8 bits are enough
        QVERIFY(panel->guide()->differences().isEmpty());
        QTest::keyClick(m_window.get(), Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(!panel->isVisible());
        click("AMCT Workflow\u2026");
        QVERIFY(panel->isVisible());
    }

    void workflowIsTabbedWithTheHistory() {
        openWindow();
        QWidget *history = m_window->historyPanel(), *panel = m_window->amctPanel();
        const auto inSight = [](QWidget* widget) {
            return widget->isVisible() && !widget->visibleRegion().isEmpty();
        };
        QTest::keyClick(m_window.get(), Qt::Key_H, Qt::ControlModifier);
        QVERIFY(waitFor([&] { return inSight(history); }));
        const int width = m_window->graphView()->width();
        QTest::keyClick(m_window.get(), Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(waitFor([&] { return inSight(panel) && !inSight(history); }));
        QVERIFY(std::abs(m_window->graphView()->width() - width) < width / 4);
        QTest::keyClick(m_window.get(), Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(waitFor([&] { return inSight(history); }));
        QTest::keyClick(m_window.get(), Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(waitFor([&] { return inSight(panel); }));
    }

    void linksRevealControlsAndSelectLayers() {
        openWindow();
        m_window->showImprove(ImprovePanel::Amct);
        QVERIFY(settled(AmctStep::Skip));
        click("Select: Output layers");
        QCOMPARE(document().selection(), std::vector{NodeId(4)});
        QTest::mouseClick(m_window->amctPanel()->head(AmctStep::Parameters), Qt::LeftButton);
        click("Ranges\u2026");
        QVERIFY(waitFor([&] {
            return QApplication::focusWidget() &&
                   QApplication::focusWidget()->accessibleName() == QStringLiteral("Calibration method");
        }));
        click("Weight Scales\u2026");
        QVERIFY(waitFor([&] {
            return QApplication::focusWidget() &&
                   QApplication::focusWidget()->accessibleName() == QStringLiteral("Weight scale method");
        }));
        QVERIFY(QApplication::focusWidget()->isVisible());
    }

    void editStopsTheTrialsAndVariantsCanBeApplied() {
        openWindow();
        m_window->showImprove(ImprovePanel::Amct);
        AmctGuide* guide = m_window->amctPanel()->guide();
        QVERIFY(settled(AmctStep::Skip));
        document().job()->setPaused(true);
        guide->tryVariants();
        QVERIFY(guide->trying());
        document().job()->cancel();
        QVERIFY(!guide->trying());
        guide->tryVariants();
        QVERIFY(waitFor([&] { return guide->state().untried == 0; }));
        const AmctVariant variant = guide->variants().front();
        QTest::mouseClick(m_window->amctPanel()->head(AmctStep::Parameters), Qt::LeftButton);
        click(("Use: " + variant.title.toStdString()).c_str());
        QVERIFY(document().config() == variant.edit.next);
        QVERIFY(waitFor(
            [&] { return guide->numberOf(document().config()).has_value() && !document().evaluating(); }));
        QCOMPARE(guide->state().numbers[4]->value, 50.0);
        // Trials are valid only for the data that they were evaluated on.
        document().undoStack()->undo();
        QVERIFY(waitFor([&] { return !document().evaluating(); }));
        QCOMPARE(guide->state().untried, std::size_t(0));
        document().openData(m_data);
        QVERIFY(waitFor([&] { return guide->state().untried > 0 && !document().evaluating(); }));
    }

    void invalidTargetInTheSettingsIsIgnored() {
        QSettings().setValue(QStringLiteral("amct/largestDrop"), QStringLiteral("-7"));
        Document document;
        QCOMPARE(AmctGuide(&document).target().points, 1.0);
    }

  private:
    template <typename Condition>
    static bool waitFor(Condition condition) {
        return QTest::qWaitFor(condition, 30000);
    }
    void openWindow() {
        QSettings().setValue(QStringLiteral("measureWhileIdle"), false);
        m_window = std::make_unique<MainWindow>();
        m_window->setAskBeforeClosing(false);
        m_window->resize(1600, 1100);
        m_window->show();
        QVERIFY(test::openColors(document(), m_folder, m_data));
    }
    Document& document() { return *m_window->document(); }
    bool settled(AmctStep step) {
        AmctPanel* panel = m_window->amctPanel();
        const bool there = waitFor([&] {
            return panel->guide()->state().present == step && !document().evaluating() &&
                   panel->head(step)->present();
        });
        QTest::qWait(20);  // the panel combines simultaneous changes
        return there;
    }
    QAbstractButton* visibleButton(const char* name) {
        for (auto* button : m_window->findChildren<QAbstractButton*>())
            if (button->isVisible() && (button->accessibleName() == QString::fromUtf8(name) ||
                                        button->text() == QString::fromUtf8(name)))
                return button;
        return nullptr;
    }
    void click(const char* name) {
        QAbstractButton* button = visibleButton(name);
        QVERIFY2(button && button->isEnabled(), name);
        QTest::mouseClick(button, Qt::LeftButton);
    }
    void enterTarget(const QString& text) {
        NumberField* field = test::child<NumberField>(*m_window->amctPanel());
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, text);
        QTest::keyClick(field, Qt::Key_Return);
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_data;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(AmctWorkflowTest)
#include "amct_workflow_test.moc"
