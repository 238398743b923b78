// SPDX-License-Identifier: Apache-2.0
// What new users see: the start page, the tour, the documentation, the request for data, menus and themes.
#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenuBar>
#include <QTest>
#include <QTextBlock>
#include <QTimer>

#include "dialogs/documentation_window.h"
#include "dialogs/exports.h"
#include "style/theme.h"
#include "style/theme_choice.h"
#include "widgets/command_palette.h"
#include "window/tour.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class FirstRunTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }
    void init() {
        QSettings().clear();
        QSettings().setValue(QStringLiteral("measureWhileIdle"), false);
        m_window = std::make_unique<MainWindow>(std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "resources");
        m_window->setAskBeforeClosing(false);
        m_window->resize(1400, 900);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }
    void cleanup() {
        applyThemeChoice(ThemeChoice::Light);
        m_window.reset();
    }

    void startPageShowsPicturesOfTheDemo() {
        QPushButton *open = button("Open Model\u2026"), *demo = button("Open the Demo");
        QVERIFY(open && demo && button("Take the Tour"));
        // The picture has many colors, because it shows images of the demo.
        const QImage picture = demo->grab().toImage();
        QSet<QRgb> colors;
        for (int y = 0; y < picture.height() / 2; ++y)
            for (int x = 0; x < picture.width(); ++x) colors.insert(picture.pixel(x, y));
        QVERIFY2(colors.size() > 200, qPrintable(QString::number(colors.size())));
        for (const QPushButton* one : {open, demo, button("Take the Tour")})
            QVERIFY(m_window->rect().contains(QRect(one->mapTo(m_window.get(), QPoint()), one->size())));
    }

    void tourHasFiveStepsWithTheDemo() {
        QTest::mouseClick(button("Take the Tour"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return tour() && tour()->running(); }, 60000));
        QVERIFY(document().hasModel());
        QSet<QString> texts;
        for (int step = 0; step < 5; ++step) {
            QCOMPARE(tour()->step(), step);
            QFrame* bubble =
                m_window->findChild<QFrame*>(QStringLiteral("overlay"), Qt::FindDirectChildrenOnly);
            QVERIFY(bubble && bubble->isVisible() && m_window->rect().contains(bubble->geometry()));
            QTest::qWait(20);
            for (const auto* label : bubble->findChildren<QLabel*>()) {
                texts.insert(label->text());
                QVERIFY2(!label->wordWrap() || label->height() >= label->heightForWidth(label->width()),
                         qPrintable(label->text()));
            }
            auto* next = button(step < 4 ? "Next" : "Finish");
            if (step == 2) {  // Tab stays in the tour, and Enter presses Next
                for (const char* name : {"Skip Tour", "Back", "Next"}) {
                    QTest::keyClick(m_window->focusWidget(), Qt::Key_Tab);
                    QVERIFY2(button(name)->hasFocus(), name);
                }
                QTest::keyClick(next, Qt::Key_Return);
            } else {
                QTest::mouseClick(next, Qt::LeftButton);
            }
        }
        QVERIFY(!tour()->running());
        QCOMPARE(texts.size(), 15);  // titles, texts and numbers, all different
        // Again, and skipped by a click and by Escape.
        trigger("Guided Tour");
        QVERIFY(tour()->running());
        QTest::mouseClick(button("Skip Tour"), Qt::LeftButton);
        QVERIFY(!tour()->running());
        trigger("Guided Tour");
        m_window->graphView()->canvas()->setFocus();
        QTest::keyClick(m_window->graphView()->canvas(), Qt::Key_Escape);
        QVERIFY(!tour()->running());
    }

    void withoutDataRandomInputsAreUsedAndDataIsRequested() {
        QVERIFY(test::openAndWait(document(), test::writeModel(m_folder)));
        QVERIFY(document().evaluation()->randomInputs);
        QVERIFY(button("Folder\u2026") && button("File\u2026"));
        QVERIFY(std::ranges::any_of(m_window->findChildren<QLabel*>(), [](const QLabel* label) {
            return label->isVisible() && label->text().startsWith(QLatin1String("Random inputs"));
        }));
        const QString path = QString::fromStdString(test::writeChainSamples(m_folder).string());
        QTimer answers;
        connect(&answers, &QTimer::timeout, this, [path] {
            auto* files = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (!files) return;
            auto* line = files->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
            line->setText(path);
            QTest::keyClick(line, Qt::Key_Return);
        });
        answers.start(50);
        QTest::mouseClick(button("File\u2026"), Qt::LeftButton);
        answers.stop();
        QVERIFY(QTest::qWaitFor([&] { return document().data().has_value() && !document().evaluating(); },
                                20000));
        QCOMPARE(document().data()->samples, std::size_t(6));
        QVERIFY(!document().evaluation()->randomInputs);
        QVERIFY(!button("File\u2026"));  // no longer requested
    }

    void themesAreChosenAndRemembered() {
        const auto lightness = [&] {
            QApplication::processEvents();
            const QImage image = m_window->grab().toImage();
            return image.pixelColor(image.width() / 2, image.height() - 3).lightness();
        };
        trigger("Dark Theme");
        QVERIFY(themeOf(QApplication::palette()).dark);
        QVERIFY(lightness() < 128);
        QVERIFY(chosenTheme() == ThemeChoice::Dark);
        trigger("Light Theme");
        QVERIFY(!themeOf(QApplication::palette()).dark);
        QVERIFY(lightness() > 128);
        QVERIFY(chosenTheme() == ThemeChoice::Light);
        trigger("System Theme");
        QVERIFY(chosenTheme() == ThemeChoice::System);
    }

    void documentationOpensTheMatchingPage() {
        QVERIFY(test::openAndWait(document(), test::writeModel(m_folder)));
        const auto shown = [&](QWidget* focused) {
            m_window->activateWindow();
            focused->setFocus();
            QApplication::processEvents();
            trigger("Documentation");
            return test::child<QTextBrowser>(*m_window->findChild<DocumentationWindow*>());
        };
        const QTextBrowser* browser = shown(m_window->graphView()->canvas());
        QCOMPARE(browser->source().fileName(), QStringLiteral("graph.md"));
        QVERIFY(browser->toPlainText().contains(QStringLiteral("Selecting layers")));
        QCOMPARE(shown(m_window->layerTable()->filterLine())->source().fileName(),
                 QStringLiteral("window.md"));
        // Each page and heading that a part of the window names exists.
        const auto folder = findDocumentation(std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "docs");
        QVERIFY(folder);
        DocumentationWindow window(*folder);
        window.resize(900, 400);
        window.show();
        int pages = 0;
        for (const QWidget* widget : m_window->findChildren<QWidget*>()) {
            const QString page = widget->property("documentation").toString();
            if (page.isEmpty()) continue;
            ++pages;
            test::child<QTextBrowser>(window)->setSource({});
            window.open(page);
            QCOMPARE(test::child<QTextBrowser>(window)->source().fileName(),
                     page.section(QLatin1Char('#'), 0, 0));
            const bool scrolled =
                test::child<QTextBrowser>(window)->textCursor().block().blockFormat().headingLevel() > 0;
            QVERIFY2(!page.contains(QLatin1Char('#')) || scrolled, qPrintable(page));
        }
        QVERIFY(pages >= 10);
    }

    void menusContainRelatedCommands() {
        QVERIFY(test::openAndWait(document(), test::writeModel(m_folder)));
        QStringList evaluation;
        for (const QAction* action : menu("Evaluation")->actions())
            if (!action->isSeparator()) evaluation << actionName(*action);
        for (const char* name :
             {"Evaluate Again", "Pause", "Cancel", "Manual Evaluation", "Improve Accuracy"})
            QVERIFY2(evaluation.filter(QLatin1String(name)).size() == 1, name);
        QVERIFY(actionName(*menu("Export")->actions().front()).startsWith(QLatin1String("Quantized model")));
        QVERIFY(exportKinds().front().kind == ExportKind::QuantizedModel);
        // On a layer, only what concerns layers.
        document().select(NodeId(2));
        Q_EMIT m_window->layerTable()->menuRequested(m_window->mapToGlobal(QPoint(300, 300)));
        QMenu* context = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(context);
        QStringList names;
        for (const QAction* action : context->actions())
            if (!action->isSeparator()) names << actionName(*action).section(QLatin1Char('\t'), 0, 0);
        context->close();
        for (const char* name : {"Skip Quantization", "Skip Until", "Skip All Downstream",
                                 "Select Everything Upstream", "Select Everything Downstream",
                                 "Copy Layer Names", "Collapse or Expand Block", "Zoom to Selection"})
            QVERIFY2(!names.filter(QLatin1String(name)).isEmpty(), name);
        for (const char* name : {"Evaluate", "Pause", "Cancel", "Manual", "Tail"})
            QVERIFY2(names.filter(QLatin1String(name)).isEmpty(), name);
    }

    void improveAccuracyIsOnePlace() {
        QVERIFY(test::openAndWait(document(), test::writeModel(m_folder)));
        ImprovePanel* panel = m_window->improvePanel();
        QVERIFY(!panel->isVisible());
        QTest::mouseClick(button("Improve Accuracy\u2026"), Qt::LeftButton);
        QVERIFY(panel->isVisible() && panel->page() == ImprovePanel::Suggestions);
        QVERIFY(button("Search for Improvements"));
        trigger("AMCT Workflow");
        QVERIFY(panel->amct()->isVisible());
        panel->setPage(ImprovePanel::Search);
        QVERIFY(button("Search"));
    }

  private:
    Document& document() { return *m_window->document(); }
    Tour* tour() { return m_window->findChild<Tour*>(); }
    QPushButton* button(const char* text) {
        for (QPushButton* one : m_window->findChildren<QPushButton*>())
            if (one->isVisible() && one->text() == QString::fromUtf8(text)) return one;
        return nullptr;
    }
    void trigger(const char* name) {
        for (QAction* action : m_window->allActions())
            if (actionName(*action) == QLatin1String(name)) return action->trigger();
        QFAIL(name);
    }
    QMenu* menu(const char* name) {
        for (const QAction* action : m_window->menuBar()->actions())
            if (action->text().remove(QLatin1Char('&')) == QLatin1String(name)) return action->menu();
        return nullptr;
    }

    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(FirstRunTest)
#include "first_run_test.moc"
