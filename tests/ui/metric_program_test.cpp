// SPDX-License-Identifier: Apache-2.0
// The user's metric program in every evaluation. The program of these tests prints how often it was run.
#include "base/atomic_file.h"
#include "color_document.h"
#include "dialogs/metric_program_dialog.h"
#include "models/history_model.h"
#include "models/suggestions.h"
#include "models/tune_words.h"
#include "panels/summary_bar.h"
#include "panels/tune_finder.h"
#include "session/stages/user_metrics.h"
#include "ui_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class MetricProgramTest : public QObject, private test::ColorDocument {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeImages(); }
    void init() {
        QVERIFY(openDocument());
        m_program = writtenProgram("echo >> \"$0.runs\"; wc -l < \"$0.runs\"\n");
    }
    void cleanup() {
        m_document.reset();
        QVERIFY(QFile::remove(m_program) && (!QFile::exists(runs()) || QFile::remove(runs())));
    }

    void everyEvaluationRunsIt() {
        MetricProgramDialog dialog(*m_document);
        SummaryBar summary(m_document.get());
        summary.resize(1600, 60);
        QVERIFY(!test::child<ToggleSwitch>(dialog, "always")->isEnabled());
        test::child<QLineEdit>(dialog, "program")->setText(m_program);
        QVERIFY(!QFile::exists(runs()));
        QCOMPARE(test::labelText(summary, "metric"), QString());
        test::child<ToggleSwitch>(dialog, "always")->click();
        QVERIFY(evaluated());
        QCOMPARE(test::labelText(dialog, "result"), QStringLiteral("float 1, quantized 2"));
        QCOMPARE(test::labelText(summary, "metric"), QStringLiteral("2"));
        edit(5);
        QVERIFY(evaluated());  // the metric of the float network is known
        QCOMPARE(test::labelText(dialog, "result"), QStringLiteral("float 1, quantized 3"));
        QCOMPARE(test::labelText(summary, "metric"), QStringLiteral("3"));
        HistoryModel history(m_document.get());
        QCOMPARE(history.rowCount(), 3);  // the first one without the metric
        QCOMPARE(history.index(0, HistoryModel::Result).data().toString(), QStringLiteral("3"));
        QCOMPARE(history.index(0, HistoryModel::Difference).data().toString(), QStringLiteral("+2"));
        QCOMPARE(history.index(1, HistoryModel::Result).data().toString(), QStringLiteral("2"));
        QCOMPARE(history.index(2, HistoryModel::Result).data().toString(), QStringLiteral("\u2013"));
        QCOMPARE(history.index(2, HistoryModel::Difference).data().toString(), QString());
        QCOMPARE(m_document->gainMetric(), TaskMetric::User);

        // Another command does not run before the user says so.
        test::child<QLineEdit>(dialog, "arguments")->setText(QStringLiteral("--fast"));
        QVERIFY(!test::child<ToggleSwitch>(dialog, "always")->isChecked());
        for (int row = 0; row < history.rowCount();
             ++row)  // accuracies again, also of the evaluations with it
            QVERIFY(history.index(row, HistoryModel::Result).data().toString().endsWith(QLatin1Char('%')));
        QVERIFY(evaluated());
        edit(6);
        QVERIFY(evaluated());
        QVERIFY(!userMetricOf(*m_document->evaluation()));
        QCOMPARE(test::labelText(summary, "metric"), QString());
    }

    void onlyTheOpenModelKeepsIt() {
        m_document->setMetricProgram(program());
        QVERIFY(evaluated());
        m_document->reload();
        QVERIFY(waitFor([&] { return m_document->evaluation() && userMetricOf(*m_document->evaluation()); }));
        QVERIFY(evaluated());
        QVERIFY(test::openColors(*m_document, m_folder, m_data));
        QVERIFY(!m_document->metricProgram());
        QVERIFY(!userMetricOf(*m_document->evaluation()));
    }

    void gainsOfTheOtherMetricAreForgotten() {
        m_document->setBackgroundEvaluation(true);
        const auto gains = [this] {
            return std::ranges::count_if(
                m_document->layers(), [](const LayerResult& layer) { return layer.leaveOneOut.has_value(); });
        };
        QVERIFY(waitFor([&] { return gains() > 0; }));
        m_document->setBackgroundEvaluation(false);
        m_document->setMetricProgram(program());
        QCOMPARE(gains(), 0);
        QVERIFY(evaluated());
        QCOMPARE(gains(), 0);
    }

    void suggestionsUseIt() {
        MetricProgram wanted = program();
        for (const bool lower : {false, true}) {
            wanted.lowerIsBetter = lower;
            m_document->setMetricProgram(wanted);
            QVERIFY(evaluated());
            QCOMPARE(gainMetricOf(m_document->evaluation().get()), TaskMetric::User);
            std::optional<std::optional<Suggestion>> found;
            Suggestion candidate;
            candidate.edit.next = m_document->config();
            candidate.edit.next.quantization.weight.bits = lower ? 6 : 5;
            m_document->job()->query(QuerySlot::Suggestions,
                                     [&found, candidate, config = m_document->config()](
                                         Session& session, const CancelToken& cancel) {
                                         auto one = measureSuggestion(session, config, candidate, cancel);
                                         return std::function<void()>([&found, one] { found = one; });
                                     });
            QVERIFY(waitFor([&] { return found.has_value(); }));
            QCOMPARE(found->has_value(), !lower);  // later runs print larger numbers
            if (!lower) QCOMPARE((*found)->gain, 1.0);
        }
    }

    void searchesUseIt() {
        TuneFinder finder(m_document.get());
        for (const bool lower : {false, true}) {
            MetricProgram wanted = program();
            wanted.lowerIsBetter = lower;
            m_document->setMetricProgram(wanted);
            QVERIFY(evaluated());
            finder.startOrStop();
            QVERIFY(waitFor([&] { return !finder.finding(); }));
            QVERIFY(finder.found());
            const TuneResult& result = *finder.found();
            QCOMPARE(result.metric, TaskMetric::User);
            QCOMPARE(result.maxDrop, 1.0);  // in the unit of the metric
            const double floating = result.floating.userMetric.value_or(0);
            QCOMPARE(targetOnAxis(result).value_or(0), lower ? floating + 1 : floating - 1);
            QCOMPARE(dropOnAxis(result, lower ? floating + 3 : floating - 3), 3.0);
            // The quantized network is run next.
            QCOMPARE(result.curve.front().metric, floating + 1);
            QCOMPARE(result.curve.front().drop, lower ? 1.0 : -1.0);
        }
    }

    void aFailingProgramIsNamed() {
        MetricProgramDialog dialog(*m_document);
        QSignalSpy failed(m_document.get(), &Document::failed);
        m_document->setMetricProgram(MetricProgram{writtenProgram("exit 3\n").toStdString(), {}});
        QVERIFY(failed.wait(20000));
        const QString text = failed.first().first().value<Failure>().text;
        QVERIFY2(text.contains(m_program), qPrintable(text));
        QVERIFY2(test::labelText(dialog, "result").contains(m_program),
                 qPrintable(test::labelText(dialog, "result")));
        m_document->setMetricProgram({});
        QVERIFY(evaluated());
        QCOMPARE(m_document->evaluation()->quantized->top1.value_or(-1), 0.5);
    }

  private:
    QString runs() const { return m_program + QStringLiteral(".runs"); }
    MetricProgram program() const { return {m_program.toStdString(), {}}; }
    QString writtenProgram(const std::string& commands) const {
        const QString path = m_folder.filePath(QStringLiteral("metric.sh"));
        writeFileAtomically(path.toStdString(), "#!/bin/sh\n" + commands);
        std::filesystem::permissions(path.toStdString(), std::filesystem::perms::owner_all);
        return path;
    }
    void edit(int bits) {
        QuantizationConfig config = m_document->config();
        config.quantization.weight.bits = bits;
        m_document->edit({config, QStringLiteral("bits"), {}});
    }

    QString m_program;
};

QTEST_MAIN(MetricProgramTest)
#include "metric_program_test.moc"
