// SPDX-License-Identifier: Apache-2.0
// Results in the window: accuracy loss by step, images whose predicted class changed and the layers where
// they diverge, comparisons, suggestions, and warnings about preprocessing. The network's numbers
// are derived in color_data.h.
#include <QApplication>
#include <QSettings>

#include "color_data.h"
#include "commands/layer_edits.h"
#include "dialogs/metric_program_dialog.h"
#include "dialogs/preprocess_dialog.h"
#include "dialogs/task_dialog.h"
#include "models/config_difference.h"
#include "models/headline.h"
#include "models/layer_filter.h"
#include "panels/accuracy_path_panel.h"
#include "panels/classes_panel.h"
#include "panels/data_section.h"
#include "panels/flipped_panel.h"
#include "panels/history_panel.h"
#include "panels/range_view.h"
#include "panels/suggestion_section.h"
#include "panels/summary_bar.h"
#include "widgets/aligned_rows.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

Accuracy accuracyOn(std::size_t samples) {
    Accuracy accuracy;
    accuracy.samples = samples;
    return accuracy;
}

}  // namespace

class ResultsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        test::keepSettingsIn(m_folder);
        m_data = test::writeColors(m_folder);
    }
    void init() {
        m_document = std::make_unique<Document>();
        QVERIFY(test::openColors(*m_document, m_folder, m_data));
        QCOMPARE(m_document->evaluation()->floating->top1.value_or(-1), 1.0);
        QCOMPARE(m_document->evaluation()->quantized->top1.value_or(-1), 0.5);
    }
    void cleanup() { m_document.reset(); }

    void theWaterfallEndsWhereTheNetworkIs() {
        AccuracyPathPanel panel(m_document.get());
        panel.resize(700, 300);
        panel.show();
        QVERIFY(waitFor([&] { return panel.answered(); }));
        const auto& steps = panel.waterfall()->steps();
        QVERIFY(steps.size() >= 3);
        QCOMPARE(steps.front().value, 1.0);
        QCOMPARE(steps.back().value, 0.5);
        // Only the step that quantizes the weights loses half the accuracy.
        const auto weights = std::ranges::find_if(
            steps, [](const WaterfallStep& s) { return s.name.contains(QStringLiteral("eights")); });
        QVERIFY(weights != steps.end());
        QCOMPARE(weights->changeText, QStringLiteral("\u221250.0"));
        QVERIFY(!panel.stale());
        m_document->setHeld(true);
        m_document->edit(skipType(m_document->config(), "Gemm"));
        QVERIFY(panel.stale());
        QCOMPARE(panel.waterfall()->steps().back().value, 0.5);  // stays until there is a new one
        m_document->setHeld(false);
        QVERIFY(waitFor([&] { return !panel.stale(); }));
        QCOMPARE(panel.waterfall()->steps().back().value, 1.0);
    }

    void waterfallOfDecibelsPassesOverWhatIsExact() {
        std::vector<AccuracyStep> path(3);
        path[0] = {"float", {}};
        path[1] = {"folded", {}};
        path[1].accuracy.sqnrDb = 40;
        path[2] = {"weights quantized", {}};
        path[2].accuracy.sqnrDb = 25;
        const auto steps = waterfallSteps(path);
        QCOMPARE(steps.size(), std::size_t(2));
        QCOMPARE(steps[1].changeText, QStringLiteral("\u221215.0"));
        QVERIFY(costliestStep(path).contains(QStringLiteral("dB")));
    }

    /// All images are classified as green.
    void theConfusionMatrixNamesItsClassesAndTheTableIsNotCut() {
        ClassesPanel panel(m_document.get());
        panel.resize(740, 260);
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        QTableWidget* table = panel.table();
        QCOMPARE(table->item(0, 0)->text(), QStringLiteral("b_blue"));
        int width = 0;
        for (int column = 0; column < table->columnCount(); ++column) width += table->columnWidth(column);
        QVERIFY2(width <= table->viewport()->width(), qPrintable(QString::number(width)));
        for (int column = 0; column < table->columnCount(); ++column)
            QVERIFY2(table->columnWidth(column) >=
                         static_cast<QAbstractItemView*>(table)->sizeHintForColumn(column),
                     qPrintable(table->horizontalHeaderItem(column)->text()));

        ConfusionView* matrix = panel.confusion();
        const int side = matrix->fontMetrics().height() * 7 / 5, names = matrix->width() - 1 - 2 * side;
        QVERIFY(names >= matrix->fontMetrics().horizontalAdvance(QStringLiteral("b_blue")) * 3 / 4);
        const QImage image = matrix->grab().toImage();
        const auto drawn = [&](const QRect& area) {
            for (int y = area.top(); y < area.bottom(); ++y)
                for (int x = area.left(); x < area.right(); ++x)
                    if (image.pixel(x, y) != image.pixel(0, 0)) return true;
            return false;
        };
        QVERIFY(drawn({0, names, names - 2, side}));         // of the first row
        QVERIFY(drawn({names + side, 0, side, names - 2}));  // of the second column
        QSignalSpy clicked(matrix, &ConfusionView::cellClicked);
        QTest::mouseClick(matrix, Qt::LeftButton, {}, QPoint(names / 2, names / 2));
        QVERIFY(clicked.empty());
        QTest::mouseClick(matrix, Qt::LeftButton, {}, QPoint(names + side / 2, names + side * 3 / 2));
        QCOMPARE(clicked.size(), 1);
        QCOMPARE(clicked[0], (QList<QVariant>{1, 0}));  // blue as green
    }

    void rowsOfDialogsAreOneGrid() {
        TaskDialog labels(*m_document);
        MetricProgramDialog program(*m_document);
        for (QDialog* dialog : {static_cast<QDialog*>(&labels), static_cast<QDialog*>(&program)}) {
            dialog->show();
            QVERIFY(QTest::qWaitForWindowExposed(dialog));
            const auto names = dialog->findChildren<QLabel*>(kRowLabel);
            QVERIFY(names.size() >= 2);
            for (const QLabel* name : names) QCOMPARE(name->width(), names.front()->width());
        }
    }

    void flippedImagesAreTheBlueOnesAndTellWhere() {
        FlippedPanel panel(m_document.get());
        panel.resize(900, 300);
        panel.show();
        QVERIFY(waitFor([&] { return panel.answered(); }));
        auto* model = panel.view()->model();
        const auto blue = m_document->evaluation()->quantized->samples / 2;
        QCOMPARE(model->rowCount(), static_cast<int>(blue));
        for (int i = 0; i < model->rowCount(); ++i) {
            QVERIFY(model->index(i, 0)
                        .data(FlippedModel::SampleRole)
                        .toString()
                        .startsWith(QStringLiteral("b_blue/")));
            QCOMPARE(model->index(i, 0).data().toString(), QStringLiteral("b_blue \u2192 a_green"));
        }
        // The images have the whole width until one is clicked.
        QCOMPARE(panel.view()->width(), panel.width());
        // The thumbnail loads later, and it is blue.
        QVERIFY(
            waitFor([&] { return !model->index(0, 0).data(Qt::DecorationRole).value<QPixmap>().isNull(); }));
        const QColor pixel =
            model->index(0, 0).data(Qt::DecorationRole).value<QPixmap>().toImage().pixelColor(1, 1);
        QVERIFY(pixel.blue() > 100 && pixel.green() == 0);
        QTest::mouseClick(panel.view()->viewport(), Qt::LeftButton, {},
                          panel.view()->visualRect(model->index(0, 0)).center());
        QVERIFY(waitFor([&] { return panel.divergence().has_value(); }));
        QVERIFY(panel.view()->width() < panel.width());
        QCOMPARE(panel.divergence()->sample.name,
                 model->index(0, 0).data(FlippedModel::SampleRole).toString().toStdString());
    }

    void theComparisonOfTwoConfigurationsIsDescribed() {
        QuantizationConfig finer = m_document->config();
        finer.quantization.weight.bits = 8;
        m_document->edit({finer, QStringLiteral("Finer"), {}});
        QVERIFY(waitFor(
            [&] { return m_document->history().entries().size() == 3 && !m_document->job()->busy(); }));
        HistoryPanel panel(m_document.get());
        panel.resize(420, 900);
        panel.show();
        const QuantizationConfig before = m_document->config();
        QTableView* view = panel.view();
        const auto click = [&](int row, Qt::KeyboardModifiers keys) {
            QTest::mouseClick(view->viewport(), Qt::LeftButton, keys,
                              view->visualRect(view->model()->index(row, 0)).center());
        };
        click(1, Qt::ControlModifier);
        click(0, Qt::ControlModifier);
        QVERIFY(m_document->config() == before);  // gathering goes nowhere
        const auto half = m_document->evaluation()->quantized->samples / 2;
        QVERIFY(waitFor([&] { return panel.comparison().contains(QStringLiteral("fixed")); }));
        QVERIFY2(panel.comparison().contains(QStringLiteral("+50.0 points, %1 images fixed").arg(half)),
                 qPrintable(panel.comparison()));
        bool told = false;
        for (const QLabel* label : panel.findChildren<QLabel*>())
            told = told || label->text() == QStringLiteral("weight bits: 4 \u2192 8");
        QVERIFY(told);
        click(1, {});
        QCOMPARE(m_document->config().quantization.weight.bits, 4);  // a plain click does go back
    }

    void differencesAreDescribed() {
        QuantizationConfig a = m_document->config(), b = a;
        QVERIFY(configDifference(a, a).isEmpty());
        b.quantization.weight.perChannel = true;
        b.refine.rounding = Rounding::Adaround;
        b.layers["Gemm_4"].weightBits = 8;
        b.layers["Gemm_4"].comment = "no matter";
        b = skipLayers(b, {"Conv_0"}).next;
        const QStringList lines = configDifference(a, b);
        QVERIFY2(lines.contains(QStringLiteral("weight per channel: off \u2192 on")),
                 qPrintable(lines.join(QLatin1Char('|'))));
        QVERIFY(lines.contains(QStringLiteral("rounding: nearest \u2192 adaround")));
        QVERIFY(lines.contains(QStringLiteral("Gemm_4: network settings \u2192 8-bit weights")));
        QVERIFY(lines.filter(QStringLiteral("now in float")).size() == 1);
        QCOMPARE(lines.size(), 4);
        QCOMPARE(configDifference(b, a).size(), 4);
    }

    void namesAndNotesAreKeptInTheProject() {
        m_document->describeMeasured(0, QStringLiteral(" first try "), QStringLiteral("too coarse"));
        const std::filesystem::path file = m_folder.filePath(QStringLiteral("p.quantloupe")).toStdString();
        QVERIFY(m_document->saveProject(file));
        const Project project = loadProject(file);
        QCOMPARE(project.history[0].name, std::string("first try"));
        QCOMPARE(project.history[0].note, std::string("too coarse"));
        QVERIFY(project.history[0].cost.has_value());
        QVERIFY(project.history[0].cost == m_document->history().entries()[0].cost);
        // 16 pixels x 9 weights and 6 more.
        QCOMPARE(project.history[0].cost->totalMacs, std::uint64_t(16 * 9 + 6));
        QCOMPARE(project.history[0].cost->totalBytes, std::uint64_t(4 * (9 + 6)));
    }

    void theBaselineStandsBesideTheNumbers() {
        m_document->pinBaseline(1);
        SummaryBar bar(m_document.get());
        bar.show();
        m_document->edit(skipType(m_document->config(), "Gemm"));
        QVERIFY(waitFor([&] { return !m_document->evaluating(); }));
        bool told = false;
        for (const QLabel* label : bar.findChildren<QLabel*>())
            told = told || label->text() == QStringLiteral("+50.0 vs. \u2691");
        QVERIFY(told);
        QVERIFY(m_document->reference().baselineLayer(NodeId(0)) != nullptr);
    }

    void numbersThatJudgeNothingAreNeutral() {
        Evaluation evaluation;
        evaluation.quantized = Accuracy{};
        evaluation.quantized->samples = 2;
        evaluation.quantized->agreement = 1;
        evaluation.quantized->sqnrDb = INFINITY;
        Headline line = headlineOf(&evaluation, true);
        QVERIFY(line.neutral);
        QVERIFY2(line.note.startsWith(QStringLiteral("Nothing is quantized")) &&
                     line.note.contains(QStringLiteral("2 samples")),
                 qPrintable(line.note));
        QVERIFY(!line.value.contains(QStringLiteral("100")));

        evaluation.counts.quantized = 1;
        evaluation.quantized->sqnrDb = 31.5;
        line = headlineOf(&evaluation, true);
        QVERIFY(line.neutral);
        QVERIFY2(line.value.contains(QStringLiteral("31.5")) &&
                     line.note == QStringLiteral("SQNR \u00b7 2 samples"),
                 qPrintable(line.note));

        evaluation.quantized->samples = 100;
        line = headlineOf(&evaluation, true);
        QVERIFY(!line.neutral);
        QVERIFY(line.note.startsWith(QStringLiteral("agreement")));

        evaluation.quantized->agreement.reset();
        evaluation.unevaluated = "2 of 5 nodes are not evaluated";
        line = headlineOf(&evaluation, true);
        QVERIFY2(line.note.startsWith(QStringLiteral("Partly evaluated \u00b7 SQNR")), qPrintable(line.note));
        QVERIFY(line.toolTip.contains(QStringLiteral("2 of 5 nodes")));
    }

    void theFrontIsOfThoseThatNoneBeats() {
        std::vector<TradeOffPoint> points;
        for (const auto& [cost, value] : {std::pair{0.0, 50.0},
                                          {1.0, 60.0},
                                          {1.0, 55.0},
                                          {2.0, 58.0},
                                          {3.0, 90.0},
                                          {3.0, 90.0},
                                          {4.0, 80.0}})
            points.push_back({cost, value, {}, false, false, points.size()});
        QCOMPARE(paretoFront(points), (std::vector<std::size_t>{0, 1, 4}));
        QVERIFY(paretoFront({}).empty());
    }

    void aPointOfThePlotGoesThere() {
        const QuantizationConfig coarse = m_document->config();
        m_document->edit(skipType(coarse, "Gemm"));
        QVERIFY(waitFor(
            [&] { return m_document->history().entries().size() == 3 && !m_document->job()->busy(); }));
        HistoryPanel panel(m_document.get());
        panel.resize(420, 900);
        panel.show();
        const auto& points = panel.plot()->points();
        const auto wanted = std::ranges::find(points, std::size_t(1), &TradeOffPoint::entry);
        QVERIFY(wanted != points.end());
        QTest::mouseClick(panel.plot(), Qt::LeftButton, {},
                          panel.plot()->placeOf(static_cast<std::size_t>(wanted - points.begin())).toPoint());
        QVERIFY(m_document->config() == coarse);
    }

    void suggestionsHaveBeenMeasuredAndDoWhatTheySay() {
        SuggestionSection section(m_document.get());
        section.resize(400, 600);
        section.show();
        QPushButton* look = nullptr;
        for (auto* button : section.findChildren<QPushButton*>())
            if (button->text().startsWith(QStringLiteral("Search for Improvements"))) look = button;
        QTest::mouseClick(look, Qt::LeftButton);
        QVERIFY(section.looking());
        QVERIFY(waitFor([&] { return !section.looking(); }));
        QVERIFY(!section.suggestions().empty());
        const Suggestion best = section.suggestions().front();
        QCOMPARE(best.gain, 0.5);
        QVERIFY(best.certain);
        // Equalization does not help here, because W's rows share their large weight. It is not suggested.
        for (const Suggestion& suggestion : section.suggestions()) QVERIFY(suggestion.gain > 0);
        for (auto* button : section.findChildren<QPushButton*>())
            if (button->accessibleName() == QStringLiteral("Try: ") + best.title)
                QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(m_document->config() == best.edit.next);
        QVERIFY(waitFor([&] { return !m_document->evaluating(); }));
        QCOMPARE(m_document->evaluation()->quantized->top1.value_or(-1), 1.0);
    }

    void wrongPreprocessingIsCalledOut() {
        QVERIFY(chanceWarning(*m_document->evaluation()).isEmpty());
        Document swapped;
        // The labels the wrong way round: always wrong.
        QVERIFY(test::openColors(swapped, m_folder,
                                 test::writeColors(m_folder, QStringLiteral("swapped"), QStringLiteral("z"),
                                                   QStringLiteral("a"))));
        DataSection section(&swapped);
        section.resize(400, 400);
        section.show();
        const QString warning = chanceWarning(*swapped.evaluation());
        QVERIFY2(warning.contains(QStringLiteral("preprocessing")), qPrintable(warning));
        bool seen = false;
        for (const QLabel* label : section.findChildren<QLabel*>())
            seen = seen || (label->isVisible() && label->text() == warning);
        QVERIFY(seen);
        QCOMPARE(swapped.data()->networkViews.size(), 4);
        QVERIFY2(swapped.data()->networkSpan.startsWith(QStringLiteral("0.00 to 0.")),
                 qPrintable(swapped.data()->networkSpan));
    }

    /// With 10,000 layers this is the window's longest operation: it happens once per snapshot, and the last
    /// one arrives twice.
    void everySnapshotIsTakenOnce() {
        int snapshots = 0, changes = 0;
        connect(m_document->job(), &EvaluationJob::evaluated, this, [&] { ++snapshots; });
        QSignalSpy finished(m_document.get(), &Document::evaluationFinished);
        m_document->edit(skipType(m_document->config(), "Gemm"));
        const auto counted = connect(m_document.get(), &Document::layersChanged, this, [&] { ++changes; });
        QVERIFY(waitFor([&] { return !finished.empty(); }));
        disconnect(counted);
        QVERIFY(snapshots > 1);
        QCOMPARE(changes, snapshots);
    }

    void whatIsNotMeasuredYetIsShownAsBefore() {
        Evaluation before, now;
        before.layers.resize(2), now.layers.resize(2);
        before.quantized = accuracyOn(10);
        before.floating = accuracyOn(10);
        before.rough = true;
        before.layers[0].local = TensorDifference{.qs = 0.5};
        before.layers[0].state = LayerState::Skipped;
        before.layers[1].cumulative = TensorDifference{.qs = 0.25};
        before.layers[1].weightBits = 4;
        now.layers[0].state = LayerState::Quantized;
        now.layers[1].cumulative = TensorDifference{.qs = 0.75};
        now.floating = accuracyOn(20);
        const auto beforePtr = std::make_shared<const Evaluation>(before);
        ShownEvaluation shown = withNumbersOf(beforePtr, std::make_shared<const Evaluation>(now));
        QCOMPARE(shown.evaluation->layers[0].local->qs, 0.5);
        QVERIFY(shown.evaluation->layers[0].state == LayerState::Quantized);  // a state is no number
        QCOMPARE(shown.evaluation->layers[1].cumulative->qs, 0.75);
        QCOMPARE(shown.evaluation->layers[1].weightBits, 4);
        QCOMPARE(shown.layers->at(0).local->qs, 0.5);
        QVERIFY(shown.evaluation->rough && !shown.ownAccuracy);  // accuracies belong together
        QCOMPARE(shown.evaluation->floating->samples, std::size_t(10));
        now.quantized = accuracyOn(20);
        shown = withNumbersOf(beforePtr, std::make_shared<const Evaluation>(now));
        QVERIFY(shown.ownAccuracy);
        QCOMPARE(shown.evaluation->floating->samples, std::size_t(20));
        now.complete = true;
        const auto last = std::make_shared<const Evaluation>(now);
        shown = withNumbersOf(beforePtr, last);
        QCOMPARE(shown.evaluation, last);
        QVERIFY(!shown.evaluation->layers[0].local);
        QVERIFY(!withNumbersOf(nullptr, std::make_shared<const Evaluation>(Evaluation{})).ownAccuracy);
    }

    void thePreprocessingIsChangedInTheWindow() {
        const auto ready = [&] {
            return waitFor([&] { return !m_document->evaluating() && !m_document->job()->busy(); });
        };
        PreprocessDialog dialog(*m_document);
        dialog.QWidget::show();
        QCOMPARE(dialog.values()->currentText(), QStringLiteral("0 to 1"));
        // The images are not cut.
        QVERIFY(waitFor([&] {
            for (const auto* label : dialog.findChildren<QLabel*>())
                if (!label->pixmap().isNull())
                    return label->height() >= label->pixmap().deviceIndependentSize().height();
            return false;
        }));
        QCOMPARE(dialog.scaleLine()->text(), QStringLiteral("1/255"));
        dialog.values()->setFocus();
        QTest::keyClick(dialog.values(), Qt::Key_Down);
        QCOMPARE(dialog.scaleLine()->text(), QStringLiteral("1"));
        dialog.applyButton()->click();
        QVERIFY(ready());
        QCOMPARE(m_document->data()->preprocess.scale, 1.0f);
        QVERIFY2(m_document->data()->networkSpan.endsWith(QStringLiteral(" 180.00")),
                 qPrintable(m_document->data()->networkSpan));  // 120 + 5 * 12: the 13th of 24
        QCOMPARE(m_document->project().preprocess->scale, 1.0f);
        QVERIFY2(dialog.status().contains(QStringLiteral("100.0")),
                 qPrintable(dialog.status()));  // a factor changes no class

        // It is undone like any edit.
        QCOMPARE(m_document->undoStack()->undoText(), QStringLiteral("Preprocessing"));
        m_document->undoStack()->undo();
        QVERIFY(ready());
        QVERIFY(!m_document->hasOwnPreprocess());
        QCOMPARE(m_document->data()->preprocess.scale, 1.0f / 255);
        m_document->undoStack()->redo();
        QVERIFY(ready());
        QCOMPARE(m_document->data()->preprocess.scale, 1.0f);

        // Blue and red exchanged: a blue image without red looks like one class as much as the other, and
        // counts as green.
        QTest::mouseClick(dialog.color()->button(1), Qt::LeftButton);
        dialog.applyButton()->click();
        QVERIFY(ready());
        const double exchanged = *m_document->evaluation()->floating->top1;
        QVERIFY2(exchanged < 1 && exchanged > 0.5, qPrintable(QString::number(exchanged)));

        // Errors appear here, and the data is kept.
        dialog.meanLine()->setText(QStringLiteral("1, x, 3"));
        dialog.applyButton()->click();
        QVERIFY(!dialog.status().isEmpty() &&
                m_document->data()->preprocess.mean == std::vector<float>(3, 0));
        dialog.meanLine()->setText(QStringLiteral("0 0 0"));
        QTest::mouseClick(dialog.layoutChoice()->button(1), Qt::LeftButton);
        dialog.applyButton()->click();
        QVERIFY(waitFor([&] { return dialog.status().contains(QStringLiteral("layout")); }));
        QVERIFY(m_document->data()->preprocess.layout == Preprocess::Layout::Nchw);

        QTest::mouseClick(dialog.layoutChoice()->button(0), Qt::LeftButton);
        QTest::mouseClick(dialog.color()->button(0), Qt::LeftButton);
        dialog.resizeLine()->setText(QStringLiteral("4 x 4"));
        dialog.saveButton()->click();
        QVERIFY(ready());
        const auto file = preprocessBeside(m_document->model()->path);
        QVERIFY(file.has_value());
        QVERIFY(loadPreprocess(*file) == m_document->data()->preprocess);
        QCOMPARE(*m_document->data()->preprocess.resize, (std::array<int, 2>{4, 4}));
        QVERIFY(!m_document->hasOwnPreprocess());
        QCOMPARE(m_document->evaluation()->floating->top1.value_or(-1), 1.0);
        std::filesystem::remove(*file);
    }

    void rangesShowWhatTheSchemeCannotRepresent() {
        LayerFilter filter;
        LayerTableModel rows(m_document.get());
        filter.setSourceModel(&rows);
        RangeView view(m_document.get(), &filter);
        view.resize(900, 300);
        view.show();
        QVERIFY(waitFor([&] { return view.answered(); }));
        const LayerRanges* gemm = view.rangesOf(*m_document->graph()->findNode("Gemm_4"));
        QVERIFY(gemm && gemm->weight);
        // W4: a step is 10 / 7; 0.4 lies in [2^-2, 2^-1), below half a step.
        QVERIFY(std::abs(gemm->weight->step - 10.0 / 7) < 1e-6);
        QCOMPARE(gemm->weights[static_cast<std::size_t>(-2 - kLeastPower)], std::uint64_t(2));
        QCOMPARE(gemm->weights[static_cast<std::size_t>(3 - kLeastPower)], std::uint64_t(2));
        QVERIFY(gemm->outputMax > 0 && gemm->outputMax <= gemm->output.high + gemm->output.step);
        QTest::mouseClick(view.findChild<QScrollArea*>()->widget(), Qt::LeftButton, {},
                          QPoint(30, view.fontMetrics().height() * 2));
        QCOMPARE(m_document->selection(), std::vector{NodeId(0)});
    }

  private:
    template <typename Condition>
    static bool waitFor(Condition condition) {
        return QTest::qWaitFor(condition, 30000);
    }
    QTemporaryDir m_folder;
    std::filesystem::path m_data;
    std::unique_ptr<Document> m_document;
};

QTEST_MAIN(ResultsTest)
#include "results_test.moc"
