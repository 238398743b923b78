// SPDX-License-Identifier: Apache-2.0
// Skip gestures by mouse and keyboard: a preview shows the covered layers, Escape cancels without side
// effects, and a click makes one undo step.
#include <QApplication>
#include <QMenuBar>
#include <QMouseEvent>
#include <QTest>
#include <algorithm>

#include "block_window.h"
#include "graph/graph_gestures.h"
#include "session/studies/skip_metrics.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class GesturesTest : public QObject, private test::BlockWindow {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeBlocks(4); }
    void init() {
        QVERIFY(openBlocks({1400, 900}));
        canvas()->view()->fitAll();
    }
    void cleanup() { m_window.reset(); }

    void skipUntilIsPreviewedUnderTheCursor() {
        click("/blocks/1/conv/Conv");
        QTest::keyClick(canvas(), Qt::Key_U);
        QVERIFY(canvas()->until()->active());
        hover("/blocks/2/Add");
        // Block 1 from its Conv on, and block 2: by hand from the network's shape.
        const QStringList expected{"/blocks/1/Add", "/blocks/1/act/Relu", "/blocks/1/conv/Conv",
                                   "/blocks/2/Add", "/blocks/2/act/Relu", "/blocks/2/conv/Conv"};
        QCOMPARE(previewed(), expected);
        QVERIFY2(m_window->graphView()->bannerText().contains("6 nodes"),
                 qPrintable(m_window->graphView()->bannerText()));
        QVERIFY(document()->config().rules.empty());
        hover("/blocks/1/act/Relu");
        QCOMPARE(previewed(), (QStringList{"/blocks/1/act/Relu", "/blocks/1/conv/Conv"}));
    }

    void previewIsDrawnDashedAndYellow() {
        click("/blocks/1/conv/Conv");
        canvas()->view()->actualSize();  // dashes and hatches as they are meant to be seen
        hover("/blocks/1/conv/Conv");
        const QColor yellow = themeOf(canvas()->palette()).inFloat;
        const auto count = [&] {
            const QImage image = canvas()->grab().toImage();
            int found = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) {
                    const QColor c = image.pixelColor(x, y);
                    found += std::abs(c.red() - yellow.red()) + std::abs(c.green() - yellow.green()) +
                                 std::abs(c.blue() - yellow.blue()) <
                             24;
                }
            return found;
        };
        const int before = count();
        QTest::keyClick(canvas(), Qt::Key_U);
        hover("/blocks/1/Add");
        const int during = count();
        QVERIFY2(during > before + 200,
                 qPrintable(QString("%1 yellow pixels, %2 before").arg(during).arg(before)));
        QTest::keyClick(canvas(), Qt::Key_Escape);
        QCOMPARE(count(), before);
    }

    void escapeLeavesNoTrace() {
        click("/blocks/0/conv/Conv");
        QTest::keyClick(canvas(), Qt::Key_U);
        hover("/blocks/1/Add");
        QTest::keyClick(canvas(), Qt::Key_Escape);
        QVERIFY(!canvas()->until()->active());
        QVERIFY(previewed().isEmpty());
        QVERIFY(m_window->graphView()->bannerText().isEmpty());
        QVERIFY(document()->config().rules.empty());
        QCOMPARE(document()->undoStack()->count(), 0);
    }

    void aClickCommitsTheRangeAsOneStep() {
        click("/blocks/1/conv/Conv");
        QTest::keyClick(canvas(), Qt::Key_U);
        hover("/blocks/2/act/Relu");
        const QStringList promised = previewed();
        click("/blocks/2/act/Relu");
        const auto& rules = document()->config().rules;
        QCOMPARE(rules.size(), 1u);
        QVERIFY(rules[0].kind == SkipKind::Until);
        QVERIFY(previewed().isEmpty());
        for (const QString& name : promised) {
            const LayerResult* layer = document()->layer(node(name));
            if (layer->quantizable) QVERIFY2(layer->state == LayerState::Skipped, qPrintable(name));
        }
        QCOMPARE(document()->undoStack()->count(), 1);
        document()->undoStack()->undo();
        QVERIFY(document()->config().rules.empty());
    }

    void controlChoosesSeveralEnds() {
        click("/blocks/1/conv/Conv");
        QTest::keyClick(canvas(), Qt::Key_U);
        hover("/blocks/1/act/Relu");
        click("/blocks/1/act/Relu", Qt::ControlModifier);
        QVERIFY(canvas()->until()->active());
        QVERIFY(document()->config().rules.empty());
        hover("/blocks/2/conv/Conv");
        QVERIFY2(m_window->graphView()->bannerText().contains("2 ends"),
                 qPrintable(m_window->graphView()->bannerText()));
        QVERIFY(previewed().contains("/blocks/1/act/Relu") && previewed().contains("/blocks/2/conv/Conv"));
        click("/blocks/0/conv/Conv", Qt::ControlModifier);  // no path leads there: not taken
        click("/blocks/2/conv/Conv");
        QVERIFY(!canvas()->until()->active());
        const auto& rules = document()->config().rules;
        QCOMPARE(rules.size(), 1u);
        QCOMPARE(rules[0].from, std::string("/blocks/1/conv/Conv"));
        QCOMPARE(rules[0].to, (std::vector<std::string>{"/blocks/1/act/Relu", "/blocks/2/conv/Conv"}));
        QCOMPARE(document()->undoStack()->count(), 1);
    }

    void theKeyboardChoosesTheEnd() {
        click("/blocks/1/conv/Conv");
        QTest::keyClick(canvas(), Qt::Key_U);
        QTest::keyClick(canvas(), Qt::Key_Down);
        QTest::keyClick(canvas(), Qt::Key_Down);
        QVERIFY(previewed().contains("/blocks/1/act/Relu"));
        QTest::keyClick(canvas(), Qt::Key_Return);
        QCOMPARE(document()->config().rules.size(), 1u);
        QVERIFY(!canvas()->until()->active());
    }

    void shiftClickSelectsAllPathsInBetween() {
        click("/stem/Conv");
        click("/blocks/0/Add", Qt::ShiftModifier);
        // The shortcut has no layer; the branch has two.
        QCOMPARE(selected(),
                 (QStringList{"/blocks/0/Add", "/blocks/0/act/Relu", "/blocks/0/conv/Conv", "/stem/Conv"}));
        QCOMPARE(document()->current(), node("/stem/Conv"));
        click("/blocks/0/act/Relu", Qt::ShiftModifier);  // from the same end, shorter
        QCOMPARE(selected(), (QStringList{"/blocks/0/act/Relu", "/blocks/0/conv/Conv", "/stem/Conv"}));
        click("/head/Conv");
        click("/blocks/3/Add", Qt::ShiftModifier);  // upwards
        QCOMPARE(selected(), (QStringList{"/blocks/3/Add", "/head/Conv"}));
        QTest::keyClick(canvas(), Qt::Key_Space);
        QVERIFY(document()->layer(node("/blocks/3/Add"))->state == LayerState::Skipped);
    }

    void identicalBlocksArePreviewedFromTheMenu() {
        click("/blocks/1/act/Relu");
        QMenu* menu = m_window->findChild<GraphGestures*>()->blockMenu();
        m_window->findChild<GraphGestures*>()->popUpBlocks();
        QVERIFY(QTest::qWaitFor([&] { return menu->isVisible(); }, 5000));
        QAction* block = nullptr;
        for (QAction* action : menu->actions())
            if (action->text().contains("/blocks/1 and 3 more with the same structure")) block = action;
        QVERIFY2(block, "the block of three layers is not offered");
        QTest::mouseMove(menu, menu->actionGeometry(block).center());
        menu->setActiveAction(block);
        QCOMPARE(previewed().size(), 12);  // four blocks of three
        QVERIFY(previewed().contains("/blocks/3/Add") && !previewed().contains("/stem/Conv"));
        QTest::keyClick(menu, Qt::Key_Return);
        QVERIFY(previewed().isEmpty());
        const auto& rules = document()->config().rules;
        QCOMPARE(rules.size(), 1u);
        QVERIFY(rules[0].kind == SkipKind::Block);
        QCOMPARE(rules[0].like, std::string("/blocks/1"));
        QVERIFY(document()->layer(node("/blocks/3/Add"))->state == LayerState::Skipped);
        QVERIFY(document()->layer(node("/stem/Conv"))->state == LayerState::Quantized);
    }

    void withoutScopesTheStructureDefinesBlocks() {
        const auto path = test::writeModel(
            m_folder,
            QStringLiteral(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[1,2] x) => (float[1,2] y) "
                "{ a = Relu(x) b = Sigmoid(a) c = Mul(a, b) d = Add(a, c) e = Sigmoid(d) f = Mul(d, e) "
                "g = Add(d, f) y = Relu(g) }"),
            QStringLiteral("shape.onnx"));
        QVERIFY(test::openAndWait(*document(), path));
        QVERIFY(QTest::qWaitFor(
            [&] { return canvas()->picture() && canvas()->picture()->nodes.size() == 10; }, 20000));
        click("Mul_2");
        QMenu* menu = m_window->findChild<GraphGestures*>()->blockMenu();
        m_window->findChild<GraphGestures*>()->popUpBlocks();
        QVERIFY(QTest::qWaitFor([&] { return menu->isVisible(); }, 5000));
        QAction* block = menu->actions().back();
        QVERIFY2(block->text().contains("and 1 more with the same structure (6 nodes)"),
                 qPrintable(block->text()));
        menu->setActiveAction(block);
        QCOMPARE(previewed(), (QStringList{"Add_3", "Add_6", "Mul_2", "Mul_5", "Sigmoid_1", "Sigmoid_4"}));
        QTest::keyClick(menu, Qt::Key_Escape);
        QVERIFY(previewed().isEmpty());
        QVERIFY(document()->config().rules.empty());
    }

    void keyBPreviewsTheBlocks() {
        click("/blocks/1/act/Relu");
        QTest::keyClick(m_window.get(), Qt::Key_B);
        QVERIFY(QTest::qWaitFor(
            [&] { return m_window->findChild<GraphGestures*>()->blockMenu()->isVisible(); }, 5000));
        QVERIFY(m_window->findChild<GraphGestures*>()->blockMenu()->actions().size() >= 2);
        m_window->findChild<GraphGestures*>()->blockMenu()->close();
    }

    void keysPreviewBeforeApplying_data() {
        QTest::addColumn<Qt::Key>("key");
        QTest::addColumn<Qt::Key>("confirmed");
        QTest::addColumn<QStringList>("covered");
        const QStringList downstream{"/blocks/3/Add", "/blocks/3/act/Relu", "/blocks/3/conv/Conv",
                                     "/head/Conv"};
        const QStringList convolutions{"/blocks/0/conv/Conv", "/blocks/1/conv/Conv", "/blocks/2/conv/Conv",
                                       "/blocks/3/conv/Conv", "/head/Conv",          "/stem/Conv"};
        QTest::newRow("D twice") << Qt::Key_D << Qt::Key_D << downstream;
        QTest::newRow("D, Enter") << Qt::Key_D << Qt::Key_Return << downstream;
        QTest::newRow("T twice") << Qt::Key_T << Qt::Key_T << convolutions;
        QTest::newRow("T, Enter") << Qt::Key_T << Qt::Key_Return << convolutions;
    }
    void keysPreviewBeforeApplying() {
        QFETCH(Qt::Key, key);
        QFETCH(Qt::Key, confirmed);
        QFETCH(QStringList, covered);
        click("/blocks/3/conv/Conv");
        const auto& rules = document()->config().rules;
        QTest::keyClick(canvas(), key);
        QCOMPARE(previewed(), covered);
        QVERIFY(rules.empty());
        QVERIFY2(m_window->graphView()->bannerText().contains("Enter"),
                 qPrintable(m_window->graphView()->bannerText()));
        QTest::keyClick(canvas(), Qt::Key_Escape);
        QVERIFY(previewed().isEmpty() && rules.empty());
        QTest::keyClick(canvas(), key);
        click("/blocks/2/conv/Conv");  // another selection cancels it
        QVERIFY(previewed().isEmpty() && rules.empty());
        click("/blocks/3/conv/Conv");
        QTest::keyClick(canvas(), key);
        QTest::keyClick(canvas(), confirmed);
        QCOMPARE(rules.size(), 1u);
        QVERIFY(previewed().isEmpty());
        QCOMPARE(document()->undoStack()->count(), 1);
    }

    /// Hovering has shown the preview.
    void menuChoiceIsAppliedImmediately() {
        click("/blocks/3/conv/Conv");
        for (QAction* top : m_window->menuBar()->actions()) {
            if (top->text() != QLatin1String("&Layers")) continue;
            QMenu* menu = top->menu();
            menu->popup(m_window->mapToGlobal(QPoint(200, 200)));
            QVERIFY(QTest::qWaitFor([&] { return menu->isVisible(); }, 5000));
            for (QAction* action : menu->actions())
                if (action->text().startsWith(QLatin1String("Skip All &Downstream")))
                    QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
        }
        QCOMPARE(document()->config().rules.size(), 1u);
        QVERIFY(previewed().isEmpty());
    }

    void movingThresholdShowsTheNumberOfLayers() {
        ThresholdBar* bar = m_window->graphView()->thresholdBar();
        QTest::keyClick(m_window.get(), Qt::Key_H);
        QVERIFY(bar->isVisible());
        chooseMetric(bar, "QS weight");         // needs no data
        QCOMPARE(bar->slider()->maximum(), 6);  // layers with a weight
        for (int wanted = 0; wanted <= 6; ++wanted) {
            bar->slider()->setValue(wanted);
            const std::vector<std::string> beyond = layersBeyond(bar->rule(), document()->layers());
            QCOMPARE(static_cast<int>(beyond.size()), wanted);  // no two weights are equally bad
            QCOMPARE(previewed().size(), wanted);
            QVERIFY2(bar->countText().startsWith(QString("%1 of 6 layers").arg(wanted)),
                     qPrintable(bar->countText()));
        }
        // The expected effect has its own row, in which it is not truncated.
        QVERIFY(!bar->effect()->isVisible());
        bar->setForecast(QStringLiteral("expected \u221213.25 points (\u221214.50 to +12.25)"));
        QVERIFY(QTest::qWaitFor([&] { return bar->effect()->isVisible(); }, 5000));
        QVERIFY(QTest::qWaitFor([&] { return bar->height() >= bar->sizeHint().height(); }, 5000));
        QVERIFY(bar->effect()->text().startsWith(QStringLiteral("expected")));
        QCOMPARE(bar->effect()->text(), bar->effect()->fullText());
        // Typed by hand.
        std::vector<double> values;
        for (const LayerResult& layer : document()->layers())
            if (layer.weight) values.push_back(layer.weight->qs);
        std::ranges::sort(values);
        bar->valueBox()->setFocus();
        bar->valueBox()->setValue((values[3] + values[4]) / 2);
        QCOMPARE(previewed().size(), 2);
        QTest::keyClick(bar->valueBox(), Qt::Key_Return);
        QVERIFY(!bar->isVisible());
        QCOMPARE(document()->config().rules.size(), 1u);
        QVERIFY(document()->config().rules[0].kind == SkipKind::Threshold);
        QVERIFY(QTest::qWaitFor([&] { return !document()->job()->busy(); }, 20000));
        for (const LayerResult& layer : document()->layers())
            if (layer.weight && layer.quantizable)
                QCOMPARE(
                    layer.state == LayerState::Skipped,
                    // the tail
                    layer.weight->qs > document()->config().rules[0].threshold || layer.name == "/head/Conv");
    }

    void escapeClosesTheThreshold() {
        QTest::keyClick(m_window.get(), Qt::Key_H);
        ThresholdBar* bar = m_window->graphView()->thresholdBar();
        chooseMetric(bar, "QS weight");
        bar->slider()->setValue(3);
        QCOMPARE(previewed().size(), 3);
        QTest::keyClick(bar->valueBox(), Qt::Key_Escape);
        QVERIFY(!bar->isVisible());
        QVERIFY(previewed().isEmpty());
        QVERIFY(document()->config().rules.empty());
        QVERIFY(canvas()->hasFocus());
    }

  private:
    void hover(const QString& name) {
        const QPointF at = middleOf(name);
        QMouseEvent move(QEvent::MouseMove, at, canvas()->mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(canvas(), &move);
    }
    void chooseMetric(ThresholdBar* bar, const char* name) {
        bar->metricBox()->setFocus();
        const int index = bar->metricBox()->findText(QString::fromLatin1(name));
        QVERIFY(index >= 0);
        bar->metricBox()->setCurrentIndex(index);
        Q_EMIT bar->metricBox()->activated(index);
    }
    QStringList previewed() const {
        std::vector<NodeId> nodes;
        for (std::size_t i = 0; i < canvas()->previewed().size(); ++i)
            if (canvas()->previewed()[i]) nodes.push_back(NodeId(i));
        return names(nodes);
    }
};

QTEST_MAIN(GesturesTest)
#include "gestures_test.moc"
