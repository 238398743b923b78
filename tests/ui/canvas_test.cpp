// SPDX-License-Identifier: Apache-2.0
// The graph on the screen with known positions: hit testing, selection, keyboard, zoom.
#include <QTest>
#include <QWheelEvent>
#include <cmath>

#include "graph/box_face.h"
#include "graph/graph_canvas.h"
#include "graph/legend.h"
#include "graph/painted_view.h"
#include "ui_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

constexpr double kWidth = 180, kHeight = 40, kStep = 80;

/// The layers one below the other, in graph order, without the graph's ends.
PicturePtr columnOf(const Graph& graph) {
    auto picture = std::make_shared<Picture>();
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        PictureNode node;
        node.layer = NodeId(i);
        node.title = graph.node(NodeId(i)).op;
        node.subtitle = graph.node(NodeId(i)).name;
        node.box = {0, kStep * static_cast<double>(i), kWidth, kHeight};
        picture->nodes.push_back(node);
        if (i == 0) continue;
        PictureEdge edge;
        edge.from = i - 1, edge.to = i;
        edge.points = {{kWidth / 2, kStep * static_cast<double>(i - 1) + kHeight},
                       {kWidth / 2, kStep * static_cast<double>(i)}};
        picture->edges.push_back(edge);
    }
    picture->width = kWidth;
    picture->height = kStep * static_cast<double>(graph.nodeCount());
    return picture;
}

/// Returns a description; empty if there is none.
QString differenceOf(const QImage& a, const QImage& b) {
    if (a.size() != b.size()) return QStringLiteral("other sizes");
    int count = 0;
    QPoint first;
    for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x)
            if (a.pixel(x, y) != b.pixel(x, y) && count++ == 0) first = {x, y};
    if (count == 0) return {};
    return QStringLiteral("%1 pixels, the first at %2, %3: %4 and %5")
        .arg(count)
        .arg(first.x())
        .arg(first.y())
        .arg(a.pixelColor(first).name(), b.pixelColor(first).name());
}

}  // namespace

class CanvasTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init() {
        m_document = std::make_unique<Document>();
        m_canvas = std::make_unique<GraphCanvas>(m_document.get());
        m_canvas->resize(600, 700);
        m_canvas->show();
        QSignalSpy drawn(m_document.get(), &Document::pictureChanged);
        QVERIFY(test::openAndWait(*m_document, test::writeModel(m_folder)));
        QVERIFY(QTest::qWaitFor([&] { return !drawn.empty(); }, 20000));  // the real one comes first
        m_canvas->setPicture(columnOf(*m_document->graph()));
        m_canvas->view()->fitAll();
        connect(m_canvas.get(), &GraphCanvas::toggleRequested, m_document.get(), &Document::toggleSelection);
    }
    void cleanup() {
        m_canvas.reset();
        m_document.reset();
    }

    void hitTestingFindsBoxesAndNothingInBetween() {
        for (std::size_t i = 0; i < 6; ++i)
            QCOMPARE(m_canvas->view()->boxAt(middleOf(i)), std::optional<std::size_t>(i));
        const QPointF between = (middleOf(0) + middleOf(1)) / 2;
        QCOMPARE(m_canvas->view()->boxAt(between), std::nullopt);
    }

    /// Docks and bars that appear reduce the space of the canvas.
    void fittedGraphStaysFitted() {
        const auto whole = [&] {
            return QRectF(m_canvas->rect())
                .contains(m_canvas->transform().toView(m_canvas->index().bounds()));
        };
        QVERIFY(whole());
        m_canvas->resize(600, 300);
        QVERIFY(whole());
        m_canvas->resize(120, 300);
        QVERIFY(whole());
        m_canvas->resize(600, 700);
        QVERIFY(whole());
        // A view that the user chose is kept: its middle stays in the middle.
        m_canvas->view()->zoomAt(QPointF(300, 100), 2);
        const double zoom = m_canvas->transform().zoom;
        m_canvas->resize(600, 300);
        QCOMPARE(m_canvas->transform().zoom, zoom);
    }

    void clickSelectsControlAddsBackgroundClears() {
        click(2);
        QCOMPARE(m_document->selection(), std::vector{NodeId(2)});
        click(4, Qt::ControlModifier);
        QCOMPARE(m_document->selection(), (std::vector{NodeId(2), NodeId(4)}));
        click(2, Qt::ControlModifier);
        QCOMPARE(m_document->selection(), std::vector{NodeId(4)});
        QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, QPoint(3, 3));
        QVERIFY(m_document->selection().empty());
    }

    /// The moved part and the repainted border equal a complete repaint.
    void pannedFrameEqualsARepaintedFrame() {
        const PicturePtr pictures[] = {m_document->picture(), columnOf(*m_document->graph())};
        for (const PicturePtr& picture : pictures) {
            const PictureIndex index(*picture);
            std::vector<NodeLook> looks = looksOf(*picture, m_document->layers(), *m_document->graph(),
                                                  m_canvas->overlay(), theme(false));
            PaintCache cache;
            PaintScene scene;
            scene.picture = picture.get(), scene.index = &index, scene.looks = &looks,
            scene.theme = &theme(false);
            scene.font = m_canvas->font();
            scene.cache = &cache;
            scene.selected.assign(picture->nodes.size(), true);
            scene.selected[2] = false;
            scene.current = 1;
            scene.hovered = 2;
            for (const double ratio : {1.0, 1.25, 2.0})
                for (const double zoom : {0.02, 0.1, 0.3, 0.44, 0.61, 1.0, 1.37, 2.3}) {
                    const QSize size(300, 200);
                    ViewTransform transform;
                    transform.zoom = zoom;
                    transform.center(index.bounds().center(), QRectF({}, size));
                    PaintedView moved;
                    moved.frame(scene, transform, size, ratio, scene.theme->canvas);
                    for (const QPointF step : {QPointF(3, 17), QPointF(-31, 0), QPointF(0, -40),
                                               QPointF(20, -55), QPointF(0.4, 0.3), QPointF(400, 0)}) {
                        transform.offset += step;
                        const QImage panned =
                            moved.frame(scene, transform, size, ratio, scene.theme->canvas).copy();
                        PaintedView fresh;
                        const QString difference = differenceOf(
                            panned, fresh.frame(scene, transform, size, ratio, scene.theme->canvas));
                        QVERIFY2(difference.isEmpty(),
                                 qPrintable(QStringLiteral("zoom %1, scale %2, step %3 %4: %5")
                                                .arg(zoom)
                                                .arg(ratio)
                                                .arg(step.x())
                                                .arg(step.y())
                                                .arg(difference)));
                    }
                }
        }
    }

    /// Content that changes without moving must not be reused from the previous frame.
    void selectionIsDrawnImmediately() {
        const QImage before = m_canvas->grab().toImage();
        click(2);
        QVERIFY(m_canvas->grab().toImage() != before);
        const QImage selected = m_canvas->grab().toImage();
        m_canvas->setPreview(NodeSet(m_document->graph()->nodeCount(), true), QStringLiteral("all"));
        QVERIFY(m_canvas->grab().toImage() != selected);
        m_canvas->clearPreview();
        QCOMPARE(m_canvas->grab().toImage(), selected);
    }

    void spaceTogglesAndUndoRestores() {
        click(0);
        QVERIFY(m_canvas->looks()[0].outline == themeOf(m_canvas->palette()).quantized);
        QTest::keyClick(m_canvas.get(), Qt::Key_Space);
        QVERIFY(m_document->layer(NodeId(0))->state == LayerState::Skipped);
        QVERIFY(m_canvas->looks()[0].hatched);  // drawn at once
        m_document->undoStack()->undo();
        QVERIFY(m_document->layer(NodeId(0))->state == LayerState::Quantized);
        QVERIFY(!m_canvas->looks()[0].hatched);
    }

    void arrowKeysFollowTheEdges() {
        click(1);
        QTest::keyClick(m_canvas.get(), Qt::Key_Down);
        QCOMPARE(m_document->current(), NodeId(2));
        QTest::keyClick(m_canvas.get(), Qt::Key_Up);
        QTest::keyClick(m_canvas.get(), Qt::Key_Up);
        QCOMPARE(m_document->current(), NodeId(0));
        QTest::keyClick(m_canvas.get(), Qt::Key_End);
        QCOMPARE(m_document->current(), NodeId(5));
        m_document->select(NodeId());
        QTest::keyClick(m_canvas.get(), Qt::Key_End);
        QCOMPARE(m_document->current(), NodeId(5));
    }

    void theWheelZoomsToTheCursor() {
        const QPointF cursor(200, 333);
        const QPointF before = m_canvas->transform().toScene(cursor);
        const double zoom = m_canvas->transform().zoom;
        QWheelEvent wheel(cursor, m_canvas->mapToGlobal(cursor), {}, {0, 240}, Qt::NoButton,
                          Qt::ControlModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(m_canvas.get(), &wheel);
        QVERIFY(m_canvas->transform().zoom > zoom * 1.2);
        const QPointF moved = m_canvas->transform().toScene(cursor) - before;
        QVERIFY2(std::hypot(moved.x(), moved.y()) < 1e-6, "the point under the cursor has moved");
    }

    void positionAndZoomSurviveAnEdit() {
        m_canvas->view()->zoomAt({100, 100}, 1.7);
        const ViewTransform before = m_canvas->transform();
        click(0);
        QTest::keyClick(m_canvas.get(), Qt::Key_Space);
        QVERIFY(QTest::qWaitFor([&] { return !m_document->job()->busy(); }, 20000));
        QCOMPARE(m_canvas->transform().zoom, before.zoom);
        QCOMPARE(m_canvas->transform().offset, before.offset);
        QCOMPARE(m_document->selection(), std::vector{NodeId(0)});
    }

    /// The graph moves under a mouse pointer that does not move, so the box under the pointer changes.
    void hoverFollowsTheMovingGraph() {
        QTest::mouseMove(m_canvas.get(), middleOf(1).toPoint());
        const QImage at1 = m_canvas->grab().toImage();
        m_canvas->view()->centerScene(
            m_canvas->transform().toScene(QRectF(m_canvas->rect()).center() + middleOf(2) - middleOf(1)));
        QImage moved = m_canvas->grab().toImage();
        QTest::mouseMove(m_canvas.get(), middleOf(2).toPoint() + QPoint(1, 0));
        QCOMPARE(m_canvas->grab().toImage(), moved);  // the second box was already highlighted
        QVERIFY(moved != at1);
        click(4);
        QTest::keyClick(m_canvas.get(), Qt::Key_Down);  // the keyboard is used now
        moved = m_canvas->grab().toImage();
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(m_canvas.get(), &leave);
        QCOMPARE(m_canvas->grab().toImage(), moved);
    }

    void fittingShowsAllOfALongGraph() {
        auto picture = std::make_shared<Picture>(*columnOf(*m_document->graph()));
        picture->nodes.back().box.y = 900'000;
        m_canvas->setPicture(picture);
        m_canvas->view()->fitAll();
        QVERIFY(m_canvas->visibleScene().contains(m_canvas->index().bounds()));
        const double zoom = m_canvas->transform().zoom;
        m_canvas->view()->zoomAt({10, 10}, 0.5);  // the user cannot zoom further
        QCOMPARE(m_canvas->transform().zoom, zoom);
    }

    void aRubberBandSelectsWhatItTouches() {
        const QPoint from = middleOf(1).toPoint() + QPoint(-200, -30);
        const QPoint to = middleOf(3).toPoint() + QPoint(0, 5);
        QTest::mousePress(m_canvas.get(), Qt::LeftButton, Qt::ShiftModifier, from);
        QTest::mouseMove(m_canvas.get(), to);
        QTest::mouseRelease(m_canvas.get(), Qt::LeftButton, Qt::ShiftModifier, to);
        QCOMPARE(m_document->selection(), (std::vector{NodeId(1), NodeId(2), NodeId(3)}));
    }

    /// "No value" differs from "no value yet".
    void legendReportsThatValuesAreBeingEvaluated() {
        Document document;
        GraphCanvas canvas(&document);
        const Legend legend(&canvas);
        QStringList told;
        connect(&document, &Document::layersChanged, this, [&] {
            if (!document.layers().empty()) told << legend.nothing();
        });
        QVERIFY(test::openAndWait(document, test::writeModel(m_folder)));
        QCOMPARE(told.value(0), QStringLiteral("evaluating\u2026"));
        QCOMPARE(told.back(), QString());
        QVERIFY(canvas.scale().any);
    }

    void skipUntilByTwoClicks() {
        QSignalSpy chosen(m_canvas->until(), &UntilChoice::chosen);
        m_canvas->until()->start(NodeId(0));
        QVERIFY(m_canvas->until()->active());
        click(2);
        QCOMPARE(chosen.count(), 1);
        QVERIFY(!m_canvas->until()->active());
        m_canvas->until()->start(NodeId(0));
        QTest::keyClick(m_canvas.get(), Qt::Key_Escape);
        QVERIFY(!m_canvas->until()->active());
        QCOMPARE(chosen.count(), 1);
    }

    void indexFindsEdgesAcrossCells() {
        auto picture = std::make_shared<Picture>();
        picture->nodes.resize(2);
        picture->nodes[0].box = {0, 0, 10, 10};
        picture->nodes[1].box = {5000, 9000, 10, 10};
        picture->edges.push_back({0, 1, {}, {{5, 10}, {5, 4000}, {5005, 4000}, {5005, 9000}}});
        const PictureIndex index(*picture);
        QCOMPARE(index.edgesIn(QRectF(2000, 3990, 100, 20)).size(), 1u);
        QVERIFY(index.nodesIn(QRectF(2000, 3990, 100, 20)).empty());
        QCOMPARE(index.nodeAt({5003, 9003}), std::optional<std::size_t>(1));
    }

  private:
    QPointF middleOf(std::size_t box) const {
        return m_canvas->transform().toView(toRectF(m_canvas->picture()->nodes[box].box).center());
    }
    void click(std::size_t box, Qt::KeyboardModifiers modifiers = {}) {
        QTest::mouseClick(m_canvas.get(), Qt::LeftButton, modifiers, middleOf(box).toPoint());
    }

    QTemporaryDir m_folder;
    std::unique_ptr<Document> m_document;
    std::unique_ptr<GraphCanvas> m_canvas;
};

QTEST_MAIN(CanvasTest)
#include "canvas_test.moc"
