// SPDX-License-Identifier: Apache-2.0
// Labels for detection and segmentation that do not fit the network or the samples are explained.
#include <fmt/ranges.h>

#include <QTemporaryDir>
#include <QtTest>

#include "search/accuracy_check.h"
#include "search/tune.h"
#include "support/errors.h"
#include "support/exact_model.h"
#include "support/task_networks.h"

using namespace quantloupe;
using namespace quantloupe::test;
using Json = nlohmann::json;

class TaskLabelsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path path(const char* name) const { return m_folder.filePath(name).toStdString(); }

  private Q_SLOTS:
    /// 9 × 6 is a YOLOv8 head of five classes on 10 × 10 pixels, or of one class with four other values.
    void classesBeyondTheCategoriesAreRefused() {
        const LoadedModel head =
            model("(float[N,1,10,10] X) => (float[N,9,6] y) <float[9,1,10,5] A = " + numbers(450, 3) +
                  R"(, int64[3] rows = {0, 9, 6}> {
            a = Conv(X, A)
            y = Reshape(a, rows)
        })");
        Json json = cocoDocument();
        for (std::size_t s = 0; s < kSamples; ++s) addImage(json, s);
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
    void labelsWithoutBoxesCannotBeATarget() {
        auto found = foundByFloat(detector());
        for (auto& boxes : found) boxes.clear();
        writeCoco(found, path("empty.json"));
        Session session(detector());
        session.setData(labeled(path("empty.json")), std::make_shared<Waves>());
        const EvaluationPtr result = session.evaluate(fourBits(), Depth::Accuracy);
        QVERIFY(!result->quantized->map);
        const std::string notices = fmt::format("{}", fmt::join(result->notices, "\n"));
        QVERIFY2(notices.find("empty.json' have no boxes that count") != std::string::npos, notices.c_str());
        const char* const why = "empty.json': there are no boxes";
        QVERIFY(errorOf([&] { requireTaskMetric(session); }).contains(why));
        QVERIFY(errorOf([&] { tune(session, fourBits(), {}); }).contains(why));
        session.setMetric(UserMetric{});
        requireTaskMetric(session);
    }

    /// As if two corners had been written: most boxes end outside of the 10 × 10 pixels.
    void boxesBeyondTheImagesAreReported() {
        std::vector<std::vector<Detection>> found(kSamples);
        for (auto& boxes : found) boxes = {{4, 5, 6, 5, 0.5, 0}};
        writeCoco(found, path("inside.json"));
        QCOMPARE(labeled(path("inside.json"))->notice(), std::string());
        found[3][0] = {4, 5, 9, 8, 0.5, 0};
        writeCoco(found, path("one.json"));
        QCOMPARE(labeled(path("one.json"))->notice(), std::string());
        found[7][0] = {-3, 5, 4, 2, 0.5, 0};
        writeCoco(found, path("two_beyond.json"));
        const std::string notice = labeled(path("two_beyond.json"))->notice();
        QVERIFY2(notice.starts_with("2 of 24 boxes extend beyond their images, for example [4, 5, 9, 8] in "
                                    "'3.png' of 10 × 10 pixels"),
                 notice.c_str());
    }

    /// Three values for each sample are scores of three classes only if the task is not regression.
    void regressionHasNoClasses() {
        for (const Task task : {Task::Automatic, Task::Regression}) {
            TaskSettings settings;
            settings.task = task;
            Session session(LoadedModel{test::exactModel(), "net.onnx", {}, {}});
            session.setData(withTask(std::make_shared<test::Quarters>(), settings, {}),
                            std::make_shared<test::Quarters>());
            const EvaluationPtr result = session.evaluate({}, Depth::Accuracy);
            QCOMPARE(result->quantized->agreement.has_value(), task == Task::Automatic);
            QVERIFY(result->quantized->sqnrDb);
            QCOMPARE(checkAccuracy(*result, 1).metric,
                     task == Task::Automatic ? TaskMetric::Agreement : TaskMetric::Sqnr);
        }
    }

    void wrongLabelsAreExplained() {
        const auto message = [&](const std::filesystem::path& labels, Task task) {
            TaskSettings settings;
            settings.task = task;
            settings.labels = labels;
            return errorOf([&] { withTask(std::make_shared<Waves>(), settings, {}); });
        };
        writeCoco({{}, {}}, path("two.json"));
        QVERIFY(message(path("two.json"), Task::Automatic).contains("24 samples"));
        QVERIFY(message(path("two.json"), Task::Automatic).contains("two.json"));
        QVERIFY(message(path("two.json"), Task::Segmentation).contains("not for segmentation"));
        QVERIFY(message(path("missing.json"), Task::Automatic).contains("missing.json"));
    }
};

QTEST_GUILESS_MAIN(TaskLabelsTest)
#include "task_labels_test.moc"
