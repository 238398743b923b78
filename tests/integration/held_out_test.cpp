// SPDX-License-Identifier: Apache-2.0
// The result of a search, measured on samples that the search did not use.
#include <QtTest>

#include "base/error.h"
#include "search/tune.h"
#include "session/studies/search_context.h"
#include "support/tune_network.h"

using namespace quantloupe;
using namespace quantloupe::test;

class HeldOutTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void chosenPointIsEvaluatedOnOtherSamples() {
        const auto session = sessionOf(network(2, true), true, 300);
        TuneOptions options;
        options.maxDrop = 0.02;
        QVERIFY(!tuneOnPart(*session, coarse(), options).heldOut);
        const SampleSplit split = splitSamples(*session);
        const TuneResult found = tuneOnPart(*session, coarse(), options, {}, 300);
        QCOMPARE(found.samples, std::size_t(200));
        QVERIFY(found.heldOut && found.heldOut->samples == 100);
        QCOMPARE(session->sampleCount(), std::size_t(300));
        session->setData(split.heldOut, split.calibration);
        const EvaluationPtr measured = session->evaluate(found.curve[found.chosen].config, Depth::Accuracy);
        QCOMPARE(found.heldOut->metric, *measured->quantized->top1);
        QCOMPARE(found.heldOut->drop, *measured->floating->top1 - *measured->quantized->top1);
        QVERIFY(found.heldOut->dropInterval && found.heldOut->dropInterval->low <= found.heldOut->drop);
        QVERIFY(describe(found).find("on 100 samples that the search did not use: ") != std::string::npos);
    }

    void anUnreadableSampleLeavesTheResult() {
        class Damaged final : public DatasetView {
          public:
            using DatasetView::DatasetView;
            std::vector<SampleTensor> sample(std::size_t index) const override {
                if (index % 3 == 2) throw Error(ErrorKind::Io, "sample 2 is damaged");  // is not searched on
                return m_dataset->sample(index);
            }
        };
        const auto session = sessionOf(network(2, true), true, 300);
        const SampleSplit split = splitSamples(*session);
        session->setData(std::make_shared<Damaged>(split.all), split.calibration);
        TuneOptions options;
        options.maxDrop = 0.02;
        const TuneResult found = tuneOnPart(*session, coarse(), options, {}, 300);
        QVERIFY(!found.heldOut && !found.notices.empty());
        const std::string& notice = found.notices.back();
        QVERIFY2(notice.find("held-out samples: ") != std::string::npos && notice.ends_with("is damaged"),
                 notice.c_str());
    }

    void aCancelledSearchDoesNotEvaluateOtherSamples() {
        const auto session = sessionOf(network(2, true), true, 300);
        const CancelToken cancel;
        TuneOptions options;
        options.maxDrop = 0.02;
        options.progress = [&](const TuneProgress&) { cancel.cancel(); };
        const TuneResult stopped = tuneOnPart(*session, coarse(), options, cancel, 300);
        QCOMPARE(stopped.ended, TuneEnd::Cancelled);
        QVERIFY(!stopped.heldOut && !stopped.notices.empty());
        QVERIFY(stopped.notices.back().find("held-out samples") != std::string::npos);
        QCOMPARE(session->sampleCount(), std::size_t(300));
    }
};

QTEST_GUILESS_MAIN(HeldOutTest)
#include "held_out_test.moc"
