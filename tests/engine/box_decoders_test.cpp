// SPDX-License-Identifier: Apache-2.0
// Choice of the decoder by the outputs' shapes and names, and the formulas of each decoder.
#include "analysis/box_decoders.h"

#include <QtTest>
#include <cmath>

#include "support/errors.h"

using namespace quantloupe;
using test::errorOf;

namespace {

constexpr InputSize kInput{64, 64};  // 64 + 16 + 4 cells

OutputShape floats(const char* name, Dims dims) { return {name, DataType::Float32, std::move(dims)}; }

std::string chosen(const std::vector<OutputShape>& outputs, InputSize input = {640, 640}) {
    try {
        return std::string(chooseDecoder(outputs, input, "").decoder->name);
    } catch (const Error&) {
        return "none";
    }
}

std::vector<Detection> decoded(const std::vector<OutputShape>& shapes,
                               const std::vector<std::vector<float>>& values, const std::string& name = "") {
    const ChosenDecoder decoder = chooseDecoder(shapes, kInput, name);
    std::vector<SampleOutput> outputs;
    for (std::size_t o = 0; o < shapes.size(); ++o) outputs.push_back({shapes[o].dims, values[o]});
    return decodeBoxes(decoder, outputs, kInput);
}

QString text(const Detection& d) {
    return QStringLiteral("%1 %2 %3 %4 | %5 | %6")
        .arg(d.x)
        .arg(d.y)
        .arg(d.width)
        .arg(d.height)
        .arg(d.score, 0, 'g', 6)
        .arg(d.category);
}

}  // namespace

class BoxDecodersTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void choosesByShape() {
        QCOMPARE(chosen({floats("output0", {84, 8400})}), "yolov8");
        QCOMPARE(chosen({floats("output0", {84, 2100})}, {320, 320}), "yolov8");
        QCOMPARE(chosen({floats("output0", {8400, 84})}), "yolov8");
        QCOMPARE(chosen({floats("output0", {116, 8400}), floats("output1", {32, 160, 160})}), "yolov8");
        QCOMPARE(chosen({floats("output0", {25200, 85})}), "yolov5");
        QCOMPARE(chosen({floats("output0", {300, 84})}), "rt-detr");
        QCOMPARE(chosen({floats("output0", {300, 6})}), "end-to-end");
        QCOMPARE(chosen({floats("logits", {100, 92}), floats("pred_boxes", {100, 4})}), "detr");
        QCOMPARE(chosen({floats("logits", {300, 80}), floats("pred_boxes", {300, 4})}), "rt-detr-logits");
        const std::vector<OutputShape> torchvision = {
            floats("2037", {-1, 4}), {"2007", DataType::Int64, {-1}}, floats("2006", {-1})};
        QCOMPARE(chosen(torchvision), "boxes");
        QCOMPARE(chosen({floats("y", {1000})}), "none");
        QCOMPARE(chosen({floats("logits", {21, 64, 64})}), "none");
    }

    /// Logits of four classes, or of three and "no object", have the shape of boxes: names decide.
    void namesDistinguishLogitsFromBoxes() {
        const auto pair = [](const OutputShape& first, const OutputShape& second, const char* name) {
            return chooseDecoder(std::vector{first, second}, {640, 640}, name).outputs.indices;
        };
        using Indices = std::vector<std::size_t>;  // of the logits and the boxes
        for (const char* name : {"detr", "rt-detr-logits"}) {
            QCOMPARE(pair(floats("logits", {100, 4}), floats("pred_boxes", {100, 4}), name), (Indices{0, 1}));
            QCOMPARE(pair(floats("pred_boxes", {100, 4}), floats("logits", {100, 4}), name), (Indices{1, 0}));
            QCOMPARE(pair(floats("a", {100, 4}), floats("Boxes", {100, 4}), name), (Indices{0, 1}));
            QCOMPARE(pair(floats("class_scores", {100, 4}), floats("b", {100, 4}), name), (Indices{0, 1}));
            QCOMPARE(pair(floats("a", {100, 4}), floats("b", {100, 81}), name), (Indices{1, 0}));
            const QString error = errorOf([&] { pair(floats("a", {100, 4}), floats("b", {100, 4}), name); });
            QVERIFY2(error.contains("'a' and 'b' have the same shape 100×4"), qPrintable(error));
        }
    }

    /// The number of boxes is not a label; it limits the lists, the rest of which is padding.
    void numberOfBoxesLimitsTheLists() {
        for (const DataType type : {DataType::Int64, DataType::Float32})
            for (const Dims& dims : {Dims{1}, Dims{}}) {
                const std::vector<OutputShape> shapes = {{"num_dets", type, dims},
                                                         floats("det_boxes", {3, 4}),
                                                         floats("det_scores", {3}),
                                                         {"det_classes", type, {3}}};
                const auto found = decoded(
                    shapes, {{2}, {1, 2, 11, 22, 3, 4, 5, 6, 0, 0, 9, 9}, {0.5f, 0.25f, 0.9f}, {7, 2, 1}});
                QCOMPARE(found.size(), std::size_t{2});
                QCOMPARE(text(found[0]), "1 2 10 20 | 0.5 | 7");
                QCOMPARE(text(found[1]), "3 4 2 2 | 0.25 | 2");
            }
        // Lists of another length belong to something else.
        QCOMPARE(chosen({floats("boxes", {3, 4}), floats("scores", {5}), {"labels", DataType::Int64, {5}}}),
                 "none");
    }

    /// Of one class on 64 × 64 pixels: 252 × 6, the shape of boxes with scores and classes.
    void yolov5OfOneClassIsNotEndToEnd() {
        QCOMPARE(chosen({floats("output", {252, 6})}, kInput), "yolov5");
        QCOMPARE(chosen({floats("output", {300, 6})}, kInput), "end-to-end");
    }

    /// The number of classes excludes mask coefficients and "no object".
    void countsClasses() {
        const auto classes = [](const std::vector<OutputShape>& outputs) {
            return chooseDecoder(outputs, {640, 640}, "").outputs.classes;
        };
        QCOMPARE(classes({floats("output0", {116, 8400}), floats("output1", {32, 160, 160})}),
                 std::size_t{80});
        QCOMPARE(classes({floats("output0", {25200, 85})}), std::size_t{80});
        QCOMPARE(classes({floats("logits", {100, 92}), floats("boxes", {100, 4})}), std::size_t{91});
    }

    void messagesListOutputsAndDecoders() {
        const auto message = [](const std::string& name) {
            return errorOf([&] { chooseDecoder(std::vector{floats("scores", {1000})}, kInput, name); });
        };
        QVERIFY(message("").contains("'scores' float32 1000"));
        QVERIFY(message("").contains("yolov8"));
        QVERIFY(message("yolov5").contains("do not fit the decoder yolov5"));
        QVERIFY(message("yolo").contains("there is no decoder 'yolo'"));
    }

    /// Columns and rows of the same head give the same boxes; of two overlapping ones, the better is kept.
    void yolov8() {
        constexpr std::size_t kCells = 84, kClasses = 2, kChannels = 4 + kClasses;
        std::vector<float> columns(kChannels * kCells), rows(kChannels * kCells);
        const auto set = [&](std::size_t cell, const std::vector<float>& values) {
            for (std::size_t c = 0; c < kChannels; ++c)
                columns[c * kCells + cell] = rows[cell * kChannels + c] = values[c];
        };
        set(3, {20, 30, 10, 8, 0.9f, 0});
        set(4, {20.5f, 30, 10, 8, 0.7f, 0.6f});
        set(9, {50, 10, 4, 4, 0, 0.0005f});  // below the least score
        for (const auto& [dims, values] :
             {std::pair{Dims{kChannels, kCells}, columns}, {Dims{kCells, kChannels}, rows}}) {
            const auto found = decoded({floats("output0", dims)}, {values}, "yolov8");
            QCOMPARE(found.size(), std::size_t{2});
            QCOMPARE(text(found[0]), "15 26 10 8 | 0.9 | 0");
            QCOMPARE(text(found[1]), "15.5 26 10 8 | 0.6 | 1");
        }
    }

    void yolov5() {
        std::vector<float> rows(3 * 84 * 7);
        const float one[] = {20, 30, 10, 8, 0.5f, 0.25f, 0.5f}, hidden[] = {20, 30, 10, 8, 0.0005f, 1, 1};
        std::copy(std::begin(one), std::end(one), rows.begin() + 7 * 5);
        std::copy(std::begin(hidden), std::end(hidden), rows.begin() + 7 * 9);
        const auto found = decoded({floats("output0", {252, 7})}, {rows});
        QCOMPARE(found.size(), std::size_t{2});
        QCOMPARE(text(found[0]), "15 26 10 8 | 0.25 | 1");
        QCOMPARE(text(found[1]), "15 26 10 8 | 0.125 | 0");
    }

    void detr() {
        const std::vector<float> logits = {0, std::log(3.0f), 0, 5, 0, 9};  // two classes and "no object"
        const std::vector<float> boxes = {0.5f, 0.5f, 0.25f, 0.5f, 0.25f, 0.25f, 0.5f, 0.5f};
        const auto found = decoded({floats("logits", {2, 3}), floats("pred_boxes", {2, 4})}, {logits, boxes});
        QCOMPARE(found.size(), std::size_t{2});
        QCOMPARE(text(found[0]), "24 16 16 32 | 0.6 | 1");
        QCOMPARE(found[1].category, 0);
        const double rest = std::exp(5.0) / (std::exp(5.0) + std::exp(9.0) + 1);
        QVERIFY(std::abs(found[1].score - rest) < 1e-12);
    }

    void sigmoidLogits() {
        const std::vector<float> logits = {0, 2, 1, -9};
        const std::vector<float> boxes = {0.5f, 0.5f, 0.25f, 0.5f, 0.25f, 0.25f, 0.5f, 0.5f};
        const auto found = decoded({floats("logits", {2, 2}), floats("pred_boxes", {2, 4})}, {logits, boxes},
                                   "rt-detr-logits");
        QCOMPARE(found.size(), std::size_t{2});  // the best two of four
        QCOMPARE(text(found[0]),
                 QStringLiteral("24 16 16 32 | %1 | 1").arg(1 / (1 + std::exp(-2.0)), 0, 'g', 6));
        QCOMPARE(text(found[1]),
                 QStringLiteral("0 0 32 32 | %1 | 0").arg(1 / (1 + std::exp(-1.0)), 0, 'g', 6));
    }

    void boxesScoresLabels() {
        const auto found =
            decoded({floats("boxes", {2, 4}), {"labels", DataType::Int64, {2}}, floats("scores", {2})},
                    {{1, 2, 11, 22, 3, 4, 5, 6}, {17, 2}, {0.5f, 0.25f}});
        QCOMPARE(found.size(), std::size_t{2});
        QCOMPARE(text(found[0]), "1 2 10 20 | 0.5 | 17");
        QCOMPARE(text(found[1]), "3 4 2 2 | 0.25 | 2");
    }

    void endToEndAndRtDetr() {
        auto found = decoded({floats("output0", {1, 6})}, {{1, 2, 11, 22, 0.5f, 3}});
        QCOMPARE(text(found.at(0)), "1 2 10 20 | 0.5 | 3");
        std::vector<float> rows(100 * 7, 0);
        const float one[] = {0.5f, 0.5f, 0.25f, 0.5f, 0.125f, 0.75f, 0.5f};
        std::copy(std::begin(one), std::end(one), rows.begin());
        found = decoded({floats("output0", {100, 7})}, {rows});
        QCOMPARE(found.size(), std::size_t{100});
        QCOMPARE(text(found[0]), "24 16 16 32 | 0.75 | 1");
    }

    /// Values that are not finite never become boxes.
    void nonFiniteValues() {
        const float nan = std::nanf("");
        QVERIFY(decoded({floats("output0", {1, 6})}, {{nan, 2, 11, 22, 0.5f, 3}}).empty());
        QVERIFY(decoded({floats("output0", {1, 6})}, {{1, 2, 11, 22, nan, 3}}).empty());
    }
};

QTEST_GUILESS_MAIN(BoxDecodersTest)
#include "box_decoders_test.moc"
