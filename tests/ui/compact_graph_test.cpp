// SPDX-License-Identifier: Apache-2.0
// Compact rows on the canvas, what each zoom shows, and what is docked around the canvas.
#include <QAction>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "graph/box_face.h"
#include "style/icons.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

constexpr const char* kModel = R"(
<ir_version: 8, opset_import: ["" : 13]>
stacks (float[N,2,8,8] X) => (float[N,2,8,8] Y)
<float[2,2,1,1] V = {1, 0.5, -1, 0.25}, float[2,2,1,1] W = {1, 2, -1, 300}, float[2] s = {1, 1.5},
 float[2] b = {0, 0.1}, float[2] m = {0, 0.2}, float[2] v = {1, 2}, float low = {0}, float high = {6}>
{
  A = Conv<kernel_shape = [1, 1]>(X, V)
  B = BatchNormalization(A, s, b, m, v)
  C = Clip(B, low, high)
  D = Conv(C, W)
  E = Relu(D)
  F = Conv(E, V)
  Y = Add(F, C)
})";

}  // namespace

class CompactGraphTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }
    void init() {
        m_window = test::openWindow(test::writeModel(m_folder, QString::fromLatin1(kModel), "stacks.onnx"),
                                    {1400, 900});
        QVERIFY(m_window);
        canvas()->view()->fitAll();
    }
    void cleanup() { m_window.reset(); }

    void rowsAreSelectedSeparately() {
        for (const int layer : {0, 1, 2, 4}) {
            QTest::mouseClick(canvas(), Qt::LeftButton, {}, middleOf(layer).toPoint());
            QCOMPARE(document()->selection(), std::vector{NodeId(static_cast<std::size_t>(layer))});
        }
        const QImage before = canvas()->grab().toImage();
        QTest::mouseClick(canvas(), Qt::LeftButton, {}, middleOf(1).toPoint());
        QVERIFY2(canvas()->grab().toImage() != before, "the selected row is not marked");
    }

    void arrowKeysVisitTheRows() {
        document()->select(NodeId(0));
        for (const int layer : {1, 2, 3, 4, 5}) {
            QTest::keyClick(canvas(), Qt::Key_Down);
            QCOMPARE(document()->current(), NodeId(static_cast<std::size_t>(layer)));
        }
        QTest::keyClick(canvas(), Qt::Key_Up);
        QCOMPARE(document()->current(), NodeId(4));
    }

    void stackIsDrawnAsOneObject() {
        QVERIFY(document()->layer(NodeId(1))->state == LayerState::Folded);
        QVERIFY(document()->layer(NodeId(2))->state == LayerState::Fused);
        QVERIFY(look(0).part == StackPart::Top && look(1).part == StackPart::Middle);
        QVERIFY(look(2).part == StackPart::Bottom && look(5).part == StackPart::Whole);
        for (const int row : {1, 2}) {
            QCOMPARE(look(row).outline, look(0).outline);
            QCOMPARE(look(row).fill, look(0).fill);
        }
        document()->select(NodeId(0));
        QTest::keyClick(canvas(), Qt::Key_Space);
        QVERIFY(look(0).dashed && look(1).dashed && look(2).dashed);
        QCOMPARE(look(2).fill, themeOf(canvas()->palette()).inFloatFill);
        // The heat bar extends through the whole stack.
        canvas()->setMetric(Metric::RangeRatio);
        const Picture& picture = *canvas()->picture();
        QVERIFY(&heatLook(picture, canvas()->looks(), boxOf(1)) == &look(0));
        QVERIFY(&heatLook(picture, canvas()->looks(), boxOf(3)) == &look(3));
    }

    void rowsCanBecomeBoxesAgain() {
        QVERIFY(canvas()->picture()->nodes[boxOf(1)].isRow());
        trigger("Attach Batch Norms and Activations");
        QVERIFY(!canvas()->picture()->nodes[boxOf(1)].isRow());
        QCOMPARE(canvas()->picture()->nodes[boxOf(1)].box.height,
                 canvas()->picture()->nodes[boxOf(0)].box.height);
    }

    /// The color of the worst value is in its box at every zoom; that of no other ramp position is.
    void heatHasTheSameColorAtEveryZoom() {
        canvas()->setMetric(Metric::RangeRatio);
        QCOMPARE(look(3).heat, 1.0);
        for (const double zoom : {0.1, 0.24, 0.3, 0.44, 0.5, 1.0, 1.9, 2.5, 4.0}) {
            ViewTransform view;
            view.zoom = zoom;
            const QRectF box = toRectF(canvas()->picture()->nodes[boxOf(3)].box);
            view.center(box.center(), QRectF(canvas()->rect()));
            canvas()->view()->setTransform(view);
            const QImage image = canvas()->grab(view.toView(box).toAlignedRect()).toImage();
            int worst = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = image.width() / 2; x < image.width(); ++x)
                    worst += image.pixelColor(x, y) == heatColor(1, false);
            QVERIFY2(worst > 0, qPrintable(QStringLiteral("no heat at zoom %1").arg(zoom)));
        }
    }

    void highZoomShowsMoreDetails() {
        const QStringList lines = canvas()->hints().details(boxOf(0));
        const QString all = lines.join('\n');
        for (const char* word :
             {"Conv", "Conv_0", "\u00d78\u00d78", "W8", "A8", "4 weights", "kernel 1\u00d71"})
            QVERIFY2(all.contains(QString::fromUtf8(word)), qPrintable(all));
        QVERIFY(canvas()->hints().details(boxOf(1)).front() == QLatin1String("BatchNormalization"));
        QVERIFY(canvas()->hints().details(boxOf(1)).join('\n').contains(QLatin1String("folded")));
        // More details are drawn if they fit: at 200 % the box shows more than the same box enlarged.
        ViewTransform view;
        view.center(toRectF(canvas()->picture()->nodes[boxOf(0)].box).center(), QRectF(canvas()->rect()));
        const auto linesAt = [&](double zoom) {
            view.zoom = zoom;
            const QRectF box = toRectF(canvas()->picture()->nodes[boxOf(0)].box);
            view.center(box.center(), QRectF(canvas()->rect()));
            canvas()->view()->setTransform(view);
            const QImage image = canvas()->grab(view.toView(box).toAlignedRect()).toImage();
            int count = 0;  // lines of text: rows of pixels with letters after one without
            bool before = false;
            for (int y = 2; y < image.height() - 2; ++y) {
                bool letters = false;
                for (int x = image.width() / 10; x < image.width() / 2; ++x)
                    letters = letters || image.pixelColor(x, y).lightness() < 160;
                count += letters && !before;
                before = letters;
            }
            return count;
        };
        QVERIFY(linesAt(2.01) > linesAt(1.99));
    }

    void nothingCoversTheCanvas_data() {
        QTest::addColumn<QSize>("size");
        QTest::newRow("large") << QSize(1472, 912);
        QTest::newRow("small") << QSize(1280, 720);
        QTest::newRow("small at 200 %") << QSize(640, 360);
        QTest::newRow("between two panels") << QSize(240, 160);
    }
    void nothingCoversTheCanvas() {
        QFETCH(const QSize, size);
        Document opened;
        GraphView view(&opened);
        view.resize(size);
        view.show();
        QVERIFY(test::openAndWait(opened,
                                  test::writeModel(m_folder, QString::fromLatin1(kModel), "stacks.onnx")));
        const GraphCanvas* drawn = view.canvas();
        QVERIFY(QTest::qWaitFor([&] { return drawn->picture() != nullptr; }, 10000));
        const auto check = [&] {
            for (const QObject* child : view.children()) {
                const auto* widget = qobject_cast<const QWidget*>(child);
                if (!widget || widget == drawn || !widget->isVisible()) continue;
                QVERIFY2(!widget->geometry().intersects(drawn->geometry()),
                         widget->metaObject()->className());
                QVERIFY2(view.rect().contains(widget->geometry()), widget->metaObject()->className());
                QVERIFY2(widget->width() >= widget->minimumSizeHint().width(),
                         widget->metaObject()->className());
            }
        };
        check();
        QVERIFY(view.legend()->isVisible() == (size.height() > 300));
        QVERIFY(view.findChild<ZoomButtons*>()->isVisible());
        const int before = drawn->height();
        view.setLegendShown(false);
        view.setToolbarShown(false);
        check();
        QVERIFY(drawn->height() > before && !view.legend()->isVisible());
        QCOMPARE(drawn->height(), view.height());
        view.setLegendShown(true);
        view.setToolbarShown(true);
        QCOMPARE(drawn->height(), before);
    }

    void hiddenPartsStayHidden() {
        trigger("Legend", false);
        QVERIFY(!m_window->graphView()->legend()->isVisible());
        {
            MainWindow next;
            next.show();
            QVERIFY(next.graphView()->legend()->isHidden());
        }
        trigger("Legend", false);
        QVERIFY(m_window->graphView()->legend()->isVisible());
    }

    void buttonsZoom() {
        canvas()->view()->actualSize();
        const auto press = [&](const char* name) {
            for (QToolButton* button : m_window->graphView()->findChildren<QToolButton*>())
                if (button->accessibleName().startsWith(QLatin1String(name)))
                    QTest::mouseClick(button, Qt::LeftButton);
            return canvas()->view()->transform().zoom;
        };
        QCOMPARE(press("Zoom in"), 1.25);
        QCOMPARE(press("Zoom out"), 1.0);
        QCOMPARE(press("Zoom in"), 1.25);
        QCOMPARE(press("Zoom."), 1.0);
        press("Show the whole graph");
        QVERIFY(canvas()->view()->visibleScene().contains(canvas()->index().bounds()));
    }

    void theProgramHasAnIcon() {
        const QIcon icon = applicationIcon();
        for (const int size : {16, 24, 32, 48, 64, 128, 256}) {
            const QImage image = icon.pixmap(QSize(size, size), 1.0).toImage();
            QCOMPARE(image.size(), QSize(size, size));
            QVERIFY(image.pixelColor(size / 2, size / 2).alpha() > 200);
        }
    }

  private:
    GraphCanvas* canvas() const { return m_window->graphView()->canvas(); }
    Document* document() const { return m_window->document(); }
    std::size_t boxOf(int layer) const {
        return *canvas()->index().boxOf(NodeId(static_cast<std::size_t>(layer)));
    }
    const NodeLook& look(int layer) const { return canvas()->looks()[boxOf(layer)]; }
    QPointF middleOf(int layer) const {
        return canvas()->view()->transform().toView(
            toRectF(canvas()->picture()->nodes[boxOf(layer)].box).center());
    }
    void trigger(const char* name, bool laysOut = true) {
        QAction* action = test::actionNamed(m_window->allActions(), name);
        QVERIFY2(action, name);
        const Picture* before = canvas()->picture();
        action->trigger();
        if (laysOut) QVERIFY(QTest::qWaitFor([&] { return canvas()->picture() != before; }, 10000));
    }

    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(CompactGraphTest)
#include "compact_graph_test.moc"
