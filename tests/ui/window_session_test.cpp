// SPDX-License-Identifier: Apache-2.0
// Window features beyond a single model: custom shortcuts, several windows, the layout across restarts, a
// model that changes on disk, and desktop notifications.
#include <QApplication>
#include <QMenuBar>
#include <map>
#include <set>

#include "config/presets.h"
#include "dialogs/shortcut_sheet.h"
#include "document/file_watch.h"
#include "window/evaluation_notice.h"
#include "window/shortcut_commands.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class WindowSessionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }
    void init() {
        QSettings().clear();
        m_path = test::writeModel(m_folder);
        m_window = test::openWindow(m_path, {1300, 850});
        QVERIFY(m_window);
    }
    void cleanup() { m_window.reset(); }

    /// A dock takes the place of the inspector if there is no room for both.
    void docksLeaveTheGraphItsRoom() {
        const Inspector* inspector = m_window->inspector();
        const int graph = m_window->graphView()->width();
        QVERIFY(inspector->isVisible());
        for (const char* dock : {"History", "Improve Accuracy"}) {
            action(dock)->trigger();
            QTRY_VERIFY2(inspector->isHidden(), dock);
            QTRY_VERIFY2(m_window->graphView()->width() > graph * 3 / 4, dock);
        }
        m_window->resize(2400, 850);
        QTRY_VERIFY(inspector->isVisible());
        m_window->resize(1300, 850);
        QTRY_VERIFY(inspector->isHidden());
        m_window->findChild<QDockWidget*>(QStringLiteral("improveDock"))->hide();
        QTest::qWait(0);
        QVERIFY(inspector->isHidden());  // the history is still there
        m_window->findChild<QDockWidget*>(QStringLiteral("historyDock"))->hide();
        QTRY_VERIFY(inspector->isVisible());
        // An inspector that the user has hidden stays hidden.
        action("Inspector")->trigger();
        QVERIFY(inspector->isHidden());
        action("History")->trigger();
        action("History")->trigger();
        QTest::qWait(0);
        QVERIFY(inspector->isHidden());
    }

    void commandsHaveDistinctNames() {
        std::set<QString> names;
        ShortcutSheet sheet(actions(), m_window->findChild<ShortcutCommands*>()->keys());
        for (QTreeWidgetItemIterator item(sheet.tree()); *item; ++item)
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

    void keysAreChangedAndKept() {
        QAction* fit = action("Fit Graph");
        QAction* columns = action("Wrap into Columns");
        QCOMPARE(columns->shortcut(), QKeySequence(Qt::Key_W));
        ShortcutSheet sheet(actions(), m_window->findChild<ShortcutCommands*>()->keys());
        choose(sheet, "Fit Graph");
        QTest::keyClick(sheet.editor(), Qt::Key_W);
        // The field waits whether more keys follow.
        QTRY_VERIFY2(sheet.remark()->text().contains("Wrap into Columns"),
                     qPrintable(sheet.remark()->text()));
        sheet.assignButton()->click();
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
        QAction* nextFit = named(next.allActions(), "Fit Graph");
        QVERIFY(nextFit);
        QCOMPARE(nextFit->shortcut(), QKeySequence(Qt::Key_W));
        choose(sheet, "Wrap into Columns");
        QVERIFY(sheet.defaultButton()->isEnabled());
        sheet.defaultButton()->click();
        QCOMPARE(columns->shortcut(), QKeySequence(Qt::Key_W));
        QVERIFY(fit->shortcut().isEmpty());
        sheet.resetButton()->click();
        QCOMPARE(fit->shortcut(), QKeySequence(Qt::Key_F));
        QVERIFY(QSettings().allKeys().filter("shortcuts").isEmpty());
    }

    void recentFilesAreNoCommands() {
        // A window that starts with a list of recent files; opening a model makes that list anew.
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
        for (QTreeWidgetItemIterator item(sheet.tree()); *item; ++item)
            QVERIFY2(!(*item)->text(0).contains(QLatin1String(".onnx")) &&
                         (*item)->text(0) != QLatin1String("Clear List"),
                     qPrintable((*item)->text(0)));
        sheet.resetButton()->click();  // goes over all commands: none of them may be gone
        QCOMPARE(named(next.allActions(), "Fit Graph")->shortcut(), QKeySequence(Qt::Key_F));
    }

    void aSecondWindowIsItsOwn() {
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

    void theLayoutIsKeptAndReset() {
        {
            MainWindow window;
            window.setAskBeforeClosing(false);
            window.keepLayout();
            window.resize(1111, 777);
            window.show();
            QVERIFY(test::openAndWait(*window.document(), m_path));
            window.inspector()->hide();
            window.historyPanel()->parentWidget()->show();
            window.close();
        }
        MainWindow window;
        window.setAskBeforeClosing(false);
        window.keepLayout();
        QCOMPARE(window.size(), QSize(1111, 777));
        QVERIFY(window.inspector()->isHidden());
        QVERIFY(!window.historyPanel()->parentWidget()->isHidden());
        named(window.allActions(), "Reset Panel Layout")->trigger();
        QVERIFY(!window.inspector()->isHidden());
        QVERIFY(window.historyPanel()->parentWidget()->isHidden());
        MainWindow third;
        third.keepLayout();
        QVERIFY(!third.inspector()->isHidden());
    }

    void theLastWorkIsOfferedOrOpenedAtOnce() {
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
            named(window.allActions(), "Reopen the Last Session at Startup")->setChecked(true);
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

    void aChangedFileIsOfferedAndKeepsTheTuning() {
        Document& document = *m_window->document();
        m_window->findChild<FileWatch*>()->setRest(30);
        document.edit(skipType(document.config(), "Relu"));
        ConfigEdit two{document.config(), QStringLiteral("skip"), {}};
        SkipRule rule;
        rule.layers = {"Conv_2"};
        two.next.rules.push_back(rule);
        QVERIFY(document.edit(two));
        QVERIFY(QTest::qWaitFor([&] { return !document.evaluating(); }, 20000));
        document.select(*document.graph()->findNode("Conv_2"));
        const auto measured = document.history().entries().size();
        QVERIFY(measured >= 1);

        // Another model in its place, by renaming as programs do: one weight is another, one layer more at
        // the end.
        QString text = QString::fromLatin1(test::kChain);
        text.replace("V = {1, 0.5, -1, 0.25}", "V = {1, 0.5, -1, 0.75}")
            .replace("Y = Relu(E)", "F = Relu(E)\n  Y = Neg(F)");
        test::writeModel(m_folder, text, "new.onnx");
        std::filesystem::rename(m_folder.filePath("new.onnx").toStdString(), m_path);
        QVERIFY(QTest::qWaitFor([&] { return m_window->messageBar()->acceptButton()->isVisible(); }, 10000));
        QVERIFY2(m_window->messageBar()->text().contains("chain.onnx has changed on disk"),
                 qPrintable(m_window->messageBar()->text()));
        const ModelPtrCheck before = document.model();
        m_window->messageBar()->acceptButton()->click();
        QVERIFY(QTest::qWaitFor(
            [&] { return document.model() != before && !document.evaluating() && document.evaluation(); },
            20000));

        QCOMPARE(document.graph()->nodeCount(), std::size_t(7));
        QCOMPARE(document.config().rules.size(), std::size_t(2));
        QCOMPARE(document.config().rules.back().layers, std::vector<std::string>{"Conv_2"});
        QCOMPARE(document.graph()->node(document.current()).name, std::string("Conv_2"));
        QVERIFY(document.history().entries().size() >= measured);
        QVERIFY(document.history().entries().front().otherModel);
        QVERIFY(!document.undoStack()->isClean());
        QVERIFY2(m_window->messageBar()->text().contains("reloaded"),
                 qPrintable(m_window->messageBar()->text()));
    }

    void aBrokenFileLeavesAllAsItIs() {
        Document& document = *m_window->document();
        document.edit(skipType(document.config(), "Relu"));
        m_window->findChild<FileWatch*>()->setRest(30);
        const ModelPtrCheck before = document.model();
        QFile file(QString::fromStdString(m_path.string()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("half a model");
        file.close();
        QVERIFY(QTest::qWaitFor([&] { return m_window->messageBar()->acceptButton()->isVisible(); }, 10000));
        QSignalSpy failed(&document, &Document::failed);
        m_window->messageBar()->acceptButton()->click();
        QVERIFY(QTest::qWaitFor([&] { return !failed.empty(); }, 10000));
        QCOMPARE(m_window->messageBar()->kind(), MessageKind::Error);
        QCOMPARE(document.model(), before);
        QCOMPARE(document.config().rules.size(), std::size_t(1));
        // The next good one is offered again.
        test::writeModel(m_folder);
        QVERIFY(QTest::qWaitFor([&] { return m_window->messageBar()->acceptButton()->isVisible(); }, 10000));
    }

    void filesThatBelongToTheModelAreWatchedToo() {
        m_window->findChild<FileWatch*>()->setRest(30);
        const auto offered = [&] {
            return QTest::qWaitFor([&] { return m_window->messageBar()->acceptButton()->isVisible(); },
                                   10000);
        };
        const auto write = [&](const QString& name, const QByteArray& bytes) {
            QFile file(m_folder.filePath(name));
            return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
        };
        // One that was not there when the model was opened.
        const QString beside = QFileInfo(QString::fromStdString(m_path.string())).completeBaseName() +
                               QStringLiteral(".preprocess.json");
        QVERIFY(write(beside, R"({"scale": 1})"));
        QVERIFY(offered());
        QVERIFY2(m_window->messageBar()->text().contains(beside), qPrintable(m_window->messageBar()->text()));
        QFile::remove(m_folder.filePath(beside));
        m_window->messageBar()->dismiss();

        // Weights in an external file: Y = X + W.
        std::array<float, 2> weights = {1, 2};
        const auto bytes = [&] {
            return QByteArray(reinterpret_cast<const char*>(weights.data()), sizeof weights);
        };
        QVERIFY(write(QStringLiteral("weights.bin"), bytes()));
        QVERIFY(write(QStringLiteral("outside.onnx"),
                      QByteArray::fromStdString(test::externalModelBytes("weights.bin"))));
        Document& document = *m_window->document();
        QVERIFY(test::openAndWait(document, m_folder.filePath(QStringLiteral("outside.onnx")).toStdString()));
        const auto weight = [&] {
            return document.graph()->tensor(*document.graph()->findTensor("W")).constant->floats()[1];
        };
        QCOMPARE(weight(), 2.0f);
        weights[1] = 5;
        QTest::qWait(20);  // another time stamp: the size is the same
        QVERIFY(write(QStringLiteral("weights.bin"), bytes()));
        QVERIFY(offered());
        QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("weights.bin")),
                 qPrintable(m_window->messageBar()->text()));
        const ModelPtrCheck before = document.model();
        m_window->messageBar()->acceptButton()->click();
        QVERIFY(QTest::qWaitFor([&] { return document.model() != before && !document.evaluating(); }, 20000));
        QCOMPARE(weight(), 5.0f);
    }

    void aMessageAboutDataGoesWhenTheDataIsThere() {
        Document& document = *m_window->document();
        document.openData(m_folder.filePath(QStringLiteral("nothing")).toStdString());
        QVERIFY(QTest::qWaitFor(
            [&] {
                return m_window->messageBar()->isVisible() &&
                       m_window->messageBar()->kind() == MessageKind::Error;
            },
            10000));
        QFile file(m_folder.filePath(QStringLiteral("ones.npy")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QByteArray header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 8, 8), }");
        header = header.leftJustified(117, ' ') + '\n';
        const std::vector<float> ones(256, 1.0f);
        file.write(QByteArray("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header +
                   QByteArray(reinterpret_cast<const char*>(ones.data()), 1024));
        file.close();
        document.openData(file.fileName().toStdString());
        QVERIFY(QTest::qWaitFor([&] { return document.data().has_value(); }, 10000));
        QVERIFY2(!m_window->messageBar()->isVisible(), qPrintable(m_window->messageBar()->text()));
    }

    void whatIsTouchedButTheSameIsNotOffered() {
        m_window->findChild<FileWatch*>()->setRest(30);
        QSignalSpy changed(m_window->findChild<FileWatch*>(), &FileWatch::changed);
        test::writeModel(m_folder, QString::fromLatin1(test::kChain), "beside.onnx");
        QTest::qWait(300);
        QCOMPARE(changed.size(), 0);
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
    using ModelPtrCheck = const LoadedModel*;
    static QString plain(const QAction* action) { return action->text().remove('&').remove(QChar(0x2026)); }
    static QAction* named(const QList<QAction*>& actions, const char* name) {
        for (QAction* action : actions)
            if (plain(action) == QLatin1String(name)) return action;
        return nullptr;
    }
    QList<QAction*> actions() const { return m_window->allActions(); }
    QAction* action(const char* name) const { return named(actions(), name); }
    static void choose(ShortcutSheet& sheet, const char* name) {
        const auto found =
            sheet.tree()->findItems(QLatin1String(name), Qt::MatchExactly | Qt::MatchRecursive);
        QCOMPARE(found.size(), 1);
        sheet.tree()->setCurrentItem(found.front());
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_path;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(WindowSessionTest)
#include "window_session_test.moc"
