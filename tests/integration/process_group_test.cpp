// SPDX-License-Identifier: Apache-2.0
// Several processes that share the passes over the samples: all of them have the results of a single process,
// to the last bit, each computes only its share, and they end together if one of them fails.
#include <QTemporaryDir>
#include <QtTest>
#include <atomic>

#include "config/layer_choices.h"
#include "json_output.h"
#include "search/tune.h"
#include "session/stages/layer_metrics.h"
#include "session/studies/leave_one_out.h"
#include "support/demo.h"
#include "support/thread_group.h"
#include "support/tune_network.h"
#include "sweep_json.h"
#include "tune_json.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

/// Counts the samples that are decoded, or fails for some of them.
class Watched final : public Dataset {
  public:
    Watched(DatasetPtr data, std::function<void(std::size_t)> decoded)
        : m_data(std::move(data)), m_decoded(std::move(decoded)) {}
    std::size_t size() const override { return m_data->size(); }
    std::vector<SampleTensor> sample(std::size_t index) const override {
        m_decoded(index);
        return m_data->sample(index);
    }
    std::string sampleName(std::size_t index) const override { return m_data->sampleName(index); }
    std::optional<int> label(std::size_t index) const override { return m_data->label(index); }
    const std::vector<std::string>& classNames() const override { return m_data->classNames(); }
    std::string description() const override { return m_data->description(); }
    Version version() const override { return m_data->version(); }

  private:
    DatasetPtr m_data;
    std::function<void(std::size_t)> m_decoded;
};

OrderedJson withoutSeconds(OrderedJson json) {
    json.erase("seconds");
    return json;
}

std::string text(const Evaluation& evaluation) { return withoutSeconds(cli::toJson(evaluation)).dump(1); }

std::string text(const std::vector<LayerMetrics>& metrics) {
    std::string all;
    for (const LayerMetrics& layer : metrics)
        for (const auto& difference : {layer.local, layer.cumulative})
            all += difference ? cli::toJson(*difference).dump() + "\n" : layer.reason + "\n";
    return all;
}

/// 203 samples: the last chunk is not full, and the processes have different numbers of chunks.
std::unique_ptr<Session> openSmall(const SessionOptions& options, bool classes) {
    auto session = std::make_unique<Session>(network(7, classes), options);
    const DatasetPtr data = randomDataset(session->graph(), 203, 3);
    session->setData(data, randomDataset(session->graph(), 70, 4));
    return session;
}

/// Everything that a session computes from samples, for several configurations one after the other.
std::string everything(Session& session, const QuantizationConfig& start) {
    std::string all;
    std::vector<QuantizationConfig> configs(3, start);
    configs[1].calibration.method = CalibrationMethod::Percentile;
    configs[1].transforms.equalization.profile = EqualizationProfile::Aimet;
    configs[2].refine.biasCorrection = BiasCorrection::Empirical;
    configs.push_back(start);  // from the cache
    for (const QuantizationConfig& config : configs) {
        const EvaluationPtr evaluation = session.evaluate(config);
        all += text(*evaluation);
        std::vector<std::string> names;
        for (const LayerResult& layer : evaluation->layers)
            if (layer.state == LayerState::Quantized) names.push_back(layer.name);
        names.resize(std::min<std::size_t>(names.size(), 3));
        for (const std::string& name : names)
            all += text(*session.experiment(withLayersSkipped(config, {name}), Depth::Accuracy));
    }
    for (const AccuracyStep& step : session.accuracyPath(start))
        all += step.name + cli::toJson(step.accuracy, cli::Role::Quantized).dump(1);
    for (const MetricReference reference : {MetricReference::Prepared, MetricReference::Source}) {
        LayerMetricsOptions metrics;
        metrics.elementwise = true;
        metrics.reference = reference;
        all += text(measureLayers(session, configs[1], metrics));
    }
    return all;
}

}  // namespace

class ProcessGroupTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    /// Compares what `work` returns in one process and in each process of groups. The processes have
    /// different numbers of threads and different limits of memory.
    template <typename Open, typename Work>
    static void compare(const Open& open, const Work& work, std::initializer_list<std::size_t> sizes) {
        SessionOptions alone;
        alone.threads = 1;
        const auto session = open(alone);
        const std::string expected = work(*session);
        QVERIFY(expected.size() > 100);
        for (const std::size_t size : sizes) {
            Meeting meeting(size);
            const auto found = inGroup(meeting, [&](const std::shared_ptr<ProcessGroup>& group) {
                SessionOptions options;
                options.threads = group->rank() == 0 ? 2 : 1;
                options.memory = std::size_t{64} << 20;
                options.group = group;
                const auto own = open(options);
                return work(*own);
            });
            QVERIFY(meeting.count() > 10);
            for (const std::string& one : found)
                QVERIFY2(one == expected,
                         (std::to_string(size) + " processes: " + one.substr(0, 300)).c_str());
        }
    }

  private Q_SLOTS:
    void resultsEqualThoseOfOneProcess_data() {
        QTest::addColumn<bool>("classes");
        QTest::newRow("classes") << true;
        QTest::newRow("image") << false;
    }
    void resultsEqualThoseOfOneProcess() {
        QFETCH(bool, classes);
        compare([&](const SessionOptions& options) { return openSmall(options, classes); },
                [](Session& session) { return everything(session, coarse()); }, {2, 3, 40});
    }

    void resultsOfTheDemoEqualThoseOfOneProcess() {
        compare(
            [](SessionOptions options) {
                options.samples = 36;
                return openDemo(options);
            },
            [](Session& session) {
                return text(*session.evaluate(demoConfig())) +
                       text(*session.experiment(
                           withLayersSkipped(demoConfig(), {"/features/features.0/features.0.0/Conv"}),
                           Depth::Accuracy));
            },
            {2});
    }

    void searchesFindTheSameResult_data() { resultsEqualThoseOfOneProcess_data(); }
    void searchesFindTheSameResult() {
        QFETCH(bool, classes);
        compare([&](const SessionOptions& options) { return openSmall(options, classes); },
                [](Session& session) {
                    TuneOptions options;
                    options.maxDrop = 0.05;
                    options.precisions = {Precision::integer(8, 8)};
                    options.maxSeconds = 1e6;  // each process asks the first one for the time
                    OrderedJson sweep = cli::toJson(leaveOneOut(session, coarse(), {0, {}}), session.graph());
                    return cli::toJson(tune(session, coarse(), options)).dump(1) + sweep.dump(1);
                },
                {2});
    }

    void searchesContinueWithTheMeasurementsOfTheFirstProcess() {
        const auto search = [&](const std::shared_ptr<ProcessGroup>& group, bool reuse, std::size_t steps) {
            SessionOptions options;
            options.group = group;
            options.threads = 1;
            const auto session = openSmall(options, true);
            TuneOptions tuning;
            tuning.maxDrop = 0.05;
            tuning.maxSteps = steps;
            tuning.reuse = reuse;
            // Only the first process has the file.
            const bool first = group == nullptr || group->rank() == 0;
            tuning.measurements = m_folder.filePath(first ? "first.json" : "other.json").toStdString();
            const TuneResult result = tune(*session, coarse(), tuning);
            OrderedJson json = cli::toJson(result);
            json["curve"] = json["curve"].size();
            return json;
        };
        Meeting before(2), again(2), later(2);
        const auto steps = inGroup(before, [&](const auto& group) { return search(group, false, 1).dump(); });
        QCOMPARE(steps[0], steps[1]);
        QVERIFY(QFile::exists(m_folder.filePath("first.json")));
        QVERIFY(!QFile::exists(m_folder.filePath("other.json")));
        const auto repeated =
            inGroup(again, [&](const auto& group) { return search(group, false, 1).dump(); });
        QCOMPARE(repeated[1], steps[0]);  // nothing was reused
        const auto continued =
            inGroup(later, [&](const auto& group) { return search(group, true, 0).dump(); });
        QCOMPARE(continued[0], continued[1]);
        OrderedJson found = OrderedJson::parse(continued[0]), alone = search(nullptr, true, 0);
        QVERIFY(found["reused"].get<int>() >= 5);
        QVERIFY(found["evaluations"].get<int>() > 1);
        QVERIFY(alone["reused"].get<int>() > found["reused"].get<int>());
        for (const char* key : {"cost", "drop", "layers", "chosen", "curve"})
            QCOMPARE(found[key].dump(), alone[key].dump());
    }

    void eachProcessComputesItsShare() {
        std::vector<std::atomic<std::size_t>> decoded(2);
        std::vector<std::size_t> calibrated(2);
        Meeting meeting(2);
        const auto found = inGroup(meeting, [&](const std::shared_ptr<ProcessGroup>& group) {
            const std::size_t rank = group->rank();
            SessionOptions options;
            options.group = group;
            options.threads = 2;
            Session session(network(7, true), options);
            const auto counting = [&](std::size_t) { ++decoded[rank]; };
            session.setData(
                std::make_shared<Watched>(randomDataset(session.graph(), 200, 3), counting),
                std::make_shared<Watched>(randomDataset(session.graph(), 100, 4), [&, rank](std::size_t) {
                    static std::mutex mutex;
                    const std::lock_guard lock(mutex);
                    ++calibrated[rank];
                }));
            session.evaluate(coarse());
            return session.activationBytes() > 0 ? "stored" : "not stored";
        });
        for (std::size_t rank = 0; rank < 2; ++rank) {
            QCOMPARE(found[rank], std::string("stored"));
            // Besides 12 or 13 of the 25 chunks of 8, a process looks at the first sample.
            QVERIFY2(decoded[rank] >= 96 && decoded[rank] <= 110, std::to_string(decoded[rank]).c_str());
            QVERIFY2(calibrated[rank] >= 44 && calibrated[rank] <= 58,
                     std::to_string(calibrated[rank]).c_str());
        }
    }

    void anUnreadableSampleEndsAllProcesses() {
        Meeting meeting(3);
        const auto found = inGroup(meeting, [&](const std::shared_ptr<ProcessGroup>& group) {
            SessionOptions options;
            options.group = group;
            options.threads = 1;
            Session session(network(7, true), options);
            session.setData(std::make_shared<Watched>(randomDataset(session.graph(), 200, 3),
                                                      [rank = group->rank()](std::size_t index) {
                                                          if (rank == 1 && index > 150)
                                                              failInput("sample {} is damaged", 151);
                                                      }),
                            randomDataset(session.graph(), 32, 4));
            session.evaluate(coarse());
            return std::string();
        });
        QCOMPARE(found[1], std::string("error: the model: sample 151 is damaged"));
        QCOMPARE(found[0], std::string("error: the model: process 1: sample 151 is damaged"));
        QCOMPARE(found[2], found[0]);
    }

    /// One process cannot even start, for example because its machine does not have the file.
    void lostProcessEndsTheOthers() {
        Meeting meeting(2);
        const auto found = inGroup(meeting, [&](const std::shared_ptr<ProcessGroup>& group) {
            if (group->rank() == 1) failInput("there is no file 'm.onnx'");
            SessionOptions options;
            options.group = group;
            const auto session = openSmall(options, true);
            session->evaluate(coarse());
            return std::string();
        });
        QCOMPARE(found[1], std::string("error: there is no file 'm.onnx'"));
        QVERIFY2(QString::fromStdString(found[0]).endsWith("process 1: there is no file 'm.onnx'"),
                 found[0].c_str());
    }

    void differentWorkIsAnError() {
        Meeting meeting(2);
        const auto found = inGroup(meeting, [&](const std::shared_ptr<ProcessGroup>& group) {
            SessionOptions options;
            options.group = group;
            const auto session = openSmall(options, true);
            session->evaluate(coarse(), Depth::Accuracy);
            if (group->rank() == 1) session->evaluate(coarse(4), Depth::Accuracy);
            return std::string();
        });
        QVERIFY2(QString::fromStdString(found[1]).contains("do different work at the step 'outputs'"),
                 found[1].c_str());
    }
};

QTEST_GUILESS_MAIN(ProcessGroupTest)
#include "process_group_test.moc"
