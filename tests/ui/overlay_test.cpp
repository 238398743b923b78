// SPDX-License-Identifier: Apache-2.0
// Overlays on the graph: keys, scales with draggable ends, and messages where there is no value.
#include <QPainter>
#include <QTest>
#include <cmath>
#include <set>

#include "block_window.h"
#include "color_data.h"
#include "config/layer_choices.h"
#include "results/task_metric.h"
#include "style/theme.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

std::vector<std::optional<double>> values(std::initializer_list<double> list) {
    return {list.begin(), list.end()};
}

}  // namespace

class OverlayTest : public QObject, private test::BlockWindow {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeBlocks(4); }
    void init() { QVERIFY(openBlocks({1500, 900})); }
    void cleanup() { m_window.reset(); }

    void logarithmicScaleSeparatesSmallValues() {
        const auto all = values({0.001, 0.01, 0.1, 1});
        const MetricScale linear = scaleOf(all, Metric::LocalQs);
        QVERIFY(std::abs(linear.position(0.01) - 0.01) < 1e-12);
        ScaleChoice choice;
        choice.logarithmic = true;
        const MetricScale log = scaleOf(all, Metric::LocalQs, choice);
        QVERIFY(std::abs(log.position(0.001)) < 1e-12);
        QVERIFY(std::abs(log.position(0.01) - 1.0 / 3) < 1e-12);
        QVERIFY(std::abs(log.position(0.1) - 2.0 / 3) < 1e-12);
        QCOMPARE(log.position(0), 0.0);
        QCOMPARE(log.position(7), 1.0);
        for (const double place : {0.0, 0.25, 0.7, 1.0})
            QVERIFY(std::abs(log.axisPosition(log.axisValue(place)) - place) < 1e-9);
    }

    /// The gain is that of the metric of the task, which is the SQNR if the outputs have no classes.
    void leaveOneOutHasTheUnitOfTheTask() {
        Evaluation evaluation;
        evaluation.quantized = Accuracy{};
        evaluation.quantized->sqnrDb = 17.7;
        const auto text = [&] { return formatMetric(0.012, Metric::LeaveOneOut, gainMetricOf(&evaluation)); };
        QCOMPARE(text(), QStringLiteral("+0.01 dB"));
        evaluation.quantized->agreement = 0.9;
        evaluation.quantized->samples = kFewSamples - 1;
        QCOMPARE(text(), QStringLiteral("+0.01 dB"));
        evaluation.quantized->samples = kFewSamples;
        QCOMPARE(text(), QStringLiteral("+1.2"));
        evaluation.quantized->userMetric = 3;
        QCOMPARE(text(), QStringLiteral("+0.012"));
        QCOMPARE(formatMetricDifference(1, 2, Metric::LeaveOneOut, TaskMetric::Sqnr),
                 QStringLiteral("\u22121.00 dB"));
    }

    void lowCosineIsBad() {
        ScaleChoice log;
        log.logarithmic = true;
        const MetricScale scale = scaleOf(values({0.9, 0.99, 0.999}), Metric::Cosine, log);
        QVERIFY(std::abs(scale.position(0.9) - 1) < 1e-9);
        QVERIFY(std::abs(scale.position(0.99) - 0.5) < 1e-9);
        QVERIFY(std::abs(scale.position(0.999)) < 1e-9);
        QCOMPARE(scale.position(1), 0.0);
    }

    void zeroDifferenceIsInTheMiddle() {
        const MetricScale scale = scaleOf(values({-0.2, 0, 0.1}), Metric::Difference);
        QCOMPARE(scale.position(0), 0.5);
        QCOMPARE(scale.position(-0.2), 0.0);
        QVERIFY(scale.position(0.1) > 0.7 && scale.position(0.1) < 0.8);
        const QColor none = differenceColor(0.5, false), better = differenceColor(0, false),
                     worse = differenceColor(1, false);
        QVERIFY(none.lightness() > better.lightness() + 60 && none.lightness() > worse.lightness() + 60);
        QVERIFY(better.hslSaturation() < 60 && worse.hslSaturation() > 120);
    }

    void chosenEndsStayWithinTheValues() {
        ScaleChoice choice;
        choice.best = 0.2, choice.worst = 9;
        const MetricScale scale = scaleOf(values({0, 0.5, 1}), Metric::LocalQs, choice);
        QCOMPARE(scale.best, 0.2);
        QCOMPARE(scale.worst, 1.0);
        QCOMPARE(scale.position(0.1), 0.0);
        QVERIFY(std::abs(scale.position(0.6) - 0.5) < 1e-12);
    }

    void keysSwitchTheMetric() {
        for (std::size_t i = 0; i < kMetricsWithKey; ++i) {
            QTest::keyClick(m_window.get(), static_cast<Qt::Key>(Qt::Key_0 + static_cast<int>(i + 1) % 10));
            QVERIFY2(canvas()->metric() == kMetrics[i], qPrintable(QString::number(i + 1)));
        }
    }

    void rangeRatiosOfTheWeights() {
        canvas()->setMetric(Metric::RangeRatio);
        QCOMPARE(canvas()->overlay().valueOf(node("/blocks/0/conv/Conv")), std::optional(2.0));
        QCOMPARE(canvas()->overlay().valueOf(node("/blocks/3/conv/Conv")), std::optional(16.0));
        QCOMPARE(canvas()->overlay().valueOf(node("/head/Conv")), std::optional(1.0));
        QCOMPARE(canvas()->overlay().valueOf(node("/blocks/0/Add")), std::nullopt);
        QVERIFY(canvas()->scale().logarithmic);
        const auto heat = [&](const char* name) {
            return canvas()->looks()[*canvas()->index().boxOf(node(name))].heat;
        };
        QVERIFY(std::abs(heat("/blocks/0/conv/Conv") - 0.25) < 1e-9);
        QCOMPARE(heat("/blocks/3/conv/Conv"), 1.0);
    }

    void bitsFollowTheConfiguration() {
        canvas()->setMetric(Metric::Bits);
        QuantizationConfig config = document()->config();
        config.quantization.weight.bits = 4;
        config.layers["/blocks/1/conv/Conv"].weightBits = 6;
        QVERIFY(document()->edit({config, QStringLiteral("bits"), {}}));
        QVERIFY(QTest::qWaitFor([&] { return !document()->job()->busy(); }, 20000));
        const auto text = [&](const char* name) {
            return canvas()->looks()[*canvas()->index().boxOf(node(name))].number;
        };
        QCOMPARE(text("/blocks/0/conv/Conv"), QStringLiteral("W4A8"));
        QCOMPARE(text("/blocks/1/conv/Conv"), QStringLiteral("W6A8"));
        QCOMPARE(text("/blocks/1/Add"), QStringLiteral("A8"));
        config = withPrecision(config, {"/blocks/0/conv/Conv"}, Precision::integer(8, 16));
        config = withPrecision(config, {"/blocks/1/conv/Conv"}, Precision::float16());
        config = withPrecision(config, {"/blocks/2/conv/Conv"}, Precision::float32());
        QVERIFY(document()->edit({config, QStringLiteral("precisions"), {}}));
        QVERIFY(QTest::qWaitFor([&] { return !document()->job()->busy(); }, 20000));
        QCOMPARE(text("/blocks/0/conv/Conv"), QStringLiteral("W8A16"));
        QCOMPARE(text("/blocks/1/conv/Conv"), QStringLiteral("F16"));
        QCOMPARE(text("/blocks/2/conv/Conv"), QStringLiteral("F32"));
        const auto color = [&](const char* name) {
            return canvas()->looks()[*canvas()->index().boxOf(node(name))].heatColor;
        };
        QCOMPARE(color("/blocks/0/conv/Conv"),
                 precisionColor(static_cast<std::size_t>(PrecisionClass::WideActivations), false));
        QVERIFY(color("/blocks/1/conv/Conv") != color("/blocks/2/conv/Conv"));
    }

    void namesOfPrecisionsDoNotOverlapInTheLegend() {
        canvas()->setMetric(Metric::Bits);
        const auto* legend = m_window->findChild<Legend*>();
        const QFontMetricsF metrics(scaledFont(legend->font(), kPrecisionNameSize));
        for (std::size_t i = 0; i < kPrecisionClasses; ++i) {
            const QString name = precisionClassName(static_cast<PrecisionClass>(i));
            QVERIFY2(metrics.horizontalAdvance(name) + 1 < legend->barRect().width() / kPrecisionClasses,
                     qPrintable(name));
        }
    }

    void aMissingValueIsExplainedAndDrawn() {
        canvas()->setMetric(Metric::RangeRatio);
        const auto box = canvas()->index().boxOf(node("/blocks/0/Add"));
        QVERIFY(canvas()->looks()[*box].noValue);
        QCOMPARE(canvas()->looks()[*box].heat, -1.0);
        const QString why =
            whyNoValue(*document(), document()->layer(node("/blocks/0/Add")), Metric::RangeRatio);
        QVERIFY2(why.contains("no constant weight"), qPrintable(why));
        // Every metric gives a reason if and only if it gives no value.
        for (const Metric metric : kMetrics) {
            if (metric == Metric::None) continue;
            const Overlay overlay = overlayOf(*document(), document()->layers(), metric, {});
            for (const LayerResult& layer : document()->layers())
                QCOMPARE(whyNoValue(*document(), &layer, metric).isEmpty(),
                         overlay.valueOf(layer.node).has_value());
        }
    }

    /// If one row is too narrow, the states use two or three rows or are below the scale, down to the
    /// narrowest window.
    void narrowLegendShowsAllStates() {
        const QFont font = m_window->graphView()->legend()->font();
        const Theme& colors = theme(false);
        MetricScale scale = canvas()->scale();
        scale.metric = Metric::LocalQs;
        const QSizeF whole = legendSize(font, true);
        for (const double share : {1.0, 0.9, 0.8, 0.75, 0.62, 0.5, 0.4}) {
            const double room = whole.width() * share;
            const QSizeF size = legendSize(font, true, room);
            // no word is cut off
            QVERIFY2(size.width() <= room,
                     qPrintable(QStringLiteral("%1 in %2").arg(size.width()).arg(room)));
            QImage image(size.toSize(), QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            painter.setFont(font);
            paintLegend(painter, QRectF(image.rect()), scale, colors);
            painter.end();
            std::set<QRgb> seen;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) seen.insert(image.pixel(x, y));
            for (const QColor& state : {colors.io, colors.quantized, colors.inFloat, colors.folded})
                QVERIFY2(seen.contains(state.rgb()),
                         qPrintable(QStringLiteral("%1 at %2").arg(state.name()).arg(share)));
        }
    }

    /// The layers covered by a rule preview are described next to the boxes, not on them.
    void bannerDoesNotCoverAFittedGraph() {
        canvas()->view()->fitAll();
        canvas()->setPreview(NodeSet(document()->graph()->nodeCount(), true), QStringLiteral("all of it"));
        const auto* banner = m_window->graphView()->findChild<QFrame*>(QStringLiteral("banner"));
        QVERIFY(banner && banner->isVisible());
        for (const PictureNode& box : canvas()->picture()->nodes)
            QVERIFY2(!canvas()
                          ->transform()
                          .toView(toRectF(box.box))
                          .translated(canvas()->pos())
                          .intersects(banner->geometry()),
                     box.title.c_str());
        canvas()->clearPreview();
    }

    void endsAreDraggedAndReset() {
        canvas()->setMetric(Metric::RangeRatio);
        Legend* legend = m_window->graphView()->legend();
        const QRectF bar = legend->barRect();
        const QPoint worst(qRound(bar.right()), qRound(bar.center().y()));
        const QPoint half(qRound(bar.center().x()), worst.y());
        QTest::mousePress(legend, Qt::LeftButton, {}, worst);
        QTest::mouseMove(legend, half);
        QTest::mouseRelease(legend, Qt::LeftButton, {}, half);
        QVERIFY2(std::abs(canvas()->scale().worst - 4) < 0.2,
                 qPrintable(QString::number(canvas()->scale().worst)));
        QVERIFY(canvas()->scale().clipped);
        QCOMPARE(canvas()->looks()[*canvas()->index().boxOf(node("/blocks/2/conv/Conv"))].heat, 1.0);
        QTest::mouseDClick(legend, Qt::LeftButton, {}, half);
        QCOMPARE(canvas()->scale().worst, 16.0);
        QTest::mouseClick(legend, Qt::LeftButton, {}, legend->switchRect().center().toPoint());
        QVERIFY(!canvas()->scale().logarithmic);
        QVERIFY(std::abs(canvas()->scale().position(8.5) - 0.5) < 1e-9);
    }

    void differencesAreFromThePreviousConfiguration() {
        document()->setBackgroundEvaluation(false);
        const auto data = test::writeColors(m_folder);
        const auto evaluated = [&] {
            return document()->evaluation() && document()->evaluation()->complete &&
                   document()->evaluation()->quantized && !document()->job()->busy();
        };
        document()->open(
            {test::writeModel(m_folder, QString::fromLatin1(test::kColors), QStringLiteral("colors.onnx")),
             data,
             {},
             {}});
        QVERIFY(QTest::qWaitFor(evaluated, 20000));
        canvas()->setMetric(Metric::Difference);
        QVERIFY(!canvas()->scale().any);
        QVERIFY(
            whyNoValue(*document(), document()->layer(NodeId(0)), Metric::Difference).contains("only one"));
        QCOMPARE(m_window->graphView()->legend()->nothing(), QStringLiteral("one configuration so far"));
        std::vector<double> before;
        for (const LayerResult& layer : document()->layers())
            before.push_back(layer.cumulative ? layer.cumulative->qs : -1);
        QSignalSpy finished(document(), &Document::evaluationFinished);
        QVERIFY(document()->edit({test::coarse(document()->config()), QStringLiteral("Coarse"), {}}));
        QVERIFY(finished.wait(20000));
        QVERIFY(QTest::qWaitFor(evaluated, 20000));
        std::size_t compared = 0;
        double largest = 0;
        for (const LayerResult& layer : document()->layers()) {
            if (!layer.cumulative || before[layer.node.index()] < 0) continue;
            const auto value = canvas()->overlay().valueOf(layer.node);
            QVERIFY(value.has_value());
            QCOMPARE(*value, layer.cumulative->qs - before[layer.node.index()]);
            largest = std::max(largest, *value);
            ++compared;
        }
        QVERIFY2(compared >= 2, qPrintable(QString::number(compared)));
        QVERIFY2(largest > 0.01, qPrintable(QString::number(largest)));  // coarse weights are worse
        QCOMPARE(canvas()->reference().name(), QStringLiteral("the previous configuration"));
        QVERIFY(m_window->graphView()->legend()->nothing().isEmpty());
    }
};

QTEST_MAIN(OverlayTest)
#include "overlay_test.moc"
