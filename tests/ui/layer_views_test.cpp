// SPDX-License-Identifier: Apache-2.0
// Views of the layer table: selected, saved and removed by mouse and keyboard, kept across windows and
// models.
#include "models/layer_views.h"

#include <QAbstractButton>
#include <QApplication>
#include <QHeaderView>
#include <QInputDialog>

#include "panels/layer_view_menu.h"
#include "widgets/command_palette.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class LayerViewsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        test::keepSettingsIn(m_folder);
    }
    void init() {
        QSettings().clear();
        m_window = test::openWindow(test::writeModel(m_folder), {1400, 900});
        QVERIFY(m_window);
    }
    void cleanup() { m_window.reset(); }

    void aBuiltInViewIsChosen() {
        openMenu();
        choose(QStringLiteral("Skipped"));
        QCOMPARE(rows(), QStringList{QStringLiteral("Conv_4")});  // the tail
        QCOMPARE(table()->filterLine()->text(), QStringLiteral("state:skipped"));
        openMenu();
        choose(QStringLiteral("Most weights first"));
        QStringList shown = rows();
        shown.sort();  // with equal numbers of weights, their order depends on their sensitivity
        QCOMPARE(shown,
                 (QStringList{QStringLiteral("Conv_0"), QStringLiteral("Conv_2"), QStringLiteral("Conv_4")}));
        QCOMPARE(header()->sortIndicatorSection(), static_cast<int>(LayerTableModel::Parameters));
        QCOMPARE(header()->sortIndicatorOrder(), Qt::DescendingOrder);
        QVERIFY(entry(QStringLiteral("Most weights first"))->isChecked());
        QVERIFY(!entry(QStringLiteral("Skipped"))->isChecked());
        table()->filterLine()->clear();
        openMenu();
        QVERIFY(!entry(QStringLiteral("Most weights first"))->isChecked());  // no longer the current view
        choose(QStringLiteral("All layers"));
        QCOMPARE(rows().size(), 6);
    }

    void everyBuiltInViewIsValid() {
        for (const LayerView& view : builtInViews()) {
            table()->apply(view);
            QVERIFY2(table()->filter()->complaint().isEmpty(), qPrintable(view.name));
            QVERIFY(view.shows(table()->present()));
            QVERIFY(!table()->view()->isColumnHidden(view.column));
            // An invalid term would be searched for as a word and find nothing here.
            for (const QString& term : view.filter.split(QLatin1Char(' '), Qt::SkipEmptyParts))
                QVERIFY2(term.contains(QLatin1Char(':')) || term.contains(QLatin1Char('<')) ||
                             term.contains(QLatin1Char('>')),
                         qPrintable(term));
        }
    }

    void viewIsSavedByKeyboardAndKept() {
        table()->filterLine()->setText(QStringLiteral("op:Conv"));
        table()->view()->sortByColumn(LayerTableModel::Name, Qt::DescendingOrder);
        table()->view()->setColumnHidden(LayerTableModel::Sqnr, true);
        button()->setFocus();
        QTest::keyClick(button(), Qt::Key_Space);
        QVERIFY(QTest::qWaitFor([&] { return menu()->isVisible(); }, 5000));
        QTest::keyClick(menu(), Qt::Key_S);  // the letter that the entry marks
        save(QStringLiteral("My convolutions"));
        table()->filterLine()->clear();
        table()->view()->sortByColumn(LayerTableModel::Number, Qt::AscendingOrder);
        table()->view()->setColumnHidden(LayerTableModel::Sqnr, false);

        // In another window with another model, by typing a few letters.
        m_window = test::openWindow(
            test::writeModel(m_folder,
                             QString::fromLatin1(test::kChain)
                                 .replace(QStringLiteral("chain ("), QStringLiteral("other (")),
                             QStringLiteral("other.onnx")),
            {1400, 900});
        QVERIFY(m_window);
        m_window->workTabs()->showTab(WorkTabs::Log);
        QTest::keyClick(m_window.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        auto* palette = m_window->findChild<CommandPalette*>();
        QVERIFY(palette);
        QTest::keyClicks(palette->line(), QStringLiteral("my convo"));
        QTest::keyClick(palette->line(), Qt::Key_Return);
        QTRY_COMPARE(rows(), (QStringList{QStringLiteral("Conv_4"), QStringLiteral("Conv_2"),
                                          QStringLiteral("Conv_0")}));
        QVERIFY(table()->view()->isColumnHidden(LayerTableModel::Sqnr));
        QCOMPARE(m_window->workTabs()->currentTab(),
                 static_cast<int>(WorkTabs::Layers));  // the tab with the table
    }

    void sameNameReplacesAndBuiltInNameIsRejected() {
        for (const char* filter : {"op:Relu", "op:Conv"}) {
            table()->filterLine()->setText(QLatin1String(filter));
            menu()->save();
            save(QStringLiteral("a & b"));
        }
        QCOMPARE(savedViews().size(), 1);
        QCOMPARE(savedViews().front().filter, QStringLiteral("op:Conv"));
        openMenu();
        QVERIFY(entry(QStringLiteral("a && b")));  // the ampersand is not a mnemonic
        menu()->close();
        menu()->save();
        save(QStringLiteral("Skipped"));
        QCOMPARE(savedViews().size(), 1);
        QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("Skipped")),
                 qPrintable(m_window->messageBar()->text()));
        menu()->save();
        save(QStringLiteral("  "));
        QCOMPARE(savedViews().size(), 1);
    }

    void aViewIsRemoved() {
        QVERIFY(!removing()->isVisible());
        menu()->save();
        save(QStringLiteral("one"));
        menu()->save();
        save(QStringLiteral("two"));
        QVERIFY(removing()->isVisible());
        QCOMPARE(removing()->menu()->actions().size(), 2);
        removing()->menu()->actions().front()->trigger();
        QCOMPARE(savedViews().size(), 1);
        QCOMPARE(savedViews().front().name, QStringLiteral("two"));
        QVERIFY(!entry(QStringLiteral("one")));
        removing()->menu()->actions().front()->trigger();
        QVERIFY(!removing()->isVisible());
        QCOMPARE(menu()->actions().size(), builtInViews().size() + 3);  // and a line, save, remove
    }

    void invalidEntriesAreIgnored() {
        const QString key = QStringLiteral("layerTable/views");
        const QStringList broken{QStringLiteral("{"), QStringLiteral("7"),
                                 json("{'name': 'no filter', 'sort': '#'}"),
                                 json("{'name': '', 'filter': '', 'sort': '#'}"),
                                 json("{'name': 'strange', 'filter': '', 'sort': 'a column of later'}")};
        const QString good = json(
            "{'name': 'good', 'filter': 'op:Relu', 'sort': 'layer', 'hidden': ['SQNR', 'later', 'layer', "
            "3]}");
        QSettings().setValue(key, broken + QStringList{good, QString(good).replace(QStringLiteral("Relu"),
                                                                                   QStringLiteral("Conv"))});
        const QList<LayerView> views = savedViews();
        QCOMPARE(views.size(), 1);  // duplicate names are ignored
        QCOMPARE(views.front().filter, QStringLiteral("op:Relu"));
        // the name column is always visible
        QCOMPARE(*views.front().hidden, QList<int>{LayerTableModel::Sqnr});
        removeView(QStringLiteral("good"));
        QCOMPARE(QSettings().value(key).toStringList(), broken);  // unreadable settings are not deleted
        QSettings().setValue(key, QVariantMap{{QStringLiteral("x"), 1}});
        QVERIFY(savedViews().isEmpty());
        openMenu();
        QVERIFY(entry(QStringLiteral("All layers")));
        menu()->close();
    }

  private:
    static QString json(const char* text) {
        return QString::fromLatin1(text).replace(QLatin1Char('\''), QLatin1Char('"'));
    }
    LayerTable* table() { return m_window->layerTable(); }
    LayerViewMenu* menu() { return table()->views(); }
    QHeaderView* header() { return table()->view()->horizontalHeader(); }
    QAbstractButton* button() {
        for (auto* button : table()->head()->findChildren<QAbstractButton*>())
            if (button->text() == QStringLiteral("Views")) return button;
        return nullptr;
    }
    QAction* entry(const QString& text) {
        for (QAction* action : menu()->actions())
            if (action->text() == text) return action;
        return nullptr;
    }
    QAction* removing() {
        for (QAction* action : menu()->actions())
            if (action->menu()) return action;
        return nullptr;
    }
    void openMenu() {
        QTest::mouseClick(button(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return menu()->isVisible(); }, 5000));
    }
    void choose(const QString& text) {
        QVERIFY(entry(text));
        // In Qt 6.8, a click by QTest closes the menu without choosing an entry; one of a real mouse does
        // not.
        menu()->setActiveAction(entry(text));
        QTest::keyClick(menu(), Qt::Key_Return);
        QVERIFY(!menu()->isVisible());
    }
    /// Types the name and presses Enter.
    void save(const QString& name) {
        QInputDialog* dialog = nullptr;
        QVERIFY(QTest::qWaitFor(
            [&] { return (dialog = m_window->findChild<QInputDialog*>()) && dialog->isVisible(); }, 5000));
        auto* line = dialog->findChild<QLineEdit*>();
        line->selectAll();
        QTest::keyClicks(line, name);
        QTest::keyClick(line, Qt::Key_Return);
        QVERIFY(QTest::qWaitFor([&] { return !m_window->findChild<QInputDialog*>(); }, 5000));
    }
    QStringList rows() {
        QStringList names;
        for (int row = 0; row < table()->filter()->rowCount(); ++row)
            names << table()->filter()->index(row, LayerTableModel::Name).data().toString();
        return names;
    }

    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(LayerViewsTest)
#include "layer_views_test.moc"
