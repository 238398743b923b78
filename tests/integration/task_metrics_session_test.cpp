// SPDX-License-Identifier: Apache-2.0
// Detection and segmentation in a session: the metric of evaluations, comparisons, leave-one-out and the
// search. The labels are what the float network itself finds, so its metric is exactly 1.
#include <fmt/ranges.h>

#include <QDir>
#include <QImage>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "analysis/box_decoders.h"
#include "analysis/class_results.h"
#include "analysis/segmentation_metrics.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "config/layer_choices.h"
#include "data/labeled_dataset.h"
#include "search/accuracy_check.h"
#include "search/tune.h"
#include "session/stages/sample_divergence.h"
#include "session/studies/compare_configs.h"
#include "session/studies/leave_one_out.h"
#include "session/studies/skip_groups.h"
#include "session/studies/task_predictions.h"
#include "support/text_model.h"

using namespace quantloupe;
using namespace quantloupe::test;
using Json = nlohmann::json;

namespace {

constexpr std::size_t kSamples = 24;

/// A sine pattern for each sample.
class Waves final : public Dataset {
  public:
    std::size_t size() const override { return kSamples; }
    std::vector<SampleTensor> sample(std::size_t index) const override {
        SampleTensor tensor{DataType::Float32, {1, 10, 10}, std::vector<std::byte>(100 * sizeof(float))};
        for (std::size_t i = 0; i < 100; ++i) {
            const auto value = static_cast<float>(
                std::sin(0.37 * static_cast<double>(i * (index + 3)) + static_cast<double>(index)));
            std::memcpy(tensor.bytes.data() + i * sizeof value, &value, sizeof value);
        }
        return {tensor};
    }
    std::string sampleName(std::size_t index) const override { return "row " + std::to_string(index); }
    std::optional<int> label(std::size_t) const override { return {}; }
    const std::vector<std::string>& classNames() const override { return m_none; }
    std::string description() const override { return "24 waves"; }
    Version version() const override { return {}; }

  private:
    std::vector<std::string> m_none;
};

/// "{0.31, -0.2, ...}".
std::string numbers(int count, int seed) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
        text += (i == 0 ? "" : ",") + std::to_string(std::sin(1.7 * (i + 1) * seed) * 1.5);
    return text + "}";
}

const std::string kTrunk =
    "<float[4,1,3,3] A = " + numbers(36, 3) + ", float[7,4,3,3] B = " + numbers(252, 5) +
    ", int64[3] rows = {0, 7, 100}, int64[2] flat = {7, 100}, int64[2] corners = {0, 0}";
const std::string kConvolutions = R"(
    a = Conv<pads = [1, 1, 1, 1]>(X, A)
    b = Relu(a)
    c = Conv<pads = [1, 1, 1, 1]>(b, B)
)";

LoadedModel model(const std::string& body) {
    return textModel("<ir_version: 8, opset_import: [\"\" : 13]> net " + body);
}

/// RT-DETR of Ultralytics: 100 normalized boxes with the scores of three classes.
LoadedModel detector() {
    return model("(float[N,1,10,10] X) => (float[N,100,7] detections)" + kTrunk + "> {" + kConvolutions + R"(
        d = Reshape(c, rows)
        e = Transpose<perm = [0, 2, 1]>(d)
        detections = Sigmoid(e)
    })");
}

/// torchvision: the number of boxes depends on the image.
LoadedModel detectorWithSelection() {
    return model("(float[1,1,10,10] X) => (float[K,4] boxes, float[K] scores, int64[K] labels)" + kTrunk +
                 R"(, int64[1] zero = {0}, int64[1] two = {2}, int64[1] four = {4}, int64[1] seven = {7},
                    int64[1] one = {1}, int64[1] any = {-1}, float five = {5}, float half = {0.5}> {)" +
                 kConvolutions + R"(
        d = Reshape(c, flat)
        e = Transpose<perm = [1, 0]>(d)
        y = Sigmoid(e)
        corner = Slice(y, zero, two, one)
        size = Slice(y, two, four, one)
        low = Mul(corner, five)
        part = Mul(size, five)
        extent = Add(part, half)
        high = Add(low, extent)
        all = Concat<axis = 1>(low, high)
        classes = Slice(y, four, seven, one)
        best = ReduceMax<axes = [1], keepdims = 0>(classes)
        which = ArgMax<axis = 1, keepdims = 0>(classes)
        sure = Greater(best, half)
        found = NonZero(sure)
        index = Reshape(found, any)
        boxes = Gather(all, index)
        scores = Gather(best, index)
        labels = Gather(which, index)
    })");
}

LoadedModel segmentation(bool indices) {
    const std::string output = indices ? "int64[N,10,10] classes" : "float[N,7,10,10] classes";
    return model("(float[N,1,10,10] X) => (" + output + ")" + kTrunk + "> {" + kConvolutions +
                 (indices ? "classes = ArgMax<axis = 1, keepdims = 0>(c)" : "classes = Identity(c)") + "}");
}

/// What the float network finds in each sample, in pixels of the input.
std::vector<std::vector<Detection>> foundByFloat(const LoadedModel& loaded) {
    Session session(loaded);
    const auto waves = std::make_shared<Waves>();
    session.setData(
        withTask(waves, {.task = Task::Detection, .labels = {}, .classNames = {}, .decoder = {}}, {}), waves);
    std::vector<std::vector<Detection>> found;
    for (std::size_t s = 0; s < kSamples; ++s)
        found.push_back(
            taskPredictions(session, {}, findSample(session, "row " + std::to_string(s)), 10, 10).floating);
    return found;
}

/// Categories have the ids 2, 5 and 9, so that class k is not the id k.
void writeCoco(const std::vector<std::vector<Detection>>& found, const std::filesystem::path& path) {
    const int ids[] = {2, 5, 9};
    Json json = {{"images", Json::array()}, {"annotations", Json::array()}, {"categories", Json::array()}};
    for (const int id : ids)
        json["categories"].push_back({{"id", id}, {"name", "class " + std::to_string(id)}});
    for (std::size_t s = 0; s < found.size(); ++s) {
        json["images"].push_back(
            {{"id", s + 1}, {"file_name", std::to_string(s) + ".png"}, {"width", 10}, {"height", 10}});
        for (const Detection& d : found[s])
            json["annotations"].push_back({{"id", json["annotations"].size() + 1},
                                           {"image_id", s + 1},
                                           {"category_id", ids[d.category]},
                                           {"bbox", {d.x, d.y, d.width, d.height}}});
    }
    writeFileAtomically(path, json.dump());
}

QuantizationConfig fourBits() {
    QuantizationConfig config;
    config.quantization.weight.bits = 4;
    return config;
}

DatasetPtr labeled(const std::filesystem::path& labels) {
    TaskSettings settings;
    settings.labels = labels;
    return withTask(std::make_shared<Waves>(), settings, {});
}

}  // namespace

class TaskMetricsSessionTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path path(const char* name) const { return m_folder.filePath(name).toStdString(); }

    std::unique_ptr<Session> detection() const {
        writeCoco(foundByFloat(detector()), path("labels.json"));
        auto session = std::make_unique<Session>(detector());
        session->setData(labeled(path("labels.json")), std::make_shared<Waves>());
        return session;
    }

  private Q_SLOTS:
    void detectionIsEvaluated() {
        const auto session = detection();
        const EvaluationPtr result = session->evaluate(fourBits());
        QCOMPARE(*result->floating->map, 1.0);
        QCOMPARE(*result->floating->map50, 1.0);
        QVERIFY(*result->prepared->map > 0.99);
        const double map = *result->quantized->map;
        QVERIFY2(map > 0.05 && map < 0.999, QByteArray::number(map));
        QVERIFY(*result->quantized->map50 >= map);
        QVERIFY(!result->quantized->agreement && !result->quantized->top1);
        QVERIFY(result->classes->empty());
        const std::string notices = fmt::format("{}", fmt::join(result->notices, "\n"));
        QVERIFY2(notices.find("'detections' 100×7 as rt-detr") != std::string::npos, notices.c_str());
        QVERIFY(notices.find("class k is the k-th of 3 categories") != std::string::npos);

        const ClassResults classes = classResults(*result);
        QCOMPARE(classes.metric, "ap");
        double mean = 0;
        std::size_t boxes = 0;
        for (const ClassResult& one : classes.classes) {
            QCOMPARE(one.floating, 1.0);
            mean += one.quantized / static_cast<double>(classes.classes.size());
            boxes += one.labels;
        }
        QVERIFY(std::abs(mean - map) < 1e-12);
        QCOMPARE(boxes, 100 * kSamples);
        QCOMPARE(classes.classes[0].name, "class 2");
        QVERIFY(!session->accuracyPath(fourBits()).back().accuracy.top1);
        QCOMPARE(*session->accuracyPath(fourBits()).back().accuracy.map, map);
    }

    /// The same metric with one layer (and the layers that pass its scale on) in float, whether evaluated as
    /// a configuration or by leave-one-out.
    void metricDrivesLeaveOneOut() {
        const auto session = detection();
        const EvaluationPtr base = session->evaluate(fourBits(), Depth::Accuracy);
        const LayerSweep sweep = leaveOneOut(*session, fourBits());
        QCOMPARE(sweep.metric, "map");
        QCOMPARE(sweep.baseline, *base->quantized->map);
        QVERIFY(sweep.layers.size() >= 2);
        const auto groups = skipGroups(*session, fourBits());
        std::size_t compared = 0;
        for (const LayerEffect& layer : sweep.layers) {
            for (const SkipGroup& group : groups)
                if (group.owner == layer.node) {
                    const EvaluationPtr own =
                        session->evaluate(withLayersSkipped(fourBits(), group.layers), Depth::Accuracy);
                    QCOMPARE(layer.value, *own->quantized->map);
                    ++compared;
                }
            QVERIFY(layer.paired && layer.paired->graded);
            QCOMPARE(layer.paired->difference, layer.change);
            QVERIFY(layer.paired->low <= layer.change && layer.change <= layer.paired->high);
        }
        QCOMPARE(compared, groups.size());
    }

    void metricDrivesTuneAndCheck() {
        const auto session = detection();
        const EvaluationPtr base = session->evaluate(fourBits(), Depth::Accuracy);
        const AccuracyCheck check = checkAccuracy(*base, 0.01);
        QCOMPARE(check.metric, "map");
        QCOMPARE(check.drop, 1 - *base->quantized->map);
        QVERIFY(!check.passed);
        QVERIFY(check.dropInterval && check.dropInterval->low <= check.drop &&
                check.drop <= check.dropInterval->high);
        TuneOptions options;
        options.maxDrop = check.drop / 2;
        const TuneResult tuned = tune(*session, fourBits(), options);
        QCOMPARE(tuned.metric, "map");
        QVERIFY(tuned.reached);
        QVERIFY(tuned.curve[tuned.chosen].drop <= options.maxDrop + 1e-9);
        QCOMPARE(tuned.curve[tuned.chosen].drop, 1 - *tuned.curve[tuned.chosen].accuracy.map);
    }

    void configurationsAreCompared() {
        const auto session = detection();
        const ConfigComparison comparison = compareConfigs(*session, fourBits(), {});
        QVERIFY(comparison.paired->graded);
        QVERIFY2(comparison.paired->difference > 0, comparison.text.c_str());
        QCOMPARE(comparison.fixed.size(), comparison.paired->fixed);
        QVERIFY(comparison.text.find("better") != std::string::npos);
        const FlippedSamples changed = flippedSamples(*session, fourBits());
        QVERIFY(!changed.samples.empty());
        for (std::size_t i = 0; i < changed.samples.size(); ++i) {
            const FlippedSample& sample = changed.samples[i];
            QCOMPARE(*sample.floatScore, 1.0);
            QVERIFY(*sample.quantizedScore < 1);
            if (i > 0) QVERIFY(*sample.quantizedScore >= *changed.samples[i - 1].quantizedScore);
        }
    }

    /// A network whose last operators run image by image is judged by its own outputs, too.
    void networksWithSelectionAreEvaluated() {
        writeCoco(foundByFloat(detectorWithSelection()), path("selected.json"));
        TaskSettings settings;
        settings.labels = path("selected.json");
        settings.categories = CategoryIndex::Position;
        Session session(detectorWithSelection());
        session.setData(withTask(std::make_shared<Waves>(), settings, {}), std::make_shared<Waves>());
        const EvaluationPtr result = session.evaluate(fourBits());
        QVERIFY(!result->unevaluated.empty());
        QCOMPARE(*result->floating->map, 1.0);
        QVERIFY2(*result->quantized->map > 0.05 && *result->quantized->map < 0.999,
                 QByteArray::number(*result->quantized->map));
    }

    void segmentationIsEvaluated_data() {
        QTest::addColumn<bool>("indices");
        QTest::newRow("channels") << false;
        QTest::newRow("class indices") << true;
    }
    void segmentationIsEvaluated() {
        QFETCH(bool, indices);
        Session plain(segmentation(false));
        plain.setData(std::make_shared<Waves>(), std::make_shared<Waves>());
        const std::vector<ConstantPtr> outputs = plain.outputs(std::nullopt);
        const QString folder = m_folder.filePath(indices ? "indices" : "channels");
        QDir().mkpath(folder);
        for (std::size_t s = 0; s < kSamples; ++s) {
            const LabelImage map =
                predictedClasses({{7, 10, 10}, outputs[0]->floats().subspan(s * 700, 700)});
            QImage image(10, 10, QImage::Format_Grayscale8);
            for (int y = 0; y < 10; ++y)
                for (int x = 0; x < 10; ++x)
                    image.scanLine(y)[x] =
                        static_cast<uchar>(map.classes[static_cast<std::size_t>(y * 10 + x)]);
            image.scanLine(0)[0] = 255;  // does not count
            QVERIFY(image.save(folder + QStringLiteral("/%1.png").arg(s, 3, 10, QLatin1Char('0'))));
        }
        Session session(segmentation(indices));
        session.setData(labeled(folder.toStdString()), std::make_shared<Waves>());
        const EvaluationPtr result = session.evaluate(fourBits());
        QCOMPARE(*result->floating->miou, 1.0);
        QCOMPARE(*result->floating->pixelAccuracy, 1.0);
        QVERIFY2(*result->quantized->miou > 0.2 && *result->quantized->miou < 0.999,
                 QByteArray::number(*result->quantized->miou));
        QVERIFY(*result->quantized->pixelAccuracy < 1);
        const ClassResults classes = classResults(*result);
        QCOMPARE(classes.metric, "iou");
        std::size_t pixels = 0;
        for (const ClassResult& one : classes.classes) pixels += one.labels;
        QCOMPARE(pixels, 99 * kSamples);
        QCOMPARE(leaveOneOut(session, fourBits()).metric, "miou");
    }

    /// 9 × 6 is a YOLOv8 head of five classes on 10 × 10 pixels, or of one class with four other values.
    void classesBeyondTheCategoriesAreRefused() {
        const LoadedModel head =
            model("(float[N,1,10,10] X) => (float[N,9,6] y) <float[9,1,10,5] A = " + numbers(450, 3) +
                  R"(, int64[3] rows = {0, 9, 6}> {
            a = Conv(X, A)
            y = Reshape(a, rows)
        })");
        Json json = {
            {"images", Json::array()}, {"annotations", Json::array()}, {"categories", Json::array()}};
        for (std::size_t s = 0; s < kSamples; ++s)
            json["images"].push_back(
                {{"id", s + 1}, {"file_name", std::to_string(s) + ".png"}, {"width", 10}, {"height", 10}});
        json["annotations"].push_back({{"image_id", 1}, {"category_id", 1}, {"bbox", {1, 1, 5, 5}}});
        const auto outcome = [&](std::vector<int> ids) {
            json["categories"] = Json::array();
            for (const int id : ids) json["categories"].push_back({{"id", id}, {"name", std::to_string(id)}});
            writeFileAtomically(path("head.json"), json.dump());
            Session session(head);
            TaskSettings settings;
            settings.labels = path("head.json");
            settings.decoder = "yolov8";
            session.setData(withTask(std::make_shared<Waves>(), settings, {}), std::make_shared<Waves>());
            try {
                return QString(session.evaluate({}, Depth::Accuracy)->floating->map ? "mAP" : "no mAP");
            } catch (const Error& error) {
                return QString(error.what());
            }
        };
        QVERIFY2(outcome({1}).contains("has 5 classes, but the labels have 1"), qPrintable(outcome({1})));
        QVERIFY(outcome({1, 2, 3, 4}).contains("has 5 classes, but the labels have 4"));
        QCOMPARE(outcome({1, 2, 3, 4, 90}), QString("mAP"));
    }

    /// Without a box that counts, there is no mAP: analyze says so, and targets cannot be judged.
    void labelsWithoutBoxesAreNoTarget() {
        auto found = foundByFloat(detector());
        for (auto& boxes : found) boxes.clear();
        writeCoco(found, path("empty.json"));
        Session session(detector());
        session.setData(labeled(path("empty.json")), std::make_shared<Waves>());
        const EvaluationPtr result = session.evaluate(fourBits(), Depth::Accuracy);
        QVERIFY(!result->quantized->map);
        const std::string notices = fmt::format("{}", fmt::join(result->notices, "\n"));
        QVERIFY2(notices.find("empty.json' have no boxes that count") != std::string::npos, notices.c_str());
        for (int use = 0; use < 2; ++use) try {
                if (use == 0)
                    requireTaskMetric(session);
                else
                    tune(session, fourBits(), {});
                QFAIL("there is no mAP");
            } catch (const Error& error) {
                QVERIFY2(QString(error.what()).contains("empty.json': there are no boxes"), error.what());
            }
        session.setMetric(UserMetric{});
        requireTaskMetric(session);
    }

    void wrongLabelsAreExplained() {
        const auto message = [&](const std::filesystem::path& labels, Task task) {
            try {
                TaskSettings settings;
                settings.task = task;
                settings.labels = labels;
                withTask(std::make_shared<Waves>(), settings, {});
            } catch (const Error& error) {
                return QString::fromStdString(error.what());
            }
            return QString();
        };
        writeCoco({{}, {}}, path("two.json"));
        QVERIFY(message(path("two.json"), Task::Automatic).contains("24 samples"));
        QVERIFY(message(path("two.json"), Task::Automatic).contains("two.json"));
        QVERIFY(message(path("two.json"), Task::Segmentation).contains("not for segmentation"));
        QVERIFY(message(path("missing.json"), Task::Automatic).contains("missing.json"));
    }
};

QTEST_MAIN(TaskMetricsSessionTest)
#include "task_metrics_session_test.moc"
