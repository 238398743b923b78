// SPDX-License-Identifier: Apache-2.0
// Window features beyond a single model: custom shortcuts, several windows, the layout across restarts, and
// desktop notifications. (Files that change on disk: file_watch_test.)
#include <QApplication>
#include <QMenuBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QTabBar>
#include <map>
#include <set>

#include "chain_window.h"
#include "config/presets.h"
#include "dialogs/shortcut_sheet.h"
#include "window/evaluation_notice.h"
#include "window/shortcut_commands.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class WindowSessionTest : public QObject, private test::ChainWindow {
    Q_OBJECT
  private Q_SLOTS:
    void init() { QVERIFY(openChain()); }
    void cleanup() { m_window.reset(); }

    void noPanelHasAnInvalidSize() {
        QTest::failOnWarning(QRegularExpression(QStringLiteral("Negative sizes")));
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        window.resize(1111, 777);
        QTest::qWait(50);
    }

    /// The inspector becomes a tab next to a dock if there is no room for both.
    void docksLeaveSpaceForTheGraph() {
        Inspector* inspector = m_window->inspector();
        const int graph = m_window->graphView()->width();
        const auto tabbedWith = [this, inspector](const char* dock) {
            auto* mine = qobject_cast<QDockWidget*>(inspector->parentWidget());
            auto* other = m_window->findChild<QDockWidget*>(QLatin1String(dock));
            return mine && m_window->tabifiedDockWidgets(mine).contains(other);
        };
        const auto inItsColumn = [inspector] {
            return qobject_cast<QSplitter*>(inspector->parentWidget()) && inspector->isVisible();
        };
        const auto onScreen = [inspector] { return !inspector->visibleRegion().isEmpty(); };
        QVERIFY(inItsColumn());
        const int width = inspector->width();
        action("History")->trigger();
        QTRY_VERIFY(tabbedWith("historyDock"));
        action("Improve Accuracy")->trigger();
        QTRY_VERIFY(tabbedWith("improveDock"));
        QTRY_VERIFY(m_window->graphView()->width() > graph * 3 / 4);
        QTRY_VERIFY(!onScreen());

        auto* tabs = m_window->findChild<QTabBar*>(QString(), Qt::FindDirectChildrenOnly);
        QVERIFY(tabs);
        for (int i = 0; i < tabs->count(); ++i)
            if (tabs->tabText(i) == QStringLiteral("Inspector")) tabs->setCurrentIndex(i);
        QTRY_VERIFY(onScreen());

        m_window->resize(2400, 850);
        QTRY_VERIFY(inItsColumn());
        m_window->resize(1300, 850);
        QTRY_VERIFY(tabbedWith("improveDock"));
        m_window->findChild<QDockWidget*>(QStringLiteral("improveDock"))->hide();
        QTest::qWait(0);
        QVERIFY(tabbedWith("historyDock"));
        m_window->findChild<QDockWidget*>(QStringLiteral("historyDock"))->hide();
        QTRY_VERIFY(inItsColumn());
        QTRY_COMPARE(inspector->width(), width);

        // An inspector that the user has hidden stays hidden, until the user shows it.
        action("Inspector")->trigger();
        QVERIFY(inspector->isHidden());
        action("History")->trigger();
        QTRY_VERIFY(qobject_cast<QDockWidget*>(inspector->parentWidget()));
        QVERIFY(!onScreen());
        action("Inspector")->trigger();
        QTRY_VERIFY(onScreen());
        QVERIFY(tabbedWith("historyDock"));
        action("Inspector")->trigger();
        action("History")->trigger();
        QTRY_VERIFY(qobject_cast<QSplitter*>(inspector->parentWidget()));
        QVERIFY(inspector->isHidden());
    }

    /// Selecting a layer shows it in the inspector, except while the user works in Improve Accuracy.
    void aSelectedLayerRaisesTheInspector() {
        m_window->resize(1300, 850);
        const Inspector* inspector = m_window->inspector();
        const auto onScreen = [inspector] { return !inspector->visibleRegion().isEmpty(); };
        action("History")->trigger();
        QTRY_VERIFY(qobject_cast<QDockWidget*>(inspector->parentWidget()));
        QTRY_VERIFY(!onScreen());
        GraphCanvas* canvas = m_window->graphView()->canvas();
        canvas->setFocus();
        m_window->document()->select(NodeId(2));
        QTRY_VERIFY(onScreen());
        QVERIFY(canvas->hasFocus());

        action("Improve Accuracy")->trigger();
        QTRY_VERIFY(!onScreen());
        m_window->document()->select(NodeId(0));
        QTest::qWait(50);
        QVERIFY(!onScreen());
    }

    /// The content of the summary bar depends on its width, which must not depend on the content.
    void layoutIsStableAtEveryWidth() {
        class Resizes : public QObject {
          public:
            int count = 0;

          protected:
            bool eventFilter(QObject*, QEvent* event) override {
                count += event->type() == QEvent::Resize;
                return false;
            }
        } resizes;
        auto* summary = m_window->findChild<SummaryBar*>();
        QVERIFY(summary);
        summary->installEventFilter(&resizes);
        action("History")->trigger();
        for (int width = 1000; width < 1700; width += 17) {
            m_window->resize(width, 720);
            const auto settled = [&resizes] {
                resizes.count = 0;
                QTest::qWait(30);
                return resizes.count == 0;
            };
            QVERIFY2(QTest::qWaitFor(settled, 3000), qPrintable(QString::number(width)));
            for (const QPushButton* button : summary->findChildren<QPushButton*>())
                QVERIFY2(!button->isVisible() || button->width() >= button->sizeHint().width(),
                         qPrintable(QStringLiteral("%1 at %2").arg(button->text()).arg(width)));
        }
    }

    /// The layout that is saved is the one with the inspector in its column.
    void theLayoutIsSavedWithATabbedInspector() {
        const auto build = [] {
            auto window = std::make_unique<MainWindow>();
            window->setAskBeforeClosing(false);
            window->keepLayout();
            return window;
        };
        {
            const auto window = build();
            window->resize(1200, 777);
            window->show();
            QVERIFY(test::openAndWait(*window->document(), m_path));
            window->showImprove(ImprovePanel::Suggestions);
            QTRY_VERIFY(qobject_cast<QDockWidget*>(window->inspector()->parentWidget()));

            // A second window, which saves the layout, does not change the first one.
            qobject_cast<QDockWidget*>(window->inspector()->parentWidget())->raise();
            QTRY_VERIFY(!window->inspector()->visibleRegion().isEmpty());
            auto* columns = window->findChild<TuningPanel*>()->parentWidget();
            const QList<int> sizes = qobject_cast<QSplitter*>(columns)->sizes();
            window->openAnother()->close();
            QTest::qWait(100);
            QVERIFY(!window->inspector()->visibleRegion().isEmpty());
            QCOMPARE(qobject_cast<QSplitter*>(columns)->sizes(), sizes);
            window->close();
        }
        const auto window = build();
        window->show();
        QVERIFY(test::openAndWait(*window->document(), m_path));
        QTRY_VERIFY(qobject_cast<QDockWidget*>(window->inspector()->parentWidget()));
        test::actionNamed(window->allActions(), "Reset Panel Layout")->trigger();
        QVERIFY(qobject_cast<QSplitter*>(window->inspector()->parentWidget()));
        QVERIFY(window->inspector()->isVisible());
    }

    void commandsHaveDistinctNames() {
        std::set<QString> names;
        ShortcutSheet sheet(actions(), m_window->findChild<ShortcutCommands*>()->keys());
        for (QTreeWidgetItemIterator item(test::child<QTreeWidget>(sheet)); *item; ++item)
            if ((*item)->parent())
                QVERIFY2(names.insert((*item)->parent()->text(0) + (*item)->text(0)).second,
                         qPrintable((*item)->text(0)));
        QVERIFY(names.size() > 60);
        std::map<QString, QString> holders;
        for (const QAction* action : actions())
            for (const QKeySequence& keys : action->shortcuts()) {
                const auto [holder, first] = holders.emplace(keys.toString(), action->text());
                QVERIFY2(first,
                         qPrintable(keys.toString() + " of " + action->text() + " and " + holder->second));
            }
    }

    void shortcutsAreChangedAndStored() {
        QAction* fit = action("Fit Graph");
        QAction* columns = action("Wrap into Columns");
        QCOMPARE(columns->shortcut(), QKeySequence(Qt::Key_W));
        ShortcutSheet sheet(actions(), m_window->findChild<ShortcutCommands*>()->keys());
        choose(sheet, "Fit Graph");
        QTest::keyClick(test::child<QKeySequenceEdit>(sheet), Qt::Key_W);
        // The field waits whether more keys follow.
        QTRY_VERIFY2(test::labelText(sheet, "remark").contains("Wrap into Columns"),
                     qPrintable(test::labelText(sheet, "remark")));
        test::button(sheet, "assign")->click();
        QCOMPARE(fit->shortcut(), QKeySequence(Qt::Key_W));
        QVERIFY(columns->shortcut().isEmpty());

        // The key triggers the new command, not the old one.
        const Arrangement before = m_window->document()->layoutOptions().arrangement;
        QSignalSpy triggered(fit, &QAction::triggered);
        m_window->activateWindow();
        m_window->graphView()->canvas()->setFocus();
        QTest::keyClick(m_window->graphView()->canvas(), Qt::Key_W);
        QCOMPARE(triggered.size(), 1);
        QVERIFY(m_window->document()->layoutOptions().arrangement == before);

        // The next window has them, too; their defaults come back one by one or all at once.
        MainWindow next;
        QAction* nextFit = test::actionNamed(next.allActions(), "Fit Graph");
        QVERIFY(nextFit);
        QCOMPARE(nextFit->shortcut(), QKeySequence(Qt::Key_W));
        choose(sheet, "Wrap into Columns");
        QVERIFY(test::button(sheet, "default")->isEnabled());
        test::button(sheet, "default")->click();
        QCOMPARE(columns->shortcut(), QKeySequence(Qt::Key_W));
        QVERIFY(fit->shortcut().isEmpty());
        test::button(sheet, "reset")->click();
        QCOMPARE(fit->shortcut(), QKeySequence(Qt::Key_F));
        QVERIFY(QSettings().allKeys().filter("shortcuts").isEmpty());
    }

    void recentFilesAreNotCommands() {
        // A window that starts with a list of recent files; opening a model rebuilds that list.
        const auto other =
            test::writeModel(m_folder, QString::fromLatin1(test::kChain), QStringLiteral("other.onnx"));
        MainWindow next;
        next.setAskBeforeClosing(false);
        QVERIFY(test::openAndWait(*next.document(), other));
        QStringList recent;
        for (const QAction* entry : next.allActions())
            if (entry->text().endsWith(QLatin1String(".onnx"))) recent << entry->text();
        QCOMPARE(recent.size(), 2);  // the palette opens them by name
        ShortcutSheet sheet(next.allActions(), next.findChild<ShortcutCommands*>()->keys());
        for (QTreeWidgetItemIterator item(test::child<QTreeWidget>(sheet)); *item; ++item)
            QVERIFY2(!(*item)->text(0).contains(QLatin1String(".onnx")) &&
                         (*item)->text(0) != QLatin1String("Clear List"),
                     qPrintable((*item)->text(0)));
        test::button(sheet, "reset")->click();  // visits all commands: all of them must still exist
        QCOMPARE(test::actionNamed(next.allActions(), "Fit Graph")->shortcut(), QKeySequence(Qt::Key_F));
    }

    void secondWindowIsIndependent() {
        QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier);
        MainWindow* second = nullptr;
        for (QWidget* widget : QApplication::topLevelWidgets())
            if (auto* window = qobject_cast<MainWindow*>(widget); window && window != m_window.get())
                second = window;
        QVERIFY(second && second->isVisible());
        QVERIFY(!second->document()->hasModel());
        QVERIFY(test::openAndWait(*second->document(), m_path));
        second->document()->edit(skipType(second->document()->config(), "Conv"));
        QCOMPARE(second->document()->config().rules.size(), std::size_t(1));
        QVERIFY(m_window->document()->config().rules.empty());
        QPointer<MainWindow> gone = second;
        second->setAskBeforeClosing(false);
        second->close();
        QVERIFY(QTest::qWaitFor([&] { return gone.isNull(); }, 5000));
        QVERIFY(m_window->isVisible());
    }

    void layoutIsRestoredAndReset() {
        {
            MainWindow window;
            window.setAskBeforeClosing(false);
            window.keepLayout();
            window.resize(790, 711);  // the screen of the offscreen platform is 800 × 800
            window.show();
            QVERIFY(test::openAndWait(*window.document(), m_path));
            window.inspector()->hide();
            window.historyPanel()->parentWidget()->show();
            window.close();
        }
        MainWindow window;
        window.setAskBeforeClosing(false);
        window.keepLayout();
        QCOMPARE(window.size(), QSize(790, 711));
        QVERIFY(window.inspector()->isHidden());
        QVERIFY(!window.historyPanel()->parentWidget()->isHidden());
        test::actionNamed(window.allActions(), "Reset Panel Layout")->trigger();
        QVERIFY(!window.inspector()->isHidden());
        QVERIFY(window.historyPanel()->parentWidget()->isHidden());
        MainWindow third;
        third.keepLayout();
        QVERIFY(!third.inspector()->isHidden());
    }

    void lastSessionIsOfferedOrReopened() {
        const auto work = [this] {
            MainWindow window;
            window.setAskBeforeClosing(false);
            window.keepLayout();
            window.show();
            QVERIFY(test::openAndWait(*window.document(), m_path));
            window.document()->edit(skipType(window.document()->config(), "Relu"));
            QVERIFY(window.document()->saveConfig(m_folder.filePath("mine.json").toStdString()));
            window.close();
        };
        work();
        const auto reopened = [](MainWindow& window) {
            return QTest::qWaitFor(
                [&] { return window.document()->hasModel() && window.document()->evaluation(); }, 20000);
        };
        {
            MainWindow window;
            window.setAskBeforeClosing(false);
            window.show();
            window.reopenLast();
            QVERIFY(!window.document()->hasModel());
            QVERIFY2(window.messageBar()->text().contains("chain.onnx"),
                     qPrintable(window.messageBar()->text()));
            QTest::mouseClick(window.messageBar()->acceptButton(), Qt::LeftButton);
            QVERIFY(reopened(window));
            QCOMPARE(window.document()->model()->path, m_path);
            QCOMPARE(window.document()->config().rules.size(), std::size_t(1));
            QCOMPARE(window.document()->configPath(),
                     std::filesystem::path(m_folder.filePath("mine.json").toStdString()));
        }
        {
            MainWindow window;
            window.setAskBeforeClosing(false);
            test::actionNamed(window.allActions(), "Reopen the Last Session at Startup")->setChecked(true);
            window.show();
            window.reopenLast();
            QVERIFY(reopened(window));
        }
        std::filesystem::rename(m_path, m_path.string() + ".away");
        MainWindow window;
        window.show();
        window.reopenLast();
        QTest::qWait(100);
        QVERIFY(!window.document()->hasModel());
        QVERIFY(!window.messageBar()->isVisible());
    }

    void longEvaluationsNotifyWhenTheWindowIsInactive() {
        QSignalSpy told(m_window->findChild<EvaluationNotice*>(), &EvaluationNotice::notified);
        Document& document = *m_window->document();
        m_window->findChild<EvaluationNotice*>()->setLongSeconds(0);
        const auto evaluateOnce = [&] {
            QSignalSpy finished(&document, &Document::evaluationFinished);
            document.evaluate();
            return QTest::qWaitFor([&] { return !finished.empty(); }, 20000);
        };
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        QVERIFY(evaluateOnce());
        QCOMPARE(told.size(), 0);  // no notification while the window is active
        m_window->hide();
        QVERIFY(QTest::qWaitFor([] { return !QApplication::activeWindow(); }, 5000));
        QVERIFY(evaluateOnce());
        QCOMPARE(told.size(), 1);
        QVERIFY2(told.front().front().toString().startsWith("Evaluated chain in"),
                 qPrintable(told.front().front().toString()));
        m_window->findChild<EvaluationNotice*>()->setLongSeconds(1000);
        QVERIFY(evaluateOnce());
        QCOMPARE(told.size(), 1);
    }

  private:
    QList<QAction*> actions() const { return m_window->allActions(); }
    QAction* action(const char* name) const { return test::actionNamed(actions(), name); }
    static void choose(ShortcutSheet& sheet, const char* name) {
        const auto found = test::child<QTreeWidget>(sheet)->findItems(QLatin1String(name),
                                                                      Qt::MatchExactly | Qt::MatchRecursive);
        QCOMPARE(found.size(), 1);
        test::child<QTreeWidget>(sheet)->setCurrentItem(found.front());
    }
};

QTEST_MAIN(WindowSessionTest)
#include "window_session_test.moc"
