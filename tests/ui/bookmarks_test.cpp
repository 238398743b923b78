// SPDX-License-Identifier: Apache-2.0
// Saved views of the graph: by keyboard, after a layout change and in a project.
#include "graph/bookmarks.h"

#include <QApplication>
#include <QInputDialog>
#include <QLineEdit>
#include <QTest>
#include <QTimer>
#include <cmath>

#include "block_window.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class BookmarksTest : public QObject, private test::BlockWindow {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeBlocks(8); }
    void init() { QVERIFY(openBlocks({1400, 900})); }
    void cleanup() { m_window.reset(); }

    void restoresPositionMetricAndSelection() {
        look("/blocks/6/conv/Conv", 1.4, Metric::RangeRatio);
        const QPointF there = canvas()->view()->visibleScene().center();
        type(QStringLiteral("the sixth"));
        QCOMPARE(marks()->all().size(), std::size_t{1});
        QVERIFY(!document()->undoStack()->isClean());  // there is something to save
        look("/stem/Conv", 0.7, Metric::None);
        const QPointF away = canvas()->view()->visibleScene().center() - there;
        QVERIFY(std::hypot(away.x(), away.y()) > 100);
        QTest::keyClick(m_window.get(), Qt::Key_1, Qt::ControlModifier);
        QVERIFY(std::hypot(canvas()->view()->visibleScene().center().x() - there.x(),
                           canvas()->view()->visibleScene().center().y() - there.y()) < 1);
        QCOMPARE(canvas()->view()->transform().zoom, 1.4);
        QCOMPARE(canvas()->metric(), Metric::RangeRatio);
        QCOMPARE(document()->current(), node("/blocks/6/conv/Conv"));
    }

    void nameIsProposedAndEscapeCancels() {
        look("/blocks/2/conv/Conv", 1, Metric::LocalQs);
        QString proposed;
        QTimer::singleShot(0, [&] {
            auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
            if (!dialog) return;
            proposed = dialog->textValue();
            QTest::keyClick(dialog, Qt::Key_Escape);
        });
        QTest::keyClick(m_window.get(), Qt::Key_B, Qt::ControlModifier);
        QCOMPARE(proposed, QStringLiteral("blocks/2/conv \u00b7 QS local"));
        QVERIFY(marks()->all().empty());
    }

    void collapsedBlocksAreRestored() {
        document()->select(node("/blocks/3/conv/Conv"));
        QTest::keyClick(m_window.get(), Qt::Key_G, Qt::ShiftModifier);
        QVERIFY(laidOut(2 + 8 + 2));
        canvas()->view()->centerOn(node("/blocks/5/conv/Conv"));
        const auto place = canvas()->view()->placeInSight();
        QVERIFY(place);
        marks()->add(QStringLiteral("blocks"));
        QTest::keyClick(m_window.get(), Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(laidOut(2 + 26));
        look("/stem/Conv", 1, Metric::LocalQs);
        marks()->go(0);
        QVERIFY(laidOut(2 + 8 + 2));
        const auto again = canvas()->view()->placeInSight();
        QVERIFY(again && again->first == place->first);
        QVERIFY(std::hypot(again->second.x() - place->second.x(), again->second.y() - place->second.y()) < 1);
    }

    void bookmarksAreReplacedByNameAndRemoved() {
        look("/blocks/1/Add", 1, Metric::LocalQs);
        marks()->add(QStringLiteral("a"));
        marks()->add(QStringLiteral("b"));
        look("/blocks/7/Add", 1, Metric::Bits);
        marks()->add(QStringLiteral("a"));
        QCOMPARE(marks()->all().size(), std::size_t{2});
        QCOMPARE(marks()->all()[0].metric, Metric::Bits);
        QAction* remove = nullptr;
        for (QAction* action : m_window->allActions())
            if (action->property("menuPath").toString().contains(QStringLiteral("Remove")) &&
                action->text() == QStringLiteral("a"))
                remove = action;
        QVERIFY(remove);
        remove->trigger();
        QCOMPARE(marks()->all().size(), std::size_t{1});
        QCOMPARE(marks()->all()[0].name, QStringLiteral("b"));
        marks()->go(7);  // there is none
    }

    void projectStoresBookmarks() {
        look("/blocks/4/Add", 0.9, Metric::CumulativeQs);
        marks()->add(QStringLiteral("a & b"));
        const std::vector<Bookmark> before = marks()->all();
        const auto path = std::filesystem::path(m_folder.path().toStdString()) / "marked.quantloupe";
        QVERIFY(document()->saveProject(path));
        m_window.reset();
        m_window = test::openWindow(path, {1400, 900});
        QVERIFY(m_window);
        QCOMPARE(marks()->all().size(), std::size_t{1});
        QVERIFY(marks()->all() == before);
        // Invalid bookmarks are ignored, and missing layers are not an error.
        QJsonArray json = marks()->toJson();
        QJsonObject gone = json[0].toObject();
        gone[QStringLiteral("at")] = QStringLiteral("/nowhere");
        gone[QStringLiteral("name")] = QStringLiteral("gone");
        marks()->fromJson(QJsonArray{json[0], 7, QJsonObject{},
                                     QJsonObject{{QStringLiteral("name"), QStringLiteral("no zoom")}}, gone});
        QCOMPARE(marks()->all().size(), std::size_t{2});
        const ViewTransform view = canvas()->view()->transform();
        marks()->go(1);
        QVERIFY(canvas()->view()->transform() == view);
    }

  private:
    Bookmarks* marks() const { return m_window->findChild<Bookmarks*>(); }
    bool laidOut(std::size_t boxes) const {
        return QTest::qWaitFor(
            [&] { return canvas()->picture() && canvas()->picture()->nodes.size() == boxes; }, 10000);
    }
    void look(const char* layer, double zoom, Metric metric) {
        canvas()->setMetric(metric);
        document()->select(node(layer));
        canvas()->view()->showPlace(node(layer), {12, -7}, zoom);
    }
    /// Types into the dialog that asks for the name.
    void type(const QString& name) {
        QTimer::singleShot(0, [name] {
            auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
            if (!dialog) return;
            dialog->findChild<QLineEdit*>()->clear();
            QTest::keyClicks(dialog->findChild<QLineEdit*>(), name);
            QTest::keyClick(dialog, Qt::Key_Return);
        });
        QTest::keyClick(m_window.get(), Qt::Key_B, Qt::ControlModifier);
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }
};

QTEST_MAIN(BookmarksTest)
#include "bookmarks_test.moc"
