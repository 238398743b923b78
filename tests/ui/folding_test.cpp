// SPDX-License-Identifier: Apache-2.0
// Collapsing and expanding groups by mouse and keyboard, and navigation in the graph: selection and view stay
// unchanged.
#include <QApplication>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "block_window.h"
#include "graph/picture_export.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class FoldingTest : public QObject, private test::BlockWindow {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeBlocks(6); }
    void init() {
        QVERIFY(openBlocks({1400, 900}));
        canvas()->view()->fitAll();
    }
    void cleanup() { m_window.reset(); }

    void collapsedBlockKeepsItsPosition() {
        click("/blocks/2/act/Relu");
        const QPointF before = topOf("/blocks/2/conv/Conv");
        press(Qt::Key_G);
        QVERIFY(boxOf("/blocks/2/Add").kind == PictureNode::Kind::Group);
        QVERIFY(boxOf("/blocks/1/Add").kind == PictureNode::Kind::Layer);
        const QPointF moved = topOf("/blocks/2/conv/Conv") - before;
        QVERIFY2(std::hypot(moved.x(), moved.y()) < 0.01,
                 qPrintable(QStringLiteral("the block has jumped by %1, %2").arg(moved.x()).arg(moved.y())));
        QCOMPARE(selected(), QStringList{"/blocks/2/act/Relu"});
        press(Qt::Key_G);
        QVERIFY(boxOf("/blocks/2/Add").kind == PictureNode::Kind::Layer);
        const QPointF again = topOf("/blocks/2/conv/Conv") - before;
        QVERIFY2(std::hypot(again.x(), again.y()) < 0.01, "the block has jumped on opening");
    }

    void clickOnAGroupSelectsAllItsLayers() {
        press(Qt::Key_G, Qt::ShiftModifier);
        QCOMPARE(canvas()->picture()->nodes.size(), 2u + 6u + 2u);
        click("/blocks/3/Add");
        QCOMPARE(selected(), (QStringList{"/blocks/3/Add", "/blocks/3/act/Relu", "/blocks/3/conv/Conv"}));
        QTest::keyClick(canvas(), Qt::Key_Space);
        QVERIFY(document()->layer(node("/blocks/3/Add"))->state == LayerState::Skipped);
        QVERIFY(lookOf("/blocks/3/Add").hatched);
        QVERIFY(!lookOf("/blocks/2/Add").hatched);
        // Arrows go from box to box.
        QTest::keyClick(canvas(), Qt::Key_Down);
        QVERIFY(selected().contains("/blocks/4/Add") && selected().size() == 3);
        press(Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(canvas()->picture()->nodes.size(), 2u + 20u);
    }

    void groupShowsItsWorstLayer() {
        canvas()->setMetric(Metric::RangeRatio);
        press(Qt::Key_G, Qt::ShiftModifier);
        QCOMPARE(lookOf("/blocks/2/Add").number, formatMetric(8, Metric::RangeRatio));
        QCOMPARE(lookOf("/blocks/5/Add").heat, 1.0);
        const std::array<double, 4>& parts = lookOf("/blocks/2/Add").parts;
        QVERIFY(std::abs(parts[0] + parts[1] + parts[2] + parts[3] - 1) < 1e-9);
    }

    void doubleClickExpandsAndTheNameCollapses() {
        press(Qt::Key_G, Qt::ShiftModifier);
        doubleClick(middleOf("/blocks/1/Add"));
        QVERIFY(boxOf("/blocks/1/Add").kind == PictureNode::Kind::Layer);
        QVERIFY(boxOf("/blocks/2/Add").kind == PictureNode::Kind::Group);
        canvas()->view()->actualSize();
        canvas()->view()->centerOn(node("/blocks/1/conv/Conv"));
        QCOMPARE(canvas()->picture()->frames.size(), 1u);
        const QPointF name =
            canvas()->view()->transform().toView(frameNameRect(canvas()->picture()->frames[0]).center());
        QVERIFY(canvas()->view()->frameNameAt(name).has_value());
        doubleClick(name);
        QVERIFY(boxOf("/blocks/1/Add").kind == PictureNode::Kind::Group);
    }

    void theLargerGroupContainsAllBlocks() {
        click("/blocks/2/act/Relu");
        press(Qt::Key_G);
        press(Qt::Key_G, Qt::ControlModifier);
        QCOMPARE(boxOf("/blocks/0/Add").title, std::string("blocks"));
        QCOMPARE(canvas()->picture()->nodes.size(), 2u + 3u);
    }

    void skipUntilTakesAWholeGroup() {
        press(Qt::Key_G, Qt::ShiftModifier);
        click("/stem/Conv");
        QTest::keyClick(canvas(), Qt::Key_U);
        click("/blocks/1/Add");
        QVERIFY(document()->layer(node("/blocks/1/Add"))->state == LayerState::Skipped);
        QVERIFY(document()->layer(node("/blocks/2/Add"))->state == LayerState::Quantized);
    }

    /// A network starts in the layout that shows it largest; every other layout is shown whole, too.
    void eachLayoutIsShownWhole() {
        click("/blocks/2/act/Relu");
        QVERIFY(canvas()->picture()->arrangement == Arrangement::Columns);
        const double columns = canvas()->view()->transform().zoom;
        const QRectF start = canvas()->index().bounds();
        press(Qt::Key_W);
        QVERIFY(canvas()->picture()->arrangement == Arrangement::Down);
        QVERIFY(canvas()->index().bounds().height() > start.height() * 1.5);
        QVERIFY(canvas()->view()->visibleScene().contains(canvas()->index().bounds()));
        QVERIFY2(canvas()->view()->transform().zoom < columns, "one column would have been larger");
        QCOMPARE(selected(), QStringList{"/blocks/2/act/Relu"});
        QAction* leftToRight = test::actionNamed(m_window->allActions(), "Left to Right");
        QVERIFY(leftToRight);
        const Picture* before = canvas()->picture();
        leftToRight->trigger();
        QVERIFY(QTest::qWaitFor([&] { return canvas()->picture() != before; }, 10000));
        QVERIFY(canvas()->picture()->arrangement == Arrangement::Right);
        QVERIFY(canvas()->index().bounds().width() > canvas()->index().bounds().height() * 3);
        QVERIFY(canvas()->view()->visibleScene().contains(canvas()->index().bounds()));
        press(Qt::Key_W);
        QCOMPARE(canvas()->index().bounds(), start);
    }

    void columnsAreSuggestedForALongNetwork() {
        QTest::keyClick(canvas(), Qt::Key_F);
        QVERIFY(!m_window->messageBar()->isVisible());
        m_window = test::openWindow(test::writeBlockModel(m_long.path().toStdString(), 12), {1400, 500});
        QVERIFY(m_window);
        press(Qt::Key_W);  // one column
        QTest::keyClick(canvas(), Qt::Key_F);
        const QString told = m_window->messageBar()->isVisible() ? m_window->messageBar()->text() : QString();
        QVERIFY2(told.contains(QStringLiteral("columns")),
                 qPrintable(QStringLiteral("%1 at %2").arg(told).arg(canvas()->view()->transform().zoom)));
        press(Qt::Key_W);
        QTest::keyClick(canvas(), Qt::Key_F);
        QVERIFY(canvas()->view()->transform().zoom > 0.1);
    }

    void altArrowsSelectUpstreamAndDownstream() {
        click("/blocks/2/act/Relu");
        QTest::keyClick(m_window.get(), Qt::Key_Up, Qt::AltModifier);
        QCOMPARE(selected(), (QStringList{"/blocks/0/Add", "/blocks/0/act/Relu", "/blocks/0/conv/Conv",
                                          "/blocks/1/Add", "/blocks/1/act/Relu", "/blocks/1/conv/Conv",
                                          "/blocks/2/act/Relu", "/blocks/2/conv/Conv", "/stem/Conv"}));
        QCOMPARE(document()->current(), node("/blocks/2/act/Relu"));
        click("/blocks/5/act/Relu");
        QTest::keyClick(m_window.get(), Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(selected(), (QStringList{"/blocks/5/Add", "/blocks/5/act/Relu", "/head/Conv"}));
        document()->select(NodeId());
        QTest::keyClick(m_window.get(), Qt::Key_Down, Qt::AltModifier);
        QVERIFY(selected().isEmpty());
    }

    void backAndForwardThroughSelections() {
        click("/stem/Conv");
        click("/blocks/1/Add");
        click("/head/Conv");
        QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(selected(), QStringList{"/blocks/1/Add"});
        QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(selected(), QStringList{"/stem/Conv"});
        QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(selected(), QStringList{"/stem/Conv"});
        QTest::keyClick(m_window.get(), Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(selected(), QStringList{"/blocks/1/Add"});
        click("/blocks/0/Add");  // discards the forward history
        QTest::keyClick(m_window.get(), Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(selected(), QStringList{"/blocks/0/Add"});
    }

    void f3CyclesThroughTheMatches() {
        m_window->layerTable()->filterLine()->setText(QStringLiteral("op:Add"));
        QStringList met;
        for (int i = 0; i < 7; ++i) {
            QTest::keyClick(m_window.get(), Qt::Key_F3);
            met.append(selected());
        }
        QCOMPARE(met.size(), 7);
        QCOMPARE(met.front(), met.back());
        QCOMPARE(met.removeDuplicates(), 1);  // six different ones
        QTest::keyClick(m_window.get(), Qt::Key_F3, Qt::ShiftModifier);
        QCOMPARE(selected().size(), 1);
    }

    void bracketsVisitTheWorstLayers() {
        canvas()->setMetric(Metric::RangeRatio);
        QTest::keyClick(m_window.get(), Qt::Key_BracketRight);
        QCOMPARE(selected(), QStringList{"/blocks/5/conv/Conv"});
        QTest::keyClick(m_window.get(), Qt::Key_BracketRight);
        QCOMPARE(selected(), QStringList{"/blocks/4/conv/Conv"});
        QTest::keyClick(m_window.get(), Qt::Key_BracketLeft);
        QCOMPARE(selected(), QStringList{"/blocks/5/conv/Conv"});
    }

    void picturesMatchTheCanvas() {
        press(Qt::Key_G, Qt::ShiftModifier);
        const DrawnGraph graph = drawnGraph(*document(), *canvas());
        const std::string png = pngOf(graph, 2);
        const QImage image = QImage::fromData(QByteArray::fromStdString(png));
        // The graph in the middle, the legend below it.
        QVERIFY(image.width() >= qRound((graph.picture->width + 48) * 2));
        const double left = (image.width() / 2.0 - graph.picture->width) / 2;
        int drawn = 0;
        for (int y = qRound((graph.picture->height + 48) * 2); y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) drawn += image.pixelColor(x, y) != QColor(Qt::white);
        QVERIFY2(drawn > 1000, qPrintable(QString::number(drawn)));
        // The fill of a quantized box is where that box is.
        const Rect& box = boxOf("/blocks/1/Add").box;
        const QColor inside =
            image.pixelColor(qRound((box.right() - 30 + left) * 2), qRound((box.bottom() - 9 + 24) * 2));
        const QColor fill = theme(false).quantizedFill;
        QVERIFY2(std::abs(inside.red() - fill.red()) + std::abs(inside.green() - fill.green()) +
                         std::abs(inside.blue() - fill.blue()) <
                     12,
                 qPrintable(inside.name()));
        const std::string pdf = pdfOf(graph);
        QVERIFY(pdf.starts_with("%PDF-"));
        QVERIFY(pdf.find("/MediaBox [0 0") != std::string::npos);
    }

  private:
    QPointF topOf(const QString& name) const {
        const QRectF box = toRectF(boxOf(name).box);
        return canvas()->view()->transform().toView(QPointF(box.center().x(), box.top()));
    }
    /// A key that lays out the graph again.
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
        const Picture* before = canvas()->picture();
        QTest::keyClick(m_window.get(), key, modifiers);
        QVERIFY(QTest::qWaitFor([&] { return canvas()->picture() != before; }, 10000));
    }
    void doubleClick(QPointF at) {
        const Picture* before = canvas()->picture();
        QTest::mouseDClick(canvas(), Qt::LeftButton, {}, at.toPoint());
        QVERIFY(QTest::qWaitFor([&] { return canvas()->picture() != before; }, 10000));
    }

    QTemporaryDir m_long;
};

QTEST_MAIN(FoldingTest)
#include "folding_test.moc"
