// SPDX-License-Identifier: Apache-2.0
// The search for precisions, by mouse and keyboard, on the network of color_data.h: with its Gemm in float or
// at 8 bits all predictions are right.
#include "panels/tune_finder.h"

#include <QApplication>
#include <QHeaderView>
#include <QMouseEvent>
#include <QSettings>

#include "base/atomic_file.h"
#include "color_document.h"
#include "commands/layer_edits.h"
#include "data/numpy_file.h"
#include "document/metric.h"
#include "models/tune_words.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class TuneFinderTest : public QObject, private test::ColorDocument {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeImages(); }
    void init() {
        QVERIFY(openDocument());
        m_section = std::make_unique<TuneFinder>(m_document.get());
        m_section->resize(400, 900);
        m_section->show();
        QVERIFY(QTest::qWaitForWindowActive(m_section.get()));
    }
    void cleanup() {
        m_section.reset();
        m_document.reset();
    }

    void applyingAPointIsOneUndoStep() {
        const QuantizationConfig before = m_document->config();
        const int steps = m_document->undoStack()->count();
        find();
        const TuneResult found = *finder()->found();
        QVERIFY(found.reached);
        QCOMPARE(found.curve.size(), std::size_t(2));
        QCOMPARE(found.curve[1].layers, std::vector<std::string>{"Gemm_4"});
        QVERIFY(m_document->config() == before);  // nothing is applied automatically
        QCOMPARE(table()->rowCount(), 2);
        QCOMPARE(table()->currentRow(), 1);
        QCOMPARE(table()->item(1, 2)->text(), formatRate(1));
        QVERIFY(table()->item(1, 0)->toolTip().contains(QStringLiteral("Gemm_4")));
        QVERIFY(says(QStringLiteral("Reached: 0.00 points below float with 1 layer in float")));

        table()->setFocus();
        QTest::keyClick(table(), Qt::Key_Return);
        QVERIFY(m_document->config() == found.curve[1].config);
        QCOMPARE(m_document->undoStack()->count(), steps + 1);
        QCOMPARE(m_document->undoStack()->undoText(), QStringLiteral("Search: precision of 1 layer"));
        QVERIFY(evaluated());
        QCOMPARE(m_document->evaluation()->quantized->top1.value_or(-1), 1.0);
        QVERIFY(!button(QStringLiteral("Apply"))->isEnabled());  // it is already the current configuration

        // Another point of the same search, by a click in the plot: the first, where the search started.
        auto* plot = finder()->findChild<TradeOffPlot*>();
        QTest::mouseClick(plot, Qt::LeftButton, {}, plot->placeOf(0).toPoint());
        QVERIFY(m_document->config() == before);
        QCOMPARE(m_document->undoStack()->count(), steps + 2);
        QVERIFY(evaluated());
        m_document->undoStack()->undo();
        m_document->undoStack()->undo();
        QVERIFY(m_document->config() == before);
    }

    /// It would slow the search down. The pause keeps both waiting.
    void backgroundWorkWaitsForTheSearch() {
        const auto idleWork = [this] {
            return std::ranges::any_of(m_document->job()->queue(), [](const QueuedWork& work) {
                return work.kind == QueuedWork::Kind::Background;
            });
        };
        m_document->job()->setPaused(true);
        m_document->setBackgroundEvaluation(true);
        QVERIFY(QTest::qWaitFor(idleWork, 20000));
        QTest::mouseClick(button(QStringLiteral("Search")), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return !idleWork(); }, 20000));
        QTest::qWait(1000);  // longer than the document waits for idle time
        QVERIFY(finder()->finding() && !idleWork());
        m_document->job()->setPaused(false);
        QVERIFY(QTest::qWaitFor([&] { return !finder()->finding(); }, 60000));
        m_document->setBackgroundEvaluation(false);
    }

    void buttonAppliesAPoint() {
        find();
        QTest::mouseClick(button(QStringLiteral("Apply")), Qt::LeftButton);
        QVERIFY(m_document->config() == finder()->found()->curve[1].config);
    }

    void limitAndCostAreUsed() {
        auto* field = finder()->findChild<NumberField*>();
        enter("much");
        QVERIFY(!field->complaint().isEmpty());
        QTest::keyClick(field, Qt::Key_Escape);
        QVERIFY(field->complaint().isEmpty());
        enter("50");
        chooseCost(TuneCost::Layers);
        find();
        QCOMPARE(finder()->found()->maxDrop, 0.5);
        QCOMPARE(finder()->found()->cost, TuneCost::Layers);
        QVERIFY(finder()->found()->reached);
        QCOMPARE(finder()->found()->chosen, std::size_t(0));
    }

    /// As on the command line: MACs, with several precisions bytes, with a profile milliseconds.
    void defaultCostFollowsThePrecisions() {
        const auto shown = [this] { return finder()->findChild<ChoiceBox*>()->currentText(); };
        QCOMPARE(shown(), costTitle(CostKind::Macs));
        QTest::mouseClick(button(QStringLiteral("W8A8")), Qt::LeftButton);
        QCOMPARE(shown(), costTitle(CostKind::Bytes));
        QTest::mouseClick(button(QStringLiteral("W8A8")), Qt::LeftButton);
        QCOMPARE(shown(), costTitle(CostKind::Macs));
        LatencyFile file;
        file.rows = {{"Conv_0", Precision::integer(4, 8), 2}, {"Gemm_4", Precision::integer(4, 8), 1}};
        m_document->latency().add({file, std::nullopt, "a.csv"});
        QVERIFY(QTest::qWaitFor([&] { return m_document->latency().table() != nullptr; }, 20000));
        QCOMPARE(shown(), costTitle(CostKind::Milliseconds));
        // A choice of the user stays.
        chooseCost(CostKind::Layers);
        QTest::mouseClick(button(QStringLiteral("W8A8")), Qt::LeftButton);
        QCOMPARE(shown(), costTitle(CostKind::Layers));
    }

    /// The session of the document answers while the search runs in its own.
    void searchContinuesDuringEdits() {
        start();
        QVERIFY(finder()->finding());
        QSignalSpy finished(m_document.get(), &Document::evaluationFinished);
        QVERIFY(m_document->edit(skipLayers(m_document->config(), {"Conv_0"})));
        QVERIFY(finder()->finding());
        QVERIFY(evaluated());
        QCOMPARE(finished.size(), 1);
        QVERIFY(QTest::qWaitFor([&] { return !finder()->finding(); }, 30000));
        QVERIFY(finder()->found()->reached);
        // The results are of the configuration before the edit, and applying one would replace the edit.
        QVERIFY(says(QStringLiteral("Found for an earlier configuration")));
        QVERIFY(table()->isEnabled());
        const QuantizationConfig edited = m_document->config();
        finder()->take(finder()->found()->curve[1]);
        QVERIFY(m_document->config() == finder()->found()->curve[1].config);
        m_document->undoStack()->undo();
        QVERIFY(m_document->config() == edited);
    }

    void cancellingAnEvaluationDoesNotEndTheSearch() {
        start();
        m_document->cancel();
        QVERIFY(finder()->finding());
        QVERIFY(QTest::qWaitFor([&] { return !finder()->finding(); }, 30000));
        QVERIFY(finder()->found());
    }

    void otherDataEndsTheSearch() {
        start();
        m_document->openData(m_data);
        QVERIFY(QTest::qWaitFor([&] { return !finder()->finding(); }, 30000));
        QVERIFY(evaluated());
        QVERIFY(!finder()->found());
    }

    void keepsItsResultsWhenStopped() {
        start();
        QVERIFY(QTest::qWaitFor([&] { return finder()->found().has_value(); }, 30000));
        if (finder()->finding()) QTest::mouseClick(button(QStringLiteral("Stop")), Qt::LeftButton);
        QVERIFY(!finder()->finding());
        QVERIFY(finder()->found().has_value());
    }

    /// Another search of the same model and data reuses what was evaluated.
    void aLaterSearchResumes() {
        find();
        QCOMPARE(finder()->found()->reused, std::size_t(0));
        find();
        QVERIFY(finder()->found()->reused > 0);
        QVERIFY(finder()->found()->reached);
    }

    void precisionsAreChosen() {
        chooseCost(TuneCost::Bytes);
        for (const char* name : {"float32", "W8A8", "W4A8"})
            QTest::mouseClick(button(QLatin1String(name)), Qt::LeftButton);
        find();
        const TuneResult& found = *finder()->found();
        QVERIFY(found.reached);
        const TunePoint& best = found.curve[found.chosen];
        QVERIFY(best.layers.empty());  // none in float
        const auto of = [&](const char* layer) {
            return std::ranges::find(best.precisions, layer, &std::pair<std::string, Precision>::first)
                ->second;
        };
        QVERIFY(of("Gemm_4") == Precision::integer(8, 8));
        QVERIFY(of("Conv_0") == Precision::integer(4, 8));
        QVERIFY(table()->item(int(found.chosen), 1)->text().endsWith(QLatin1Char('B')));
        QVERIFY(table()->item(int(found.chosen), 1)->toolTip().contains(QStringLiteral("w8a8: ")));
        QVERIFY(plot()->points().front().cost < plot()->points().back().cost);
        QCOMPARE(plot()->points().front().cost, found.curve.front().amount);
    }

    void aBudgetIsKeptAndDragged() {
        chooseCost(TuneCost::Layers);
        QTest::mouseClick(button(QStringLiteral("budget")), Qt::LeftButton);
        button(QStringLiteral("Search"))->click();
        QVERIFY(!finder()->finding());  // it needs a number first
        QVERIFY(says(QStringLiteral("Enter the largest cost")));
        enter("2");
        find();
        QCOMPARE(finder()->found()->budget, std::optional(2.0));
        QCOMPARE(finder()->found()->chosen, std::size_t(1));
        QVERIFY(plot()->limit() && plot()->limit()->line == Qt::Vertical);
        // Dragged to the left end, only the choice without float layers is left.
        const QPointF line = plot()->placeAt(2, plot()->points().front().value) + QPointF(0, -12),
                      left = plot()->placeOf(0) + QPointF(0, -12);
        QTest::mousePress(plot(), Qt::LeftButton, {}, line.toPoint());
        QTest::mouseMove(plot(), left.toPoint());
        QTest::mouseRelease(plot(), Qt::LeftButton, {}, left.toPoint());
        QVERIFY(*finder()->found()->budget < 1);
        QCOMPARE(finder()->found()->chosen, std::size_t(0));
        QCOMPARE(table()->currentRow(), 0);
        QVERIFY(m_document->undoStack()->count() == m_document->undoStack()->index());
    }

    void pointUnderTheMouseIsReported() {
        find();
        std::vector<std::string> seen;
        connect(finder(), &TuneFinder::pointed, this, [&](const TunePoint* point) {
            seen.push_back(!point ? "none" : point->layers.empty() ? "no layer" : point->layers.front());
        });
        for (const QPointF at : {plot()->placeOf(1), QPointF(plot()->width() / 2.0, 2)}) {
            QMouseEvent move(QEvent::MouseMove, at, plot()->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                             Qt::NoModifier);
            QApplication::sendEvent(plot(), &move);
        }
        QString told;
        for (const std::string& one : seen) told += QString::fromStdString(one) + QLatin1Char(' ');
        QCOMPARE(told, QStringLiteral("Gemm_4 none "));
        QVERIFY2(plot()->points()[1].toolTip.contains(QStringLiteral("float32: Gemm_4")),
                 qPrintable(plot()->points()[1].toolTip));
    }

    void twoFrontsAreCompared() {
        find();
        const TuneResult first = *finder()->found();
        QTest::mouseClick(button(QStringLiteral("Keep to Compare")), Qt::LeftButton);
        QVERIFY(m_document->edit(skipLayers(m_document->config(), {"Conv_0"})));
        QVERIFY(evaluated());
        find();
        QCOMPARE(plot()->other().size(), first.curve.size());
        QVERIFY(plot()->points().size() >= 1);
        // A click on the kept front applies its configuration.
        const TradeOffPoint& point = plot()->other().back();
        QTest::mouseClick(plot(), Qt::LeftButton, {}, plot()->placeAt(point.cost, point.value).toPoint());
        QVERIFY(m_document->config() == first.curve.back().config ||
                m_document->config() == finder()->found()->curve.back().config);
        // Another cost has other axes.
        chooseCost(TuneCost::Bytes);
        QVERIFY(evaluated());
        find();
        QVERIFY(plot()->other().empty());
        QVERIFY(says(QStringLiteral("The kept curve")) ||
                labelTexts().contains(QStringLiteral("The kept curve")));
        QTest::mouseClick(button(QStringLiteral("Remove the Kept Curve")), Qt::LeftButton);
        QVERIFY(!finder()->kept());
    }

    void millisecondsNeedAProfile() {
        chooseCost(TuneCost::Milliseconds);
        button(QStringLiteral("Search"))->click();
        QVERIFY(!finder()->finding());
        QVERIFY(says(QStringLiteral("Milliseconds need a latency profile")));
        LatencyFile file;
        file.rows = {{"Conv_0", Precision::integer(4, 8), 2},
                     {"Gemm_4", Precision::integer(4, 8), 1},
                     {"Conv_0", Precision::float32(), 4},
                     {"Gemm_4", Precision::float32(), 3}};
        m_document->latency().add({file, std::nullopt, "a.csv"});
        QVERIFY(QTest::qWaitFor([&] { return m_document->latency().table() != nullptr; }, 20000));
        find();
        QCOMPARE(finder()->found()->cost, TuneCost::Milliseconds);
        QVERIFY(table()->item(0, 1)->text().endsWith(QStringLiteral("ms")));
    }

    void similarAmountsHaveDifferentTexts() {
        QCOMPARE(digitsToTellApart(CostKind::Bytes, {1.1e6, 2.2e6, 2.2e6}), 0);
        const std::vector<double> close{1'112'340, 1'112'900, 1'140'000};
        const int digits = digitsToTellApart(CostKind::Bytes, close);
        QCOMPARE(amountText(CostKind::Bytes, close[0], digits), QStringLiteral("1.112 MB"));
        QCOMPARE(amountText(CostKind::Bytes, close[1], digits), QStringLiteral("1.113 MB"));
    }

    void amountsAreParsed() {
        QCOMPARE(parseAmount("12.5"), std::optional(12.5));
        QCOMPARE(parseAmount(" 300 k"), std::optional(300e3));
        QCOMPARE(parseAmount("1.5M"), std::optional(1.5e6));
        QCOMPARE(parseAmount("2 GB"), std::optional(2e9));
        QCOMPARE(parseAmount("4,310"), std::optional(4310.0));
        for (const char* wrong : {"", "fast", "-1", "1 X", "1..2", "12,5", "1,5 k"})
            QVERIFY2(!parseAmount(QLatin1String(wrong)), wrong);
        QCOMPARE(amountText(CostKind::Milliseconds, 1500), QStringLiteral("1500 ms"));
        for (const double amount : {12.4, 300e3, 1.5e6})
            QCOMPARE(parseAmount(amountText(CostKind::Macs, amount)), std::optional(std::round(amount)));
    }

    void withoutDataItGivesAReason() {
        Document bare;
        QVERIFY(test::openAndWait(bare, test::writeModel(m_folder)));
        TuneFinder section(&bare);
        section.show();
        for (auto* one : section.findChildren<QPushButton*>())
            if (one->text() == QStringLiteral("Search")) {
                QVERIFY(!one->isEnabled());
                QVERIFY(one->toolTip().contains(QStringLiteral("Needs data")));
            }
    }

    /// With 1000 evaluation samples, a third of them does not take part in the search but checks its result.
    void resultIsCheckedOnHeldOutSamples() {
        constexpr std::int64_t kSamples = 2000;  // half of them calibrate
        std::vector<float> images;
        std::vector<std::int64_t> labels;
        for (std::int64_t i = 0; i < kSamples; ++i) {
            labels.push_back(i % 2);
            const float color[] = {0, i % 2 == 0 ? 0.5f : 0.0f, i % 2 == 0 ? 0.0f : 0.5f};
            for (const float channel : color) images.insert(images.end(), 16, channel);
        }
        const std::string file = m_folder.filePath("many.npz").toStdString();
        saveNpz({{"X", Constant::fromFloats({kSamples, 3, 4, 4}, images)},
                 {"labels", Constant::fromInt64s({kSamples}, labels)}},
                file);
        QVERIFY(test::openColors(*m_document, m_folder, file));
        find();
        const TuneResult found = *finder()->found();
        QCOMPARE(found.samples, std::size_t(667));
        QVERIFY(found.heldOut);
        QCOMPARE(found.heldOut->samples, std::size_t(333));
        QCOMPARE(found.heldOut->drop, 0.0);
        QVERIFY(
            labelTexts().contains(QStringLiteral("on 333 samples that the search did not use: 0.00 points")));
    }

  private:
    TuneFinder* finder() { return m_section.get(); }
    TradeOffPlot* plot() { return finder()->findChild<TradeOffPlot*>(); }
    void enter(const char* text) {
        auto* field = finder()->findChild<NumberField*>();
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, QString::fromLatin1(text));
        QTest::keyClick(field, Qt::Key_Return);
    }
    void chooseCost(TuneCost cost) {
        auto* box = finder()->findChild<ChoiceBox*>();
        const int index = int(std::ranges::find(costKinds(), cost) - costKinds().begin());
        box->setCurrentIndex(index);
        Q_EMIT box->activated(index);
    }
    QString labelTexts() {
        QStringList texts;
        for (const auto* label : finder()->findChildren<QLabel*>()) texts << label->text();
        return texts.join(QLatin1Char('|'));
    }
    QTableWidget* table() { return finder()->findChild<QTableWidget*>(); }
    QPushButton* button(const QString& text) {
        for (auto* one : finder()->findChildren<QPushButton*>())
            if (one->text() == text) return one;
        return nullptr;
    }
    bool says(const QString& text) {
        for (const auto* label : finder()->findChildren<QLabel*>())
            if (label->isVisible() && label->text().startsWith(text)) return true;
        return false;
    }
    void start() {
        auto* begin = button(QStringLiteral("Search"));
        begin->setFocus();
        QTest::keyClick(begin, Qt::Key_Space);
    }
    void find() {
        start();
        QVERIFY(finder()->finding());
        QVERIFY(QTest::qWaitFor([&] { return !finder()->finding(); }, 30000));
        QVERIFY(finder()->found());
    }

    std::unique_ptr<TuneFinder> m_section;
};

QTEST_MAIN(TuneFinderTest)
#include "tune_finder_test.moc"
