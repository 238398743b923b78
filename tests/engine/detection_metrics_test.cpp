// SPDX-License-Identifier: Apache-2.0
// Average precision of boxes compared with pycocotools (tests/assets/coco_oracle.py), and cases by hand.
#include <QFile>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QtTest>
#include <nlohmann/json.hpp>

#include "analysis/coco_metrics.h"
#include "analysis/group_jackknife.h"
#include "base/atomic_file.h"
#include "support/errors.h"

using namespace quantloupe;
using Json = nlohmann::json;

namespace {

Json oracle() {
    QFile file(QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/assets/oracles/coco_detection.json"));
    if (!file.open(QFile::ReadOnly)) return {};
    return Json::parse(file.readAll().toStdString());
}

/// Reads the labels as the program does, and returns the matches of each image.
std::vector<ImageMatches> matchesOf(const Json& one, const QString& folder) {
    const std::filesystem::path path = (folder + "/labels.json").toStdString();
    writeFileAtomically(path, one["labels"].dump());
    const CocoFile file = readCoco(path);
    std::vector<ImageMatches> matches;
    for (const CocoFile::Labeled& image : file.images) {
        std::vector<Detection> detections;
        for (const Json& d : one["detections"]) {
            if (d["image_id"].get<std::int64_t>() != image.annotation.image) continue;
            std::int32_t category = 0;
            while (file.categories[static_cast<std::size_t>(category)].id !=
                   d["category_id"].get<std::int64_t>())
                ++category;
            detections.push_back(
                {d["bbox"][0], d["bbox"][1], d["bbox"][2], d["bbox"][3], d["score"], category});
        }
        matches.push_back(matchImage(image.annotation, detections));
    }
    return matches;
}

QString errorOf(const QTemporaryDir& folder, const std::string& json) {
    const std::filesystem::path path = folder.filePath("labels.json").toStdString();
    writeFileAtomically(path, json);
    return test::errorOf([&] { readCoco(path); });
}

}  // namespace

class DetectionMetricsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void equalsPycocotools() {
        const Json cases = oracle()["cases"];
        QCOMPARE(cases.size(), std::size_t{5});
        const QTemporaryDir folder;
        for (const Json& one : cases) {
            const auto matches = matchesOf(one, folder.path());
            const AveragePrecision precision(matches, one["labels"]["categories"].size());
            const auto categories = precision.byCategory();
            const Json& truth = one["truth"];
            // The sums are in another order.
            QVERIFY(std::abs(*AveragePrecision::map(categories) - truth["map"].get<double>()) < 1e-12);
            QVERIFY(std::abs(*AveragePrecision::map50(categories) - truth["map50"].get<double>()) < 1e-12);
            std::size_t labeled = 0;
            for (const Json& ap : truth["ap"]) labeled += !ap.is_null();
            QCOMPARE(categories.size(), labeled);
            for (const CategoryPrecision& category : categories) {
                QVERIFY(std::abs(category.ap - truth["ap"][category.category].get<double>()) < 1e-12);
                QVERIFY(std::abs(category.ap50 - truth["ap50"][category.category].get<double>()) < 1e-12);
            }
        }
    }

    /// Leaving a group out is the same as evaluating the other images.
    void groupsAreLeftOut() {
        const QTemporaryDir folder;
        const Json one = oracle()["cases"][2];
        const auto matches = matchesOf(one, folder.path());
        const std::size_t categories = one["labels"]["categories"].size();
        const auto without = AveragePrecision(matches, categories).mapWithoutGroups(7);
        QCOMPARE(without.size(), std::size_t{7});
        for (std::size_t g = 0; g < 7; ++g) {
            std::vector<ImageMatches> rest;
            for (std::size_t i = 0; i < matches.size(); ++i)
                if (i % 7 != g) rest.push_back(matches[i]);
            QCOMPARE(without[g], *AveragePrecision::map(AveragePrecision(rest, categories).byCategory()));
        }
    }

    void thresholdsEqualNumpys() {
        QCOMPARE(iouThreshold(0), 0.5);
        QCOMPARE(iouThreshold(9), 0.95);
        QVERIFY(iouThreshold(8) == 0.8999999999999999);  // numpy.linspace(0.5, 0.95, 10)[8]
    }

    /// A perfect detector has 1, and one that misses half of the objects 51 of 101 recall points.
    void simpleCases() {
        SampleAnnotation annotation;
        annotation.boxes = {{0, 0, 10, 10, 100, false, 0}, {50, 50, 10, 10, 100, false, 0}};
        const std::vector<Detection> all = {{0, 0, 10, 10, 0.9, 0}, {50, 50, 10, 10, 0.8, 0}};
        const auto mapOf = [&](std::span<const Detection> found) {
            const std::vector<ImageMatches> matches = {matchImage(annotation, found)};
            return *AveragePrecision::map(AveragePrecision(matches, 1).byCategory());
        };
        QCOMPARE(mapOf(all), 1.0);
        QVERIFY(std::abs(mapOf(std::span(all).first(1)) - 51.0 / 101) < 1e-12);
        QCOMPARE(mapOf({}), 0.0);
        annotation.boxes.clear();
        QVERIFY(!AveragePrecision::map(
            AveragePrecision(std::vector{matchImage(annotation, all)}, 1).byCategory()));
    }

    /// Labels and unmatched detections whose areas are outside of 0 to 1e10 do not count.
    void areasOutOfRange() {
        SampleAnnotation annotation;
        annotation.boxes = {{0, 0, 10, 10, 100, false, 0}, {50, 50, 10, 10, 2e10, false, 0}};
        const std::vector<Detection> found = {
            {9, 0, -9, 9, 0.9, 0}, {50, 50, 10, 10, 0.8, 0}, {0, 0, 10, 10, 0.7, 0}};
        const std::vector<ImageMatches> matches = {matchImage(annotation, found)};
        QCOMPARE(matches[0].labels.size(), std::size_t{1});
        QCOMPARE(*AveragePrecision::map(AveragePrecision(matches, 1).byCategory()), 1.0);
        QVERIFY(!counts(annotation.boxes[1]) && counts(annotation.boxes[0]));
    }

    void suppressesOverlaps() {
        const std::vector<Detection> found = {{0, 0, 10, 10, 0.5, 0},
                                              {1, 0, 10, 10, 0.9, 0},   // IoU 9/11 with the first
                                              {1, 0, 10, 10, 0.8, 1},   // another class
                                              {5, 0, 10, 10, 0.7, 0}};  // IoU 6/14 with the second
        const auto kept = suppressed(found, 0.7, 300);
        QCOMPARE(kept.size(), std::size_t{3});
        QCOMPARE(kept[0].score, 0.9);
        QCOMPARE(kept[1].score, 0.8);
        QCOMPARE(kept[2].score, 0.7);
        QCOMPARE(suppressed(found, 0.85, 300).size(), std::size_t{4});
        QCOMPARE(suppressed(found, 0.7, 2).size(), std::size_t{2});
    }

    void messagesNameTheEntry() {
        const QTemporaryDir folder;
        const std::string categories = R"("categories":[{"id":3,"name":"cat"}])";
        const std::string images = R"("images":[{"id":1,"file_name":"a.jpg","width":4,"height":3}])";
        QVERIFY(errorOf(folder, "{" + categories + "," + images + R"(,"annotations":[]})").isEmpty());
        const auto one = [&](const std::string& annotation) {
            return errorOf(folder,
                           "{" + categories + "," + images + R"(,"annotations":[)" + annotation + "]}");
        };
        QVERIFY(one(R"({"image_id":1,"category_id":3,"bbox":[1,2,3]})")
                    .contains("annotations[0]: 'bbox' must be"));
        QVERIFY(one(R"({"image_id":2,"category_id":3,"bbox":[1,2,3,4]})").contains("no image with the id 2"));
        QVERIFY(
            one(R"({"image_id":1,"category_id":4,"bbox":[1,2,3,4]})").contains("no category with the id 4"));
        QVERIFY(one(R"({"image_id":1,"category_id":3,"bbox":[1,2,3,4],"iscrowd":2})").contains("'iscrowd'"));
        QVERIFY(one(R"({"image_id":1,"category_id":3,"bbox":[0.25,0.5,0.5,0.5]})").contains("in pixels"));
        QVERIFY(one(R"({"image_id":1,"category_id":3,"bbox":[0.25,0.5,0.5,0.5]},
                       {"image_id":1,"category_id":3,"bbox":[1,1,2,2]})")
                    .isEmpty());
        QVERIFY(
            errorOf(folder, "{" + categories + R"(,"images":[],"annotations":[]})").contains("no images"));
        QVERIFY(errorOf(folder, "[]").contains("labels.json"));
    }

    /// Student's t: values of published tables.
    void studentsDistribution() {
        QVERIFY(std::abs(studentQuantile95(1) - 12.7062) < 1e-4);
        QVERIFY(std::abs(studentQuantile95(4) - 2.77645) < 1e-5);
        QVERIFY(std::abs(studentQuantile95(19) - 2.09302) < 1e-5);
        QCOMPARE(studentTails(0, 7), 1.0);
    }

    void gradedComparisons() {
        TaskScores before, after;
        for (int g = 0; g < 20; ++g) {
            before.samples.push_back(0.5);
            after.samples.push_back(g % 4 == 0 ? 0.4 : 0.5);
            before.withoutGroup.push_back(0.5);
            after.withoutGroup.push_back(g % 2 == 0 ? 0.47 : 0.48);
        }
        const PairedComparison loss = compareGraded(0.5, before, 0.475, after);
        QCOMPARE(loss.fixed, std::size_t{0});
        QCOMPARE(loss.broken, std::size_t{5});
        // Every d_g is 0.005 from the mean: variance 19 / 20 * 20 * 0.005^2.
        const double half = studentQuantile95(19) * 0.005 * std::sqrt(19.0);
        QVERIFY(std::abs(loss.low - (-0.025 - half)) < 1e-12);
        QVERIFY(std::abs(loss.high - (-0.025 + half)) < 1e-12);
        QCOMPARE(loss.verdict, ChangeVerdict::WithinNoise);
        QVERIFY(compareGraded(0.5, before, 0.4, after).verdict == ChangeVerdict::Loss);
        QVERIFY(compareGraded(0.5, before, 0.5, before).verdict == ChangeVerdict::NoChange);
        // One image says nothing about the spread, but its change is reported.
        const TaskScores oneBefore{{}, {0.5}, {0.0}}, oneAfter{{}, {0.25}, {0.0}};
        const PairedComparison one = compareGraded(0.5, oneBefore, 0.25, oneAfter);
        QVERIFY(one.verdict == ChangeVerdict::WithinNoise);
        QCOMPARE(one.low, -1.0);
        QCOMPARE(one.high, 1.0);
        QCOMPARE(QString::fromStdString(describe(loss)),
                 QStringLiteral("-2.5 points, 0 samples better, 5 worse: within noise"));
    }
};

QTEST_GUILESS_MAIN(DetectionMetricsTest)
#include "detection_metrics_test.moc"
