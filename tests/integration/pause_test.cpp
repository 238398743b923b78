// SPDX-License-Identifier: Apache-2.0
// A paused evaluation: it stops, continues to bit-identical numbers, can be cancelled, and does not block
// anything.
#include <QElapsedTimer>
#include <QtTest>
#include <atomic>
#include <thread>

#include "base/error.h"
#include "support/demo.h"

using namespace quantloupe;

namespace {

const SessionOptions kOptions{0, 64, 16};

/// An evaluation on a separate thread, with its progress and result.
struct Running {
    std::shared_ptr<PauseGate> gate = std::make_shared<PauseGate>();
    CancelToken token{gate};
    std::atomic<int> told = 0;
    std::atomic<bool> over = false, cancelled = false;
    EvaluationPtr result;
    std::thread thread;

    /// `study`: a background evaluation instead of a normal one.
    explicit Running(Session& session, bool study = false, int closeAt = -1) {
        thread = std::thread([this, &session, study, closeAt] {
            EvaluationObserver observer;
            observer.progress = [this, closeAt](const Progress&) {
                if (++told == closeAt) gate->close();
            };
            try {
                if (study)
                    session.measureInBackground(test::demoConfig(), 40, observer, token);
                else
                    result = session.evaluate(test::demoConfig(), Depth::Metrics, observer, token);
            } catch (const Cancelled&) {
                cancelled = true;
            }
            over = true;
        });
    }
    ~Running() {
        token.cancel();
        if (thread.joinable()) thread.join();
    }
    /// Waits until running steps have finished and nothing more is reported for a while. An evaluation that
    /// does not stop ends instead, however slow the machine is.
    bool standsStill() const {
        int before = -1;
        while (told != before && !over) {
            before = told;
            QTest::qWait(600);
        }
        return !over;
    }
};

void compare(const Evaluation& one, const Evaluation& other) {
    QCOMPARE(*one.classes, *other.classes);
    QCOMPARE(*one.quantized->sqnrDb, *other.quantized->sqnrDb);
    QCOMPARE(*one.quantized->maxAbsDiff, *other.quantized->maxAbsDiff);
    for (std::size_t l = 0; l < one.layers.size(); ++l) {
        QCOMPARE(one.layers[l].local.has_value(), other.layers[l].local.has_value());
        if (!one.layers[l].local) continue;
        QCOMPARE(one.layers[l].local->qs, other.layers[l].local->qs);
        QCOMPARE(one.layers[l].local->cosine, other.layers[l].local->cosine);
        QCOMPARE(one.layers[l].cumulative->qs, other.layers[l].cumulative->qs);
    }
}

}  // namespace

class PauseTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void pausedEvaluationContinuesToTheSameResults() {
        const EvaluationPtr plain = test::openDemo(kOptions)->evaluate(test::demoConfig());
        for (const int closeAt : {1, 3, 6}) {
            const auto session = test::openDemo(kOptions);
            Running run(*session, false, closeAt);
            QVERIFY(QTest::qWaitFor([&] { return run.gate->closed(); }, 60000));
            QVERIFY2(run.standsStill(), qPrintable(QString::number(closeAt)));
            QVERIFY(run.gate->closedSeconds() > 0.4);
            run.gate->open();
            QVERIFY(QTest::qWaitFor([&] { return run.over.load(); }, 60000));
            QVERIFY(run.result && run.result->complete);
            compare(*plain, *run.result);
        }
    }

    /// Closed and opened faster than a batch takes: tasks are postponed repeatedly, and each runs once.
    void rapidPausesLoseNoTask() {
        const EvaluationPtr plain = test::openDemo(kOptions)->evaluate(test::demoConfig());
        const auto session = test::openDemo(kOptions);
        Running run(*session);
        int times = 0;
        QElapsedTimer patience;
        for (patience.start(); !run.over && patience.elapsed() < 120000; ++times) {
            run.gate->close();
            std::this_thread::sleep_for(std::chrono::microseconds(300));
            run.gate->open();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        QVERIFY(run.over && times > 20);
        compare(*plain, *run.result);
    }

    void cancellingWhilePausedKeepsResults() {
        const auto session = test::openDemo(kOptions);
        {
            Running run(*session, false, 3);
            QVERIFY(QTest::qWaitFor([&] { return run.gate->closed(); }, 60000));
            QVERIFY(run.standsStill());
            const int before = run.told;
            run.token.cancel();
            QVERIFY(QTest::qWaitFor([&] { return run.over.load(); }, 60000));
            QVERIFY(run.cancelled && run.gate->closed());
            QCOMPARE(run.told.load(), before);  // no step was taken after the cancellation
        }
        compare(*test::openDemo(kOptions)->evaluate(test::demoConfig()),
                *session->evaluate(test::demoConfig()));
    }

    void nothingStartsWhilePaused() {
        const auto session = test::openDemo(kOptions);
        const auto gate = std::make_shared<PauseGate>();
        gate->close();
        std::atomic<int> told = 0;
        const CancelToken token(gate);
        std::thread thread([&] {
            EvaluationObserver observer;
            observer.updated = [&](const EvaluationPtr&) { ++told; };
            try {
                session->evaluate(test::demoConfig(), Depth::Metrics, observer, token);
            } catch (const Cancelled&) {
            }
        });
        QTest::qWait(300);
        QCOMPARE(told.load(), 0);
        token.cancel();
        thread.join();
        QCOMPARE(told.load(), 0);
    }

    void otherSessionsAreNotPaused() {
        const auto held = test::openDemo(kOptions), free = test::openDemo(kOptions);
        Running run(*held, false, 2);
        QVERIFY(QTest::qWaitFor([&] { return run.gate->closed(); }, 60000));
        QVERIFY(free->evaluate(test::demoConfig())->complete);
        QVERIFY(run.standsStill());
    }

    void backgroundEvaluationIsPaused() {
        const auto session = test::openDemo(kOptions);
        session->evaluate(test::demoConfig());
        Running run(*session, true, 4);
        QVERIFY(QTest::qWaitFor([&] { return run.gate->closed(); }, 60000));
        QVERIFY(run.standsStill());
        const int before = run.told;
        run.gate->open();
        QVERIFY(QTest::qWaitFor([&] { return run.told > before; }, 60000));
    }

    void tokensWithoutAGateAreNotPaused() {
        const CancelToken token;
        QVERIFY(!token.paused());
        token.check();
        token.cancel();
        QVERIFY_EXCEPTION_THROWN(token.check(), Cancelled);
        const auto gate = std::make_shared<PauseGate>();
        const CancelToken one(gate), other(gate);
        gate->close();
        one.cancel();
        QVERIFY(one.paused() && other.paused() && !other.cancelled());
        QVERIFY_EXCEPTION_THROWN(one.check(), Cancelled);  // at once, though the gate is closed
        gate->open();
        other.check();
    }
};

QTEST_GUILESS_MAIN(PauseTest)
#include "pause_test.moc"
