// SPDX-License-Identifier: Apache-2.0
// Rapid random edits, cancellations, openings and closings, faster than the engine can process them. Results
// of older requests must never be shown, a cancellation must return soon, and the final numbers must equal
// those of a fresh session.
//
// QUANTLOUPE_STORM_EDITS: number of steps, default 100. QUANTLOUPE_STORM_SEED: seed of the steps; their
// timing relative to the engine's threads still differs between runs.
#include <fmt/format.h>

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>
#include <random>

#include "config/config_json.h"
#include "document/document.h"
#include "storm_numbers.h"
#include "support/demo.h"
#include "support/random_seed.h"
#include "ui_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr double kSlower = 20;
#else
constexpr double kSlower = 1;
#endif
constexpr double kCancelBound = 2 * kSlower;  // seconds
constexpr int kPatience = 300000;             // milliseconds, for operations without their own time limit

/// Durations of one kind, printed at the end.
class Durations {
  public:
    void add(double seconds) { m_seconds.push_back(seconds); }
    double longest() const { return m_seconds.empty() ? 0 : *std::ranges::max_element(m_seconds); }
    std::string text() const {
        if (m_seconds.empty()) return "none";
        std::vector<double> sorted = m_seconds;
        std::ranges::sort(sorted);
        return fmt::format("{} times, median {:.1f} ms, longest {:.1f} ms", sorted.size(),
                           1e3 * sorted[sorted.size() / 2], 1e3 * sorted.back());
    }

  private:
    std::vector<double> m_seconds;
};

double secondsOf(const QElapsedTimer& clock) { return static_cast<double>(clock.nsecsElapsed()) / 1e9; }

}  // namespace

class StormTest : public QObject {
    Q_OBJECT

  private:
    // --- random actions
    // ----------------------------------------------------------------------------------------------
    int below(int end) { return std::uniform_int_distribution(0, end - 1)(m_random); }
    bool chance(int percent) { return below(100) < percent; }

    /// Mostly nothing or little, sometimes as long as a whole evaluation takes, unless a sanitizer makes that
    /// very long.
    void pause() {
        if (chance(40)) return;  // the next step comes before any answer
        const double part = std::pow(std::uniform_real_distribution(0.0, 1.0)(m_random), 6.0);
        QTest::qWait(static_cast<int>(1e3 * std::min(m_evaluationSeconds, 3.0) * part));
    }

    QuantizationConfig changedConfig() {
        QuantizationConfig next = m_document->config();
        switch (below(8)) {
            case 0:
            case 1:
                next.quantization.weight.bits = 4 + below(5);
                break;
            case 2:
            case 3:
                next.transforms.equalization.profile =
                    chance(50) ? EqualizationProfile::Aimet : EqualizationProfile::Off;
                next.transforms.equalization.steps = 1 + below(2);
                break;
            case 4:
                next.transforms.highBiasFold = !next.transforms.highBiasFold;
                break;
            case 5:
                next.quantization.weight.perChannel = !next.quantization.weight.perChannel;
                break;
            case 6:
                next.calibration.samples = 2 + below(3);
                break;
            default:
                next.skipTail = !next.skipTail;
                break;
        }
        return next;
    }

    /// If a broken model replaces one that is still loading, no model remains.
    void waitForModel() {
        const auto idle = [&] { return m_document->hasModel() || !m_document->job()->busy(); };
        QVERIFY(QTest::qWaitFor(idle, kPatience));
        if (m_document->hasModel()) return;
        openDemo();
        QVERIFY(QTest::qWaitFor([&] { return m_document->hasModel(); }, kPatience));
    }

    void edit() {
        waitForModel();
        QUndoStack& undo = *m_document->undoStack();
        const int kind = below(100);
        if (kind < 20 && undo.canUndo()) return undo.undo();
        if (kind < 35 && undo.canRedo()) return undo.redo();
        if (kind < 60) {
            m_document->edit(
                {changedConfig(), QStringLiteral("Change"), {}, chance(50) ? kMergeWeightBits : -1});
            return;
        }
        std::vector<NodeId> nodes;
        for (int i = 0; i <= below(3); ++i)
            nodes.emplace_back(
                static_cast<std::size_t>(below(static_cast<int>(m_document->graph()->nodeCount()))));
        m_document->select(nodes, nodes.front());
        m_document->toggleSelection();
    }

    void cancel() {
        const bool timed = m_engineAnswers && m_document->evaluating();
        QElapsedTimer clock;
        clock.start();
        m_dataCancelled = m_dataCancelled || !m_document->data();
        m_document->cancel();
        if (chance(50)) return m_document->evaluate();  // before the engine has noticed
        if (!timed) return;
        QVERIFY(QTest::qWaitFor([&] { return !m_document->job()->busy(); }, kPatience));
        m_cancels.add(secondsOf(clock));
        QVERIFY(!m_document->evaluating());
    }

    void openModel() {
        m_engineAnswers = false;
        switch (below(4)) {
            case 0:
                return m_document->open({m_chain, {}, {}, {}});
            case 1:
                m_expectedFailures++;
                return m_document->open({m_broken, {}, {}, {}});
            default:
                return openDemo();
        }
    }

    void openDemo() {
        m_dataCancelled = false;
        m_document->open(m_demo);
    }

    void close() {
        const bool timed = m_engineAnswers && m_document->evaluating();
        QElapsedTimer clock;
        clock.start();
        m_document.reset();
        if (timed) m_closings.add(secondsOf(clock));
        openDocument();
    }

    void resizeBoxes() {
        m_boxWidth = 120 + below(80);
        m_document->setLayoutOptions(boxes());
    }

    void openDocument() {
        m_document = std::make_unique<Document>();
        m_engineAnswers = m_finished = false;
        m_boxWidth = LayoutOptions{}.nodeWidth;
        watch();
        openDemo();
    }

    // --- invariants
    // ------------------------------------------------------------------------------------------------
    void complain(std::string text) {
        if (m_complaints.size() < 20) m_complaints.push_back(fmt::format("step {}: {}", m_step, text));
    }

    void watch() {
        const Document& document = *m_document;
        connect(m_document->job(), &EvaluationJob::evaluated, this,
                [this, &document](const EvaluationPtr& shown) {
                    m_engineAnswers = true;
                    ++m_snapshots;
                    if (shown->config != document.config())
                        complain("the numbers of another configuration are shown");
                    if (shown->layers.size() != document.graph()->nodeCount())
                        complain("the numbers of another model are shown");
                    if (m_finished) complain("a snapshot comes after the last one");
                });
        connect(m_document.get(), &Document::evaluationFinished, this, [this, &document] {
            m_finished = true;
            ++m_completed;
            if (document.evaluating() || document.metricsStale() || document.accuracyStale())
                complain("numbers that are complete pass for old ones");
            if (!document.evaluation()->complete) complain("the last snapshot is not complete");
        });
        const auto another = [this] { m_finished = false; };
        connect(m_document.get(), &Document::modelChanged, this, another);
        connect(m_document.get(), &Document::dataChanged, this, another);
        connect(m_document.get(), &Document::configChanged, this, another);
        connect(m_document.get(), &Document::evaluationChanged, this, [this, &document] {
            if (document.evaluating()) m_finished = false;  // asked for again
        });
        connect(m_document.get(), &Document::pictureChanged, this, [this, &document] {
            ++m_pictures;
            const Picture wanted = describePicture(*document.graph(), boxes());
            if (document.picture()->nodes.size() != wanted.nodes.size())
                complain("the picture of another model is shown");
            if (document.picture()->nodes[1].box.width != wanted.nodes[1].box.width)
                complain("an older picture is shown");
        });
        connect(m_document.get(), &Document::failed, this, [this](const Failure& failure) {
            if (failure.during == Failure::During::Loading && failure.text.contains("broken.onnx") &&
                m_expectedFailures-- > 0)
                return;
            if (failure.during == Failure::During::Data && m_dataCancelled) return;
            complain("failed: " + failure.text.toStdString());
        });
    }

    /// Waits until all requested results are available, requests cancelled ones again, and compares with a
    /// new session that computes the same without cached results.
    void settle() {
        waitForModel();
        QVERIFY(QTest::qWaitFor([&] { return !m_document->job()->busy(); }, kPatience));
        QVERIFY(!m_document->evaluating());
        QVERIFY(m_document->model()->path != m_demo.model || m_document->data() || m_dataCancelled);
        if (!m_document->evaluation() || !m_document->evaluation()->complete || m_document->metricsStale()) {
            m_document->evaluate();
            QVERIFY(QTest::qWaitFor([&] { return !m_document->job()->busy(); }, kPatience));
            QVERIFY(!m_document->evaluating());
        }
        const EvaluationPtr shown = m_document->evaluation();
        QVERIFY(shown && shown->complete);
        QVERIFY(shown->config == m_document->config());
        const auto fresh = m_document->data()
                               ? test::openSession(m_demo.model, m_demo.data, m_demo.calibration)
                               : std::make_unique<Session>(*m_document->model());
        if (!m_document->data()) fresh->useRandomInputs();
        const EvaluationPtr wanted = fresh->evaluate(m_document->config(), Depth::Metrics);
        const std::string difference =
            test::firstDifference(test::numbersOf(*shown), test::numbersOf(*wanted));
        QVERIFY2(difference.empty(), (difference + "\n" + configToJson(shown->config)).c_str());
        ++m_compared;
    }

    /// A few samples of the demo's data: whole networks in a fraction of a second.
    void copySamples(const std::filesystem::path& from, const std::filesystem::path& to,
                     std::size_t most) const {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(from)) files.push_back(entry.path());
        std::ranges::sort(files);
        std::filesystem::create_directories(to);
        for (std::size_t i = 0; i < std::min(most, files.size()); ++i)
            std::filesystem::copy_file(files[i], to / files[i].filename());
    }

  private Q_SLOTS:
    void initTestCase() {
        const std::filesystem::path folder = m_folder.path().toStdString();
        for (const auto& entry : std::filesystem::directory_iterator(test::demoFolder() / "val"))
            if (entry.is_directory()) copySamples(entry.path(), folder / "val" / entry.path().filename(), 1);
        copySamples(test::demoFolder() / "calibration", folder / "calibration", 4);
        m_demo.model = test::demoFolder() / "mobilenetv2_cifar10.onnx";
        m_demo.data = folder / "val";
        m_demo.calibration = folder / "calibration";
        m_demo.config = test::demoFolder() / "demo.config.json";
        m_demo.ownConfig = false;
        m_chain = test::writeModel(m_folder);
        m_broken = folder / "broken.onnx";
        std::filesystem::copy_file(m_demo.config, m_broken);

        bool given = false;
        const int edits = qEnvironmentVariableIntValue("QUANTLOUPE_STORM_EDITS", &given);
        if (given) m_steps = edits;
        m_random.seed(test::randomSeed());
        qInfo("%d steps", m_steps);
    }

    void finalResultsEqualThoseOfAFreshSession() {
        openDocument();
        QSignalSpy finished(m_document.get(), &Document::evaluationFinished);
        QVERIFY(finished.wait(kPatience));
        m_evaluationSeconds = finished.at(0).at(0).toDouble();

        for (m_step = 0; m_step < m_steps && !QTest::currentTestFailed(); ++m_step) {
            const int kind = below(1000);
            if (kind < 780)
                edit();
            else if (kind < 900)
                cancel();
            else if (kind < 940)
                resizeBoxes();
            else if (kind < 960)
                openModel();
            else if (kind < 985)
                close();
            else
                settle();
            pause();
        }
        if (QTest::currentTestFailed()) return;

        if (!m_document->data()) {
            QVERIFY(QTest::qWaitFor([&] { return !m_document->job()->busy(); }, kPatience));
            openDemo();
            QVERIFY(QTest::qWaitFor([&] { return m_document->data().has_value(); }, kPatience));
        }
        edit();
        settle();
        if (QTest::currentTestFailed()) return;
        edit();
        m_document.reset();

        qInfo("one evaluation from nothing: %.0f ms", 1e3 * m_evaluationSeconds);
        qInfo("%d snapshots shown, %d evaluations completed, %d compared with a fresh session, %d pictures",
              m_snapshots, m_completed, m_compared, m_pictures);
        qInfo("cancelled: %s", m_cancels.text().c_str());
        qInfo("closed while evaluating: %s", m_closings.text().c_str());
        for (const std::string& complaint : m_complaints) qWarning("%s", complaint.c_str());
        QVERIFY(m_complaints.empty());
        QVERIFY(m_snapshots > m_completed && m_completed > 0 && m_pictures > 0);
        QVERIFY(m_cancels.longest() < kCancelBound);
        QVERIFY(m_closings.longest() < kCancelBound);
    }

  private:
    QTemporaryDir m_folder;
    OpenRequest m_demo;
    std::filesystem::path m_chain, m_broken;
    int m_steps = 100, m_step = 0;
    std::mt19937 m_random;
    double m_evaluationSeconds = 0;

    std::unique_ptr<Document> m_document;
    bool m_engineAnswers = false;  ///< nothing but evaluations is ahead in the engine's queue
    bool m_finished = false;       ///< what was asked for last is complete
    bool m_dataCancelled = false;  ///< of the demo that was opened last
    LayoutOptions boxes() const {
        LayoutOptions options;
        options.nodeWidth = m_boxWidth;
        options.nodeHeight = 40;
        return options;
    }
    double m_boxWidth = 0;
    int m_expectedFailures = 0, m_snapshots = 0, m_completed = 0, m_compared = 0, m_pictures = 0;
    Durations m_cancels, m_closings;
    std::vector<std::string> m_complaints;
};

QTEST_MAIN(StormTest)
#include "storm_test.moc"
