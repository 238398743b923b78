// SPDX-License-Identifier: Apache-2.0
// Detection and segmentation in a session: the metric of evaluations, comparisons, leave-one-out and the
// search. The labels are what the float network itself finds, so its metric is exactly 1. (Labels that do not
// fit: task_labels_test.)
#include <fmt/ranges.h>

#include <QDir>
#include <QImage>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

#include "analysis/class_results.h"
#include "analysis/segmentation_metrics.h"
#include "config/layer_choices.h"
#include "search/accuracy_check.h"
#include "search/tune.h"
#include "session/studies/compare_configs.h"
#include "session/studies/leave_one_out.h"
#include "session/studies/skip_groups.h"
#include "support/errors.h"
#include "support/task_networks.h"

using namespace quantloupe;
using namespace quantloupe::test;

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
        QCOMPARE(classes.unit, LabelUnit::Boxes);
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
        QCOMPARE(sweep.metric, TaskMetric::Map);
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
        QCOMPARE(check.metric, TaskMetric::Map);
        QCOMPARE(check.drop, 1 - *base->quantized->map);
        QVERIFY(!check.passed);
        QVERIFY(check.dropInterval && check.dropInterval->low <= check.drop &&
                check.drop <= check.dropInterval->high);
        TuneOptions options;
        options.maxDrop = check.drop / 2;
        const TuneResult tuned = tune(*session, fourBits(), options);
        QCOMPARE(tuned.metric, TaskMetric::Map);
        QVERIFY(tuned.reached);
        QVERIFY(tuned.curve[tuned.chosen].drop <= options.maxDrop + 1e-9);
        QCOMPARE(tuned.curve[tuned.chosen].drop, 1 - *tuned.curve[tuned.chosen].accuracy.map);
    }

    void undefinedOutputsAreNamed() {
        AccuracyCheck check;
        check.metric = TaskMetric::Sqnr;
        check.drop = 1e12;
        QVERIFY(describe(check).starts_with("failed: the outputs cannot be compared"));
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
        QCOMPARE(classes.unit, LabelUnit::Pixels);
        std::size_t pixels = 0;
        for (const ClassResult& one : classes.classes) pixels += one.labels;
        QCOMPARE(pixels, 99 * kSamples);
        QCOMPARE(leaveOneOut(session, fourBits()).metric, TaskMetric::Miou);
    }

    /// The image that could not be judged was counted in addition to its correction.
    void aCorrectedLabelImageIsJudgedAgain() {
        Session plain(segmentation(false));
        plain.setData(std::make_shared<Waves>(), std::make_shared<Waves>());
        const QString folder = m_folder.filePath("corrected");
        QDir().mkpath(folder);
        const auto write = [&](std::size_t sample, int value) {
            QImage image(10, 10, QImage::Format_Grayscale8);
            image.fill(value);
            return image.save(folder + QStringLiteral("/%1.png").arg(sample, 3, 10, QLatin1Char('0')));
        };
        for (std::size_t s = 0; s < kSamples; ++s) QVERIFY(write(s, s == 2 ? 100 : static_cast<int>(s % 7)));
        Session session(segmentation(false));
        session.setData(labeled(folder.toStdString()), std::make_shared<Waves>());
        QVERIFY(errorOf([&] { session.evaluate(fourBits()); }).contains("002.png"));
        QVERIFY(write(2, 2));
        const double again = *session.evaluate(fourBits())->floating->pixelAccuracy;
        Session fresh(segmentation(false));
        fresh.setData(labeled(folder.toStdString()), std::make_shared<Waves>());
        QCOMPARE(again, *fresh.evaluate(fourBits())->floating->pixelAccuracy);
    }
};

QTEST_MAIN(TaskMetricsSessionTest)
#include "task_metrics_session_test.moc"
