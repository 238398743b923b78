// SPDX-License-Identifier: Apache-2.0
// The graph shown twice: same position, same selection, same color scale, two configurations.
#include "graph/side_by_side.h"

#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>
#include <cmath>

#include "block_window.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class SideBySideTest : public QObject, private test::BlockWindow {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeBlocks(6); }
    void init() {
        QVERIFY(openBlocks({1500, 900}));
        canvas()->view()->fitAll();
    }
    void cleanup() { m_window.reset(); }

    void bothSidesShowTheirConfiguration() {
        const QPointF middle = canvas()->view()->visibleScene().center();
        const int width = canvas()->width();
        toggle();
        QVERIFY(other() && other()->isVisible());
        QCOMPARE(other()->size(), canvas()->size());
        QVERIFY(other()->geometry().right() < canvas()->geometry().left());
        QVERIFY(sameView());
        QVERIFY(std::abs(canvas()->view()->visibleScene().center().x() - middle.x()) < 1);
        QVERIFY(!document()->reference().layers());
        QVERIFY(document()->reference().whyNone().contains(QStringLiteral("only one")));

        document()->select({node("/stem/Conv"), node("/blocks/1/conv/Conv")}, node("/blocks/1/conv/Conv"));
        QTest::keyClick(canvas(), Qt::Key_Space);
        QVERIFY(evaluated());
        QVERIFY(look(canvas(), "/blocks/1/conv/Conv").hatched);
        QVERIFY(!look(other(), "/blocks/1/conv/Conv").hatched);
        QCOMPARE(sides()->names().size(), 2);
        QVERIFY2(sides()->names()[0].startsWith(QStringLiteral("Previous configuration: ")),
                 qPrintable(sides()->names()[0]));
        QVERIFY2(sides()->names()[1].startsWith(QStringLiteral("Now: ")), qPrintable(sides()->names()[1]));
        // the results differ
        QVERIFY2(sides()->names()[0].mid(26) != sides()->names()[1].mid(5),
                 qPrintable(sides()->names().join('|')));

        toggle();
        QVERIFY(!other());
        QCOMPARE(canvas()->width(), width);
    }

    void sameColorMeansSameValue() {
        toggle();
        skip("/blocks/1/conv/Conv");
        for (const int key : {Qt::Key_2, Qt::Key_3, Qt::Key_6, Qt::Key_7}) {
            QTest::keyClick(canvas(), static_cast<Qt::Key>(key));
            QCOMPARE(other()->metric(), canvas()->metric());
            QCOMPARE(other()->scale().best, canvas()->scale().best);
            QCOMPARE(other()->scale().worst, canvas()->scale().worst);
            QCOMPARE(other()->scale().logarithmic, canvas()->scale().logarithmic);
        }
        // Cumulative values differ downstream of the layer; each side shows its own.
        QTest::keyClick(canvas(), Qt::Key_3);
        std::size_t differ = 0;
        for (std::size_t i = 0; i < canvas()->looks().size(); ++i)
            differ += canvas()->looks()[i].heat != other()->looks()[i].heat;
        QVERIFY2(differ > 5, qPrintable(QString::number(differ)));
        QCOMPARE(look(other(), "/head/Conv").number,
                 formatMetric(document()->reference().layer(node("/head/Conv"))->cumulative->qs,
                              Metric::CumulativeQs));
        // The difference is between the two: the other side shows its reference.
        QTest::keyClick(canvas(), Qt::Key_9);
        QCOMPARE(canvas()->metric(), Metric::Difference);
        QCOMPARE(other()->metric(), Metric::None);
    }

    /// The worst values of one side are far beyond those of the other one.
    void theScaleIsSharedBeyondTheOwnValues() {
        toggle();
        QuantizationConfig config = document()->config();
        config.quantization.weight.bits = 2;
        document()->edit({config, QStringLiteral("2 bits"), {}});
        QVERIFY(evaluated());
        for (const int key : {Qt::Key_2, Qt::Key_3, Qt::Key_5}) {
            QTest::keyClick(canvas(), static_cast<Qt::Key>(key));
            QCOMPARE(other()->scale().best, canvas()->scale().best);
            QCOMPARE(other()->scale().worst, canvas()->scale().worst);
        }
    }

    void positionAndZoomAreShared() {
        toggle();
        skip("/blocks/1/conv/Conv");
        for (GraphCanvas* moved : {other(), canvas()}) {
            const double before = canvas()->view()->transform().zoom;
            const QPointF at(moved->width() / 3.0, moved->height() / 2.0);
            QWheelEvent wheel(at, moved->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::ControlModifier,
                              Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(moved, &wheel);
            QVERIFY(canvas()->view()->transform().zoom > before);
            QVERIFY(sameView());
            const QPointF offset = canvas()->view()->transform().offset;
            QWheelEvent pan(at, moved->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::NoModifier,
                            Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(moved, &pan);
            QVERIFY(canvas()->view()->transform().offset != offset);
            QVERIFY(sameView());
        }
        m_window->resize(1300, 800);
        QVERIFY(QTest::qWaitFor(
            [&] { return canvas()->size() == other()->size() && m_window->width() == 1300; }, 5000));
        QVERIFY(sameView());
        // Collapsing lays out the graph again, on both sides.
        document()->select(node("/blocks/2/act/Relu"));
        QTest::keyClick(m_window.get(), Qt::Key_G);
        QVERIFY(QTest::qWaitFor(
            [&] {
                return canvas()->picture() == other()->picture() && canvas()->picture()->nodes.size() < 22;
            },
            5000));
        QVERIFY(sameView());
        QTest::keyClick(m_window.get(), Qt::Key_G);
        QVERIFY(QTest::qWaitFor([&] { return canvas()->picture()->nodes.size() == 22; }, 5000));
    }

    void inputWorksOnBothSides() {
        toggle();
        skip("/blocks/1/conv/Conv");
        canvas()->view()->fitAll();
        QSignalSpy hovered(canvas(), &GraphCanvas::hovered);
        clickOn(other(), "/blocks/3/Add");
        QCOMPARE(document()->selection(), std::vector{node("/blocks/3/Add")});
        QTest::mouseMove(other(), place(other(), "/blocks/4/Add"));
        QVERIFY(QTest::qWaitFor([&] { return !hovered.empty(); }, 2000));
        // An edit there changes the current configuration.
        QTest::keyClick(other(), Qt::Key_Space);
        QVERIFY(document()->layer(node("/blocks/3/Add"))->state == LayerState::Skipped);
        // "Skip Until" may end on either side.
        QVERIFY(evaluated());
        document()->select(node("/blocks/4/conv/Conv"));
        QTest::keyClick(m_window.get(), Qt::Key_U);
        QVERIFY(canvas()->until()->active());
        clickOn(other(), "/blocks/5/Add");
        QVERIFY(!canvas()->until()->active());
        QCOMPARE(document()->config().rules.back().kind, SkipKind::Until);
        QCOMPARE(document()->config().rules.back().from, std::string("/blocks/4/conv/Conv"));
        QCOMPARE(document()->config().rules.back().to, std::vector<std::string>{"/blocks/5/Add"});
        document()->select(node("/blocks/0/conv/Conv"));
        QTest::keyClick(m_window.get(), Qt::Key_U);
        QTest::keyClick(other(), Qt::Key_Escape);
        QVERIFY(!canvas()->until()->active());
    }

    void resultsOfOtherDataAreDiscarded() {
        skip("/blocks/1/conv/Conv");
        QVERIFY(document()->reference().layers());
        Q_EMIT document()->dataChanged();
        QVERIFY(!document()->reference().layers());
    }

  private:
    SideBySide* sides() const { return m_window->graphView()->sideBySide(); }
    GraphCanvas* other() const { return sides()->other(); }
    bool evaluated() const {
        return QTest::qWaitFor([&] { return !document()->job()->busy(); }, 20000);
    }
    bool sameView() const { return other()->transform() == canvas()->view()->transform(); }
    void toggle() { QTest::keyClick(m_window.get(), Qt::Key_Backslash, Qt::ControlModifier); }
    void skip(const char* name) {
        document()->select(node(name));
        document()->toggleSelection();
        QVERIFY(evaluated());
    }
    const NodeLook& look(const GraphCanvas* on, const char* name) const {
        return on->looks()[*on->index().boxOf(node(name))];
    }
    QPoint place(const GraphCanvas* on, const char* name) const {
        return on->transform()
            .toView(toRectF(on->picture()->nodes[*on->index().boxOf(node(name))].box).center())
            .toPoint();
    }
    void clickOn(GraphCanvas* on, const char* name) {
        QTest::mouseClick(on, Qt::LeftButton, {}, place(on, name));
    }
};

QTEST_MAIN(SideBySideTest)
#include "side_by_side_test.moc"
