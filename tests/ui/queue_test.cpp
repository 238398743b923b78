// SPDX-License-Identifier: Apache-2.0
// The status line: the engine's queue, the remaining time, and pausing by mouse and keyboard.
#include <QPushButton>
#include <chrono>
#include <future>

#include "color_data.h"
#include "commands/config_edits.h"
#include "jobs/freed_in_background.h"
#include "jobs/job_queue.h"
#include "jobs/time_left.h"
#include "panels/status_line.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class QueueTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        test::keepSettingsIn(m_folder);
        m_data = test::writeColors(m_folder);
    }
    void init() {
        QSettings().clear();
        QSettings().setValue(QStringLiteral("measureWhileIdle"), false);
        m_window = std::make_unique<MainWindow>();
        m_window->setAskBeforeClosing(false);
        m_window->resize(1300, 850);
        m_window->show();
        QVERIFY(test::openColors(document(), m_folder, m_data));
        m_status = m_window->findChild<StatusLine*>();
        m_window->graphView()->canvas()->setFocus();
    }
    void cleanup() { m_window.reset(); }

    /// Releasing a result on the window's thread does not free it there.
    void resultsAreFreedInBackground() {
        std::promise<QThread*> thread;
        std::future<QThread*> freedOn = thread.get_future();
        auto value = freedInBackground(std::shared_ptr<const int>(new int(7), [&](const int* number) {
            delete number;
            thread.set_value(QThread::currentThread());
        }));
        std::shared_ptr<const int> other = value;
        value.reset();
        QCOMPARE(*other, 7);
        QVERIFY(freedOn.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
        other.reset();
        QVERIFY(freedOn.get() != QThread::currentThread());
        QVERIFY(!freedInBackground(std::shared_ptr<const int>()));
    }

    void workIsListedInOrderWithoutCancelledEntries() {
        JobQueue queue;
        const CancelToken first, second;
        const quint64 a = queue.add(QueuedWork::Kind::Evaluation, {}, first);
        const quint64 b = queue.add(QueuedWork::Kind::Export, QStringLiteral("amct"), second);
        queue.add(QueuedWork::Kind::Export, QStringLiteral("quark"), CancelToken());
        queue.add(QueuedWork::Kind::Query, {}, CancelToken(), QuerySlot::LayerDetails);
        queue.start(a);
        QVERIFY(queue.works()[0].running && !queue.works()[1].running);
        QCOMPARE(waitingWords(queue.works()), QStringLiteral("2 exports, an analysis"));
        first.cancel();
        QCOMPARE(queue.works().size(), std::size_t(3));
        queue.finish(b);
        QCOMPARE(waitingWords(queue.works()), QStringLiteral("an export, an analysis"));
        queue.cancel(QueuedWork::Kind::Export);
        QVERIFY(!second.cancelled());  // that one was done
        QCOMPARE(waitingWords(queue.works()), QStringLiteral("an analysis"));
        QVERIFY(waitingWords({}).isEmpty());
    }

    void noEstimateBeforeTheFirstRunOfAKind() {
        TimeLeft left;
        left.start(QStringLiteral("evaluation"), 0);
        left.progress(QStringLiteral("calibrating"), 0, 100, 0);
        left.progress(QStringLiteral("calibrating"), 50, 100, 20);
        QVERIFY(!left.shown(20));  // the following stages are unknown
        left.progress(QStringLiteral("quantized network"), 0, 100, 40);
        left.finish(false, 50);  // a cancelled run gives no estimate
        left.start(QStringLiteral("evaluation"), 50);
        left.progress(QStringLiteral("calibrating"), 50, 100, 70);
        QVERIFY(!left.shown(70));
    }

    void remainingStagesAreThoseOfTheLastRun() {
        TimeLeft left = learned();
        left.start(QStringLiteral("evaluation"), 1000);
        left.progress(QStringLiteral("calibrating"), 0, 100, 1000);
        QCOMPARE(left.shown(1000).value_or(-1), 60);  // 40 and 20 s
        left.start(QStringLiteral("study"), 2000);
        left.progress(QStringLiteral("calibrating"), 0, 100, 2000);
        QVERIFY(!left.shown(2000));  // of another kind
        left.start(QStringLiteral("evaluation"), 3000);
        left.progress(QStringLiteral("all metrics"), 1, 100, 3000);
        QVERIFY(!left.shown(3010));  // a stage that the last run did not have
        left.start(QStringLiteral("evaluation"), 4000);
        left.progress(QStringLiteral("quantized network"), 95, 100, 4018);
        QVERIFY(!left.shown(4018));  // too short to show
    }

    /// Each tick is off by up to a fifth: the displayed time only decreases, one step at a time.
    void remainingTimeDecreasesWithoutJitter() {
        TimeLeft left = learned();
        left.start(QStringLiteral("evaluation"), 0);
        int before = 1000, changes = 0;
        for (double now = 0; now < 40; now += 0.1) {
            const double noise = 1 + 0.2 * ((static_cast<int>(now * 10) * 37 % 11) / 5.0 - 1);
            left.progress(QStringLiteral("calibrating"),
                          static_cast<std::size_t>(std::min(999.0, now * 25 * noise)), 1000, now);
            const auto shown = left.shown(now);
            if (!shown) continue;
            QVERIFY2(*shown <= before,
                     qPrintable(QStringLiteral("%1 after %2 at %3").arg(*shown).arg(before).arg(now)));
            changes += *shown != before;
            before = *shown;
        }
        QVERIFY2(before >= 15 && before <= 25, qPrintable(QString::number(before)));  // the other stage
        QVERIFY2(changes <= 15, qPrintable(QString::number(changes)));
    }

    void clearlyDifferentEstimateIsShownAfterAWhile() {
        TimeLeft left = learned();
        left.start(QStringLiteral("evaluation"), 0);
        left.progress(QStringLiteral("calibrating"), 0, 1000, 0);
        QCOMPARE(left.shown(0).value_or(-1), 60);
        left.progress(QStringLiteral("calibrating"), 100, 1000, 20);  // five times as slow
        QCOMPARE(left.shown(20).value_or(-1), 40);                    // not at the first tick
        left.progress(QStringLiteral("calibrating"), 105, 1000, 21);
        QCOMPARE(left.shown(21).value_or(-1), 40);
        left.progress(QStringLiteral("calibrating"), 115, 1000, 23);
        QCOMPARE(left.shown(23).value_or(-1), 200);
    }

    void longTimesAreShownInMinutes() {
        QCOMPARE(timeLeftWords(25), QStringLiteral("about 25 s left"));
        QCOMPARE(timeLeftWords(150), QStringLiteral("about 3 min left"));
    }

    void keyPausesAndResumes() {
        QTest::keyClick(m_window.get(), Qt::Key_P);
        QVERIFY(job()->paused());
        QVERIFY2(m_status->text().startsWith(QStringLiteral("Paused")), qPrintable(m_status->text()));
        QSignalSpy finished(&document(), &Document::evaluationFinished);
        QElapsedTimer clock;
        clock.start();
        QVERIFY(document().edit(skipType(document().config(), "Gemm")));
        QVERIFY(document().layer(NodeId(4))->state == LayerState::Skipped);  // states do not wait
        QTest::qWait(2000);  // much longer than signals take to arrive
        QCOMPARE(finished.size(), 0);
        QVERIFY(document().evaluating());
        QVERIFY2(m_status->text().startsWith(QStringLiteral("Paused \u00b7 ")), qPrintable(m_status->text()));
        const double held = double(clock.elapsed()) / 1000;
        QTest::keyClick(m_window.get(), Qt::Key_P);
        QVERIFY(!job()->paused());
        QVERIFY(finished.wait(20000));
        const double total = double(clock.elapsed()) / 1000;
        QCOMPARE(document().evaluation()->quantized->top1.value_or(-1), 1.0);
        // Paused time does not count. Both times are from this machine, so its load does not matter.
        const double reported = finished.front().front().toDouble();
        QVERIFY2(reported < total - held + 0.1,
                 qPrintable(QStringLiteral("%1 of %2 s, %3 s paused").arg(reported).arg(total).arg(held)));
    }

    void buttonPausesAndResumes() {
        job()->setPaused(true);
        document().edit(skipType(document().config(), "Gemm"));
        QPushButton* resume = button("Resume");
        QVERIFY(resume);
        QSignalSpy finished(&document(), &Document::evaluationFinished);
        QTRY_VERIFY(button("Cancel"));
        QCOMPARE(finished.size(), 0);
        QTest::mouseClick(resume, Qt::LeftButton);
        QVERIFY(finished.wait(20000));
        QVERIFY(!button("Resume"));
    }

    void waitingTasksAreShown() {
        job()->setPaused(true);
        document().edit(skipType(document().config(), "Gemm"));
        QSignalSpy exported(job(), &EvaluationJob::exported);
        for (int i = 0; i < 2; ++i)
            job()->runExport(QStringLiteral("a file"),
                             [](Session&, const CancelToken&) { return QStringLiteral("written"); });
        int answered = 0;
        job()->query(QuerySlot::Suggestions,
                     [&](Session&, const CancelToken&) { return [&] { ++answered; }; });
        QVERIFY2(QTest::qWaitFor(
                     [&] { return m_status->text().endsWith(QStringLiteral("then 2 exports, an analysis")); },
                     5000),
                 qPrintable(m_status->text()));
        QCOMPARE(exported.size(), 0);
        job()->setPaused(false);
        QVERIFY(QTest::qWaitFor([&] { return exported.size() == 2 && answered == 1; }, 20000));
        QVERIFY(QTest::qWaitFor([&] { return job()->queue().empty(); }, 5000));
    }

    void cancellingEndsTheEvaluationAndThePause() {
        job()->setPaused(true);
        const EvaluationPtr before = document().evaluation();
        document().edit(skipType(document().config(), "Gemm"));
        QSignalSpy cancelled(job(), &EvaluationJob::evaluationCancelled);
        job()->runExport(QStringLiteral("a file"),
                         [](Session&, const CancelToken&) { return QStringLiteral("written"); });
        QSignalSpy exported(job(), &EvaluationJob::exported), lost(job(), &EvaluationJob::exportsCancelled);
        QTest::qWait(100);
        QTest::keyClick(m_window.get(), Qt::Key_Escape);
        QCOMPARE(lost.size(), 1);
        QCOMPARE(lost[0][0].toStringList(), QStringList{QStringLiteral("a file")});
        QVERIFY(QTest::qWaitFor([&] { return !job()->busy(); }, 5000));
        QCOMPARE(cancelled.size(), 1);
        QCOMPARE(exported.size(), 0);
        QVERIFY(!job()->paused());
        QCOMPARE(document().evaluation(), before);
    }

    void escapeEndsThePauseWhenIdle() {
        QVERIFY(QTest::qWaitFor([&] { return !job()->busy(); }, 20000));
        job()->setPaused(true);
        QTest::keyClick(m_window.get(), Qt::Key_Escape);
        QVERIFY(!job()->paused());
    }

    /// In manual mode, an edit cancels the running evaluation, which is outdated, but not the waiting
    /// exports.
    void editsKeepTheExports() {
        document().setManualEvaluation(true);
        job()->setPaused(true);
        document().evaluate();
        QSignalSpy exported(job(), &EvaluationJob::exported);
        job()->runExport(QStringLiteral("a file"),
                         [](Session&, const CancelToken&) { return QStringLiteral("written"); });
        document().edit(skipType(document().config(), "Gemm"));
        QVERIFY(QTest::qWaitFor([&] { return exported.size() == 1; }, 20000));
        document().undoStack()->undo();
        document().setManualEvaluation(false);
        QVERIFY(QTest::qWaitFor([&] { return !job()->busy(); }, 20000));
    }

    /// For example of a dialog that is closed.
    void aSingleExportIsCancelled() {
        job()->setPaused(true);
        document().edit(skipType(document().config(), "Gemm"));
        QSignalSpy exported(job(), &EvaluationJob::exported), lost(job(), &EvaluationJob::exportsCancelled);
        const CancelToken token = job()->runExport(
            QStringLiteral("a file"), [](Session&, const CancelToken&) { return QStringLiteral("written"); });
        job()->cancelExport(token);
        for (const QueuedWork& work : job()->queue()) QVERIFY(work.kind != QueuedWork::Kind::Export);
        document().undoStack()->undo();
        job()->setPaused(false);
        QVERIFY(QTest::qWaitFor([&] { return !job()->busy(); }, 20000));
        QCOMPARE(exported.size() + lost.size(), 0);
    }

    void anEditWhilePausedReplacesTheQueuedOne() {
        job()->setPaused(true);
        QSignalSpy finished(&document(), &Document::evaluationFinished);
        document().edit(skipType(document().config(), "Conv"));
        QTest::qWait(50);
        document().undoStack()->undo();
        document().edit(skipType(document().config(), "Gemm"));
        QTest::qWait(200);
        QCOMPARE(finished.size(), 0);
        QVERIFY(job()->paused());
        QVERIFY(QTest::qWaitFor([&] { return job()->queue().size() == 1; }, 5000));
        job()->setPaused(false);
        QVERIFY(finished.wait(20000));
        QVERIFY(QTest::qWaitFor([&] { return !job()->busy(); }, 5000));
        QCOMPARE(finished.size(), 1);
        QVERIFY(document().evaluation()->config == document().config());
    }

    void closingThePausedWindowDoesNotHang() {
        job()->setPaused(true);
        document().edit(skipType(document().config(), "Gemm"));
        job()->query(QuerySlot::Suggestions,
                     [](Session&, const CancelToken&) { return std::function<void()>(); });
        QTest::qWait(100);
        m_window->close();
        m_window.reset();  // returns; the time limit of the test ends a hang
    }

    void openingAnotherModelEndsThePause() {
        job()->setPaused(true);
        document().edit(skipType(document().config(), "Gemm"));
        QVERIFY(test::openAndWait(document(), test::writeModel(m_folder)));
        QVERIFY(!job()->paused());
    }

    void backgroundEvaluationIsPaused() {
        QSignalSpy finished(&document(), &Document::evaluationFinished);
        document().setBackgroundEvaluation(true);
        document().evaluate();
        QVERIFY(finished.wait(20000));
        QTest::keyClick(m_window.get(), Qt::Key_P);
        QVERIFY(QTest::qWaitFor(
            [&] { return m_status->rightText().startsWith(QStringLiteral("Paused \u00b7 while idle")); },
            5000));
        QTest::qWait(300);
        QVERIFY(!document().layer(NodeId(0))->leaveOneOut);
        QPushButton* resume = button("Resume");
        QVERIFY(resume);
        QTest::mouseClick(resume, Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return document().layer(NodeId(0))->leaveOneOut.has_value(); }, 20000));
    }

  private:
    Document& document() { return *m_window->document(); }
    EvaluationJob* job() { return document().job(); }
    QPushButton* button(const char* text) {
        for (auto* button : m_status->findChildren<QPushButton*>())
            if (button->isVisible() && button->text() == QLatin1String(text)) return button;
        return nullptr;
    }
    /// An estimator that has seen 40 s of one stage and 20 s of the next.
    static TimeLeft learned() {
        TimeLeft left;
        left.start(QStringLiteral("evaluation"), 0);
        left.progress(QStringLiteral("calibrating"), 0, 100, 0);
        left.progress(QStringLiteral("quantized network"), 0, 100, 40);
        left.finish(true, 60);
        return left;
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_data;
    std::unique_ptr<MainWindow> m_window;
    StatusLine* m_status = nullptr;
};

QTEST_MAIN(QueueTest)
#include "queue_test.moc"
