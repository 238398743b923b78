// SPDX-License-Identifier: Apache-2.0
// Mean IoU, pixel accuracy, label images and their geometry, compared with values computed by hand.
#include "analysis/segmentation_metrics.h"

#include <QImage>
#include <QTemporaryDir>
#include <QtTest>

#include "data/image_input.h"
#include "support/errors.h"

using namespace quantloupe;

namespace {

QString show(const auto& values) {
    QStringList texts;
    for (const auto value : values) texts << QString::number(value);
    return texts.join(' ');
}

LabelImage labels(int width, int height, std::vector<std::uint16_t> classes) {
    return {width, height, std::move(classes)};
}

QString messageOf(const std::filesystem::path& path) {
    return test::errorOf([&] { readLabelImage(path); });
}

}  // namespace

class SegmentationMetricsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void predictsTheLargestChannel() {
        const float nan = std::nanf("");
        const std::vector<float> values = {1, 5, nan, 2, 5, 3};  // 2 x 1 x 3
        QCOMPARE(show(predictedClasses({{2, 1, 3}, values}).classes), "1 0 1");
        QCOMPARE(show(predictedClasses({{1, 2, 1, 3}, values}).classes), "1 0 1");
        const std::vector<float> lost = {nan, 5, nan, 2};
        QCOMPARE(show(predictedClasses({{2, 1, 2}, lost}).classes), "65535 0");
        const std::vector<float> oneLost = {nan, 5};
        QCOMPARE(show(predictedClasses({{1, 1, 2}, oneLost}).classes), "65535 1");
        const std::vector<float> binary = {-1, 0.5f, 0};
        QCOMPARE(show(predictedClasses({{1, 1, 3}, binary}).classes), "0 1 0");
        const std::vector<float> indices = {7, 0, 255};
        QCOMPARE(show(predictedClasses({{1, 3}, indices}).classes), "7 0 255");
        const std::vector<float> half = {0.5f};
        QVERIFY_THROWS_EXCEPTION(Error, predictedClasses({{1, 1}, half}));
        QVERIFY_THROWS_EXCEPTION(Error, predictedClasses({{1}, half}));
    }

    void countsByHand() {
        const PixelCounts counts =
            countPixels(labels(4, 2, {0, 0, 1, 1, 2, 0, 1, 0}), labels(4, 2, {0, 1, 1, 1, 0, 255, 1, 0}), 4);
        QCOMPARE(show(counts.both), "2 3 0 0");
        QCOMPARE(show(counts.predicted), "3 3 1 0");
        QCOMPARE(show(counts.labeled), "3 4 0 0");
        QCOMPARE(*counts.iou(0), 2.0 / 4);
        QCOMPARE(*counts.iou(1), 3.0 / 4);
        QCOMPARE(*counts.iou(2), 0.0);  // only predicted
        QVERIFY(!counts.iou(3));        // nowhere
        QCOMPARE(*counts.meanIou(), (0.5 + 0.75) / 3);
        QCOMPARE(*counts.accuracy(), 5.0 / 7);
        PixelCounts twice = counts;
        twice.add(counts);
        QCOMPARE(*twice.meanIou(), *counts.meanIou());
        twice.subtract(counts);
        QCOMPARE(show(twice.both), show(counts.both));
        QCOMPARE(countPixels(labels(2, 1, {0, 1}), labels(2, 1, {1, 9}), 2).beyond, std::uint64_t{1});
        QVERIFY(!countPixels(labels(1, 1, {0}), labels(1, 1, {255}), 2).meanIou());
    }

    /// Nearest neighbor: each pixel gets the label below its center.
    void labelsAreResampled() {
        const LabelImage image = labels(4, 2, {0, 1, 2, 3, 4, 5, 6, 7});
        QCOMPARE(show(resampledLabels(image, {}, 4, 2, 4, 2).classes), "0 1 2 3 4 5 6 7");
        QCOMPARE(show(resampledLabels(image, {}, 4, 2, 2, 1).classes), "5 7");
        QCOMPARE(show(resampledLabels(image, {2, 2, 0, 0}, 8, 4, 4, 2).classes), "0 1 2 3 4 5 6 7");
        // A crop of the middle columns; a letterbox with a row above and below.
        QCOMPARE(show(resampledLabels(image, {1, 1, -1, 0}, 2, 2, 2, 2).classes), "1 2 5 6");
        QCOMPARE(show(resampledLabels(image, {1, 1, 0, 1}, 4, 4, 4, 4).classes),
                 "255 255 255 255 0 1 2 3 4 5 6 7 255 255 255 255");
    }

    void readsGrayAndPaletteImages() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("labels.png").toStdString();
        QImage gray(3, 1, QImage::Format_Grayscale8);
        const uchar values[] = {0, 21, 255};
        std::copy(std::begin(values), std::end(values), gray.scanLine(0));
        QVERIFY(gray.save(QString::fromStdString(path.string())));
        QCOMPARE(show(readLabelImage(path).classes), "0 21 255");
        QImage palette(3, 1, QImage::Format_Indexed8);
        palette.setColorTable({qRgb(9, 9, 9), qRgb(200, 0, 0), qRgb(0, 50, 0), qRgb(1, 2, 3)});
        const uchar indices[] = {3, 0, 2};
        std::copy(std::begin(indices), std::end(indices), palette.scanLine(0));
        QVERIFY(palette.save(QString::fromStdString(path.string())));
        const LabelImage read = readLabelImage(path);
        QCOMPARE(read.width, 3);
        QCOMPARE(show(read.classes), "3 0 2");
        QImage wide(2, 1, QImage::Format_Grayscale16);
        const std::uint16_t high[] = {300, 7};
        std::copy(std::begin(high), std::end(high), reinterpret_cast<std::uint16_t*>(wide.scanLine(0)));
        QVERIFY(wide.save(QString::fromStdString(path.string())));
        QCOMPARE(show(readLabelImage(path).classes), "300 7");
        QImage color(2, 2, QImage::Format_RGB888);
        color.fill(Qt::red);
        QVERIFY(color.save(QString::fromStdString(path.string())));
        QVERIFY(messageOf(path).contains("labels.png"));
        QVERIFY(messageOf(path).contains("colors instead of class indices"));
    }

    /// Letterboxing as in Ultralytics: the aspect ratio is kept, and gray 114 surrounds the image.
    void letterboxes() {
        Preprocess preprocess = preprocessFromJson(R"({"resize":[8,8],"fit":"letterbox"})");
        QCOMPARE(preprocessFromJson(preprocessToJson(preprocess)), preprocess);
        const Image image{4, 2, 3, std::vector<std::uint8_t>(4 * 2 * 3, 200)};
        const Image boxed = resizedAndCropped(image, preprocess);
        QCOMPARE(boxed.width, 8);
        QCOMPARE(boxed.height, 8);
        for (int y = 0; y < 8; ++y)
            for (int x = 0; x < 8; ++x)
                QCOMPARE(int{boxed.pixels[static_cast<std::size_t>((y * 8 + x) * 3)]},
                         y >= 2 && y < 6 ? 200 : 114);
        const ImageGeometry place = geometryOf(preprocess, 4, 2);
        QCOMPARE(place.scaleX, 2.0);
        QCOMPARE(place.scaleY, 2.0);
        QCOMPARE(place.offsetX, 0.0);
        QCOMPARE(place.offsetY, 2.0);
        // 427 x 640 in 320 x 320: round(427 / 2) = 214, round(53 - 0.1) = 53 (Ultralytics).
        const LetterboxPlace odd = letterboxPlace({320, 320}, 427, 640);
        QCOMPARE(odd.width, 214);
        QCOMPARE(odd.left, 53);
        QCOMPARE(letterboxPlace({320, 320}, 321, 640).left, 80);  // 160 wide: half to even
    }

    void geometryOfStretchAndCrop() {
        Preprocess preprocess = preprocessFromJson(R"({"resize":[10,20],"center_crop":[8,12]})");
        const ImageGeometry place = geometryOf(preprocess, 40, 40);
        QCOMPARE(place.scaleX, 0.5);
        QCOMPARE(place.scaleY, 0.25);
        QCOMPARE(place.offsetX, -4.0);
        QCOMPARE(place.offsetY, -1.0);
        preprocess = {};
        QCOMPARE(geometryOf(preprocess, 40, 40).scaleX, 1.0);
    }
};

QTEST_GUILESS_MAIN(SegmentationMetricsTest)
#include "segmentation_metrics_test.moc"
