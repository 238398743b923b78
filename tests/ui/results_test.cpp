// SPDX-License-Identifier: Apache-2.0
// Results in the window: accuracy loss by step, images whose predicted class changed and the layers where
// they diverge, and suggestions. The network's numbers are derived in color_data.h. (Classes:
// classes_panel_test; comparisons of configurations: history_panel_test; preprocessing and labels:
// data_dialogs_test.)
#include <QApplication>

#include "color_document.h"
#include "commands/layer_edits.h"
#include "models/headline.h"
#include "models/layer_filter.h"
#include "panels/accuracy_path_panel.h"
#include "panels/flipped_panel.h"
#include "panels/notices_panel.h"
#include "panels/range_view.h"
#include "panels/suggestion_section.h"
#include "results/task_metric.h"
#include "session/project/project_file.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

Accuracy accuracyOn(std::size_t samples) {
    Accuracy accuracy;
    accuracy.samples = samples;
    return accuracy;
}

}  // namespace

class ResultsTest : public QObject, private test::ColorDocument {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeImages(); }
    void init() { QVERIFY(openDocument()); }
    void cleanup() { m_document.reset(); }

    void waterfallEndsAtTheQuantizedAccuracy() {
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
        m_document->edit(changeConfig(m_document->config(), QStringLiteral("comment"),
                                      [](QuantizationConfig& c) { c.layers["Gemm_4"].comment = "why"; }));
        QVERIFY(!panel.stale());  // it changes no results
        m_document->setManualEvaluation(true);
        m_document->edit(
            changeConfig(m_document->config(), QStringLiteral("rule"), [](QuantizationConfig& c) {
                SkipRule off;
                off.layers = {"Gemm_4"};
                off.off = true;
                c.rules.push_back(off);
            }));
        QVERIFY(!panel.stale());
        m_document->edit(skipType(m_document->config(), "Gemm"));
        QVERIFY(panel.stale());
        QCOMPARE(panel.waterfall()->steps().back().value, 0.5);  // stays until there is a new one
        m_document->setManualEvaluation(false);
        QVERIFY(waitFor([&] { return !panel.stale(); }));
        QCOMPARE(panel.waterfall()->steps().back().value, 1.0);
    }

    void waterfallOfDecibelsOmitsExactSteps() {
        std::vector<AccuracyStep> path(3);
        path[0] = {"float", {}};
        path[1] = {"folded", {}};
        path[1].accuracy.sqnrDb = 40;
        path[2] = {"weights quantized", {}};
        path[2].accuracy.sqnrDb = 25;
        const auto steps = waterfallSteps(path);
        QCOMPARE(steps.size(), std::size_t(2));
        QCOMPARE(steps[1].changeText, QStringLiteral("\u221215.0"));
        QVERIFY(costliestStep(path).contains(QStringLiteral("\u201cweights quantized\u201d: \u221215.0 dB")));
        // The first step with an error counts, too: compared with the exact outputs before it.
        path[1].accuracy.sqnrDb = 10;
        path[2].accuracy.sqnrDb = 9;
        QVERIFY(costliestStep(path).contains(QStringLiteral("\u201cfolded\u201d: to 10.0 dB")));
        path[1].accuracy.sqnrDb = path[2].accuracy.sqnrDb = 120;
        QVERIFY(costliestStep(path).isEmpty());
    }

    void thumbnailsHaveTheirRoomBeforeTheyAreRead() {
        FlippedPanel panel(m_document.get());
        panel.resize(700, 250);
        panel.showSamples(QStringLiteral("all"), {0, 1, 2});  // before it was shown
        panel.show();
        QVERIFY(waitFor([&] { return panel.answered() && panel.view()->model()->rowCount() == 3; }));
        QVERIFY(panel.view()->visualRect(panel.view()->model()->index(2, 0)).height() >
                panel.view()->iconSize().height());
        const auto links = panel.findChildren<LinkButton*>();
        QVERIFY(std::ranges::any_of(links, [](const LinkButton* link) {
            return link->isVisible() && link->text() == QStringLiteral("show changed images");
        }));
    }

    void changedImagesShowWhereTheyDiverge() {
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

    void meaninglessNumbersAreNeutral() {
        Evaluation evaluation;
        evaluation.quantized.emplace();
        evaluation.quantized->samples = 2;
        evaluation.quantized->agreement = 1;
        evaluation.quantized->sqnrDb = INFINITY;
        Headline line = headlineOf(&evaluation, DataKind::Images);
        QVERIFY(line.neutral);
        QVERIFY2(line.note.startsWith(QStringLiteral("Nothing is quantized")) &&
                     line.note.contains(QStringLiteral("2 samples")),
                 qPrintable(line.note));
        QVERIFY(!line.value.contains(QStringLiteral("100")));

        evaluation.counts.quantized = 1;
        evaluation.quantized->sqnrDb = 31.5;
        line = headlineOf(&evaluation, DataKind::Images);
        QVERIFY(line.neutral);
        QVERIFY2(line.value.contains(QStringLiteral("31.5")) &&
                     line.note == QStringLiteral("SQNR \u00b7 2 samples"),
                 qPrintable(line.note));

        evaluation.quantized->samples = 100;
        line = headlineOf(&evaluation, DataKind::Images);
        QVERIFY(!line.neutral);
        QVERIFY(line.note.startsWith(QStringLiteral("agreement")));
        QVERIFY(meaningfulRate(evaluation).has_value());
        evaluation.randomInputs = true;
        QVERIFY(!meaningfulRate(evaluation));
        evaluation.floating.emplace();
        QVERIFY(!measuredConfig(evaluation, "")->quantized.agreement);
        evaluation.randomInputs = false;
        QVERIFY(measuredConfig(evaluation, "")->quantized.agreement);
        evaluation.floating.reset();

        evaluation.quantized->agreement.reset();
        evaluation.unevaluated = "2 of 5 nodes are not evaluated";
        line = headlineOf(&evaluation, DataKind::Images);
        QVERIFY2(line.note.startsWith(QStringLiteral("Partly evaluated \u00b7 SQNR")), qPrintable(line.note));
        QVERIFY(line.neutral);  // how many decibels are enough depends on the network
        QVERIFY(line.toolTip.contains(QStringLiteral("2 of 5 nodes")));
    }

    /// One of the notices of the command line, which no other part of the window shows.
    void noticesOfTheEvaluationHaveATab() {
        NoticesPanel panel(m_document.get());
        const auto has = [&](const char* text) {
            return panel.notices().filter(QLatin1String(text)).size() == 1 &&
                   panel.toPlainText().contains(QLatin1String(text));
        };
        constexpr const char* kIdle = "(all Dropout layers) has no effect";
        QVERIFY(!has(kIdle));
        QuantizationConfig config = m_document->config();
        SkipRule rule;
        rule.kind = SkipKind::Type;
        rule.op = "Dropout";
        config.rules.push_back(rule);
        QVERIFY(m_document->edit({config, QStringLiteral("Skip"), {}}));
        QVERIFY(evaluated());
        QVERIFY2(has(kIdle), qPrintable(panel.notices().join(QLatin1Char('\n'))));
    }

    void colorsDependOnTheFloatAccuracy() {
        Accuracy floating, quantized;
        floating.samples = quantized.samples = 100;
        floating.top1 = 0.08;
        quantized.top1 = 0.02;
        Evaluation evaluation;
        evaluation.counts.quantized = 1;
        evaluation.floating = floating;
        evaluation.quantized = quantized;
        QCOMPARE(headlineOf(&evaluation, DataKind::Images).loss, 0.75);
    }

    void languageModelsShowTheirPerplexity() {
        Evaluation evaluation;
        evaluation.counts.quantized = 1;
        for (auto* accuracy : {&evaluation.floating, &evaluation.quantized}) {
            accuracy->emplace();
            (*accuracy)->samples = 100;
        }
        evaluation.floating->tokenAccuracy = 0.65;
        evaluation.floating->perplexity = 3.2523;
        evaluation.quantized->tokenAccuracy = 0.6;
        evaluation.quantized->perplexity = 3.5;
        evaluation.quantized->agreement = 0.9;
        const Headline line = headlineOf(&evaluation, DataKind::Samples);
        QVERIFY2(line.value.startsWith(QStringLiteral("60")), qPrintable(line.value));
        QCOMPARE(line.note, QStringLiteral("token accuracy \u00b7 100 samples \u00b7 perplexity 3.500"));
        QCOMPARE(line.floatNote, QStringLiteral("token accuracy \u00b7 perplexity 3.252"));
        QVERIFY(line.toolTip.contains(QStringLiteral("agreement of the tokens: 90")));
        QVERIFY(!line.neutral);
    }

    void suggestionsAreEvaluatedAndCanBeApplied() {
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

    /// The agreement of four images, which the summary bar does not show either, found no candidate.
    void suggestionsForFewImagesWithoutLabelsAreInDecibels() {
        QTemporaryDir folder;
        int copied = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(m_data))
            if (entry.is_regular_file() && copied < 4)
                std::filesystem::copy_file(entry.path(), std::filesystem::path(folder.path().toStdString()) /
                                                             fmt::format("{}.png", copied++));
        QCOMPARE(copied, 4);
        m_document->openData(folder.path().toStdString(), m_data);
        QVERIFY(evaluated());
        QCOMPARE(m_document->evaluation()->quantized->samples, 4u);
        SuggestionSection section(m_document.get());
        section.look();
        QVERIFY(waitFor([&] { return !section.looking(); }));
        QVERIFY(!section.suggestions().empty());
        for (const Suggestion& suggestion : section.suggestions())
            QVERIFY2(suggestion.verdict.contains(QStringLiteral("dB")), qPrintable(suggestion.title));
    }

    /// Other queries were answered only after all candidates.
    void otherQueriesDoNotWaitForTheSearch() {
        SuggestionSection section(m_document.get());
        section.look();
        std::optional<bool> searching;
        m_document->job()->query(QuerySlot::Ranges,
                                 [&](Session&, const CancelToken&) -> std::function<void()> {
                                     return [&] { searching = section.looking(); };
                                 });
        QVERIFY(waitFor([&] { return searching.has_value(); }));
        QVERIFY(*searching);
        QVERIFY(waitFor([&] { return !section.looking(); }));
    }

    /// They name images and gains of the data that was open.
    void newDataForgetsSuggestionsAndChosenImages() {
        SuggestionSection section(m_document.get());
        section.show();
        for (auto* button : section.findChildren<QPushButton*>())
            if (button->text().startsWith(QStringLiteral("Search for Improvements")))
                QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(waitFor([&] { return !section.looking() && !section.suggestions().empty(); }));
        FlippedPanel panel(m_document.get());
        panel.show();
        panel.showSamples(QStringLiteral("green predicted as blue"), {0, 1});
        QVERIFY(waitFor([&] { return panel.answered() && panel.view()->model()->rowCount() == 2; }));
        m_document->openData(m_data, m_data);
        QVERIFY(waitFor([&] { return section.suggestions().empty(); }));
        QVERIFY(evaluated());
        const auto changed = static_cast<int>(m_document->evaluation()->quantized->samples / 2);
        QVERIFY(waitFor([&] { return panel.view()->model()->rowCount() == changed; }));
    }

    /// With 10,000 layers this is the window's longest operation: it happens once per snapshot, and the last
    /// one arrives twice.
    void everySnapshotIsProcessedOnce() {
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

    void missingResultsKeepThePreviousValues() {
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
        QVERIFY(shown.evaluation->layers[0].state == LayerState::Quantized);  // a state is not a number
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
};

QTEST_MAIN(ResultsTest)
#include "results_test.moc"
