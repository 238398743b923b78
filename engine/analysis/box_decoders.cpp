// SPDX-License-Identifier: Apache-2.0
// Sources of the formulas and constants: Ultralytics 8.3 (yolov8, rt-detr: validation settings), YOLOv5 7.0
// (val.py), torchvision 0.21 (boxes), Hugging Face Transformers 4.48 (post_process_object_detection of DETR
// and RT-DETR).
#include "analysis/box_decoders.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/decoder_shapes.h"
#include "base/error.h"

namespace quantloupe {
namespace {

constexpr float kLeastScore = 0.001f;  // validation of YOLOv5 and Ultralytics
constexpr std::size_t kMostBoxes = 300;
constexpr std::int64_t kMostQueries = 1000;  // of a network without non-maximum suppression

DecoderOutputs single(std::size_t output, std::int64_t classes) {
    return {{output}, static_cast<std::size_t>(classes), false};
}

Detection centered(double x, double y, double width, double height, double score, std::size_t category) {
    return {x - width / 2, y - height / 2, width, height, score, static_cast<std::int32_t>(category)};
}

/// Converts a class index that is stored as float; -1 if the value is not a class index.
std::int32_t classIndex(float value) {
    constexpr float kMost = 1e6f;
    return value >= 0 && value < kMost ? static_cast<std::int32_t>(value) : -1;
}

Found findBoxes(Shapes outputs, InputSize) {
    const auto isInteger = [](const OutputShape& shape) {
        return shape.type == DataType::Int64 || shape.type == DataType::Int32;
    };
    const auto boxes = bestRated(outputs, [](const OutputShape& shape) {
        const bool fits = shape.type == DataType::Float32 && withoutOnes(shape.dims, 2).size() == 2 &&
                          shape.dims.back() == 4;
        return fits ? 1 + nameContains(shape, "box") : 0;
    });
    if (!boxes) return std::nullopt;
    const std::int64_t count = withoutOnes(outputs[*boxes].dims, 2)[0];
    // A number of boxes, such as `num_dets`, is not a list of one label.
    const auto isNumber = [&](const OutputShape& shape) {
        const Dims dims = withoutOnes(shape.dims, 0);
        return dims.empty() && (nameContains(shape, "num") || (isInteger(shape) && count > 1));
    };
    const auto ratingOfList = [&](const OutputShape& shape) {
        const Dims dims = withoutOnes(shape.dims, 1);
        if (dims.size() != 1 || isNumber(shape)) return 0;
        if (dims[0] == count) return 2;
        return dims[0] < 0 || count < 0 ? 1 : 0;
    };
    constexpr int kNamed = 2;  // better than an extent that is known
    const auto isLabels = [&](const OutputShape& shape) {
        return isInteger(shape) || nameContainsAny(shape, {"label", "class"});
    };
    const auto labels = bestRated(outputs, [&](const OutputShape& shape) {
        const int rating = isLabels(shape) ? ratingOfList(shape) : 0;
        return rating > 0 && nameContainsAny(shape, {"label", "class"}) ? rating + kNamed : rating;
    });
    const auto scores = bestRated(outputs, [&](const OutputShape& shape) {
        const int rating = shape.type == DataType::Float32 && !isLabels(shape) ? ratingOfList(shape) : 0;
        return rating > 0 && nameContainsAny(shape, {"score", "conf"}) ? rating + kNamed : rating;
    });
    if (!scores || !labels) return std::nullopt;
    DecoderOutputs found{{*boxes, *scores, *labels}, 0, false};
    const auto number = bestRated(outputs, [&](const OutputShape& shape) {
        return isNumber(shape) ? 1 + nameContains(shape, "num") : 0;
    });
    if (number) found.indices.push_back(*number);
    return found;
}

std::vector<Detection> decodeBoxesScoresLabels(std::span<const SampleOutput> values, const DecoderOutputs&,
                                               InputSize) {
    const auto boxes = values[0].values, scores = values[1].values, labels = values[2].values;
    std::size_t count = std::min({boxes.size() / 4, scores.size(), labels.size()});
    if (values.size() > 3 && !values[3].values.empty())  // the rest of the lists is padding
        if (const float number = values[3].values[0]; number < static_cast<float>(count))
            count = number > 0 ? static_cast<std::size_t>(number) : 0;
    std::vector<Detection> detections;
    for (std::size_t i = 0; i < count; ++i) {
        const double left = boxes[4 * i], top = boxes[4 * i + 1];
        detections.push_back(
            {left, top, boxes[4 * i + 2] - left, boxes[4 * i + 3] - top, scores[i], classIndex(labels[i])});
    }
    return detections;
}

Found findEndToEnd(Shapes outputs, InputSize input) {
    return firstMatrix(outputs, [&](std::size_t o, const Dims& dims) -> Found {
        if (dims[1] != 6 || dims[0] > kMostQueries) return std::nullopt;
        // YOLOv5 of one class on small images.
        if (const std::int64_t cells = gridCells(input); cells > 0 && dims[0] == 3 * cells)
            return std::nullopt;
        return single(o, 0);
    });
}

std::vector<Detection> decodeEndToEnd(std::span<const SampleOutput> values, const DecoderOutputs&,
                                      InputSize) {
    std::vector<Detection> detections;
    const auto rows = values[0].values;
    for (std::size_t i = 0; i + 6 <= rows.size(); i += 6)
        detections.push_back({rows[i], rows[i + 1], static_cast<double>(rows[i + 2]) - rows[i],
                              static_cast<double>(rows[i + 3]) - rows[i + 1], rows[i + 4],
                              classIndex(rows[i + 5])});
    return detections;
}

/// How well two outputs fit as class logits and boxes: by their names, as logits of four classes have the
/// shape of boxes.
int ratingOfLogits(const OutputShape& logits, const OutputShape& boxes, bool fourClasses) {
    const auto isBox = [](const OutputShape& shape) { return nameContains(shape, "box"); };
    const auto isLogits = [](const OutputShape& shape) {
        return nameContainsAny(shape, {"logit", "score", "class", "label"});
    };
    return isBox(boxes) + isLogits(logits) - isBox(logits) - isLogits(boxes) + (fourClasses ? 0 : 4);
}

/// Finds class logits and boxes, one row per query.
Found findLogits(Shapes outputs, bool softmax) {
    Found best;
    std::optional<int> highest;
    firstMatrix(outputs, [&](std::size_t boxes, const Dims& dims) -> Found {
        if (dims[1] != 4) return std::nullopt;
        return firstMatrix(outputs, [&](std::size_t logits, const Dims& other) -> Found {
            if (logits == boxes || other[0] != dims[0] || other[1] < 2) return std::nullopt;
            const bool four = other[1] == 4;
            const int rating = ratingOfLogits(outputs[logits], outputs[boxes], four);
            if (highest && rating <= *highest) return std::nullopt;
            highest = rating;
            best = DecoderOutputs{
                {logits, boxes}, static_cast<std::size_t>(other[1]) - (softmax ? 1 : 0), false};
            return std::nullopt;  // the next pair
        });
    });
    if (!best) return best;
    const OutputShape &logits = outputs[best->indices[0]], &boxes = outputs[best->indices[1]];
    if (withoutOnes(logits.dims, 2)[1] == 4 &&
        ratingOfLogits(logits, boxes, true) == ratingOfLogits(boxes, logits, true))
        failInput(
            "the outputs '{}' and '{}' have the same shape {}, and their names do not say which one has the "
            "boxes: rename them so that the name of one contains 'box', or compute the metric with a metric "
            "program (--metric-program)",
            boxes.name, logits.name, toString(boxes.dims));
    return best;
}

constexpr std::int64_t kDetrQueries = 100;

Found findDetr(Shapes outputs, InputSize) {
    Found found = findLogits(outputs, true);
    if (!found || withoutOnes(outputs[found->indices[1]].dims, 2)[0] > kDetrQueries) return std::nullopt;
    return found;
}

Found findSigmoidLogits(Shapes outputs, InputSize) { return findLogits(outputs, false); }

Detection queryBox(const float* box, double score, std::size_t category, InputSize input) {
    return centered(box[0] * static_cast<double>(input.width), box[1] * static_cast<double>(input.height),
                    box[2] * static_cast<double>(input.width), box[3] * static_cast<double>(input.height),
                    score, category);
}

/// Applies softmax to the classes and "no object" (last), and returns the best class of each query.
std::vector<Detection> decodeDetr(std::span<const SampleOutput> values, const DecoderOutputs& outputs,
                                  InputSize input) {
    const std::size_t classes = outputs.classes, width = classes + 1;
    std::vector<Detection> detections;
    for (std::size_t q = 0; q * 4 + 4 <= values[1].values.size(); ++q) {
        const float* row = values[0].values.data() + q * width;
        const float* best = std::max_element(row, row + classes);
        const double largest = std::max(*best, row[classes]);
        double sum = 0;
        for (std::size_t c = 0; c < width; ++c) sum += std::exp(static_cast<double>(row[c]) - largest);
        detections.push_back(queryBox(values[1].values.data() + 4 * q, std::exp(*best - largest) / sum,
                                      static_cast<std::size_t>(best - row), input));
    }
    return detections;
}

/// Applies a sigmoid to each class, and returns the (query, class) pairs with the highest scores, as many as
/// there are queries.
std::vector<Detection> decodeSigmoidLogits(std::span<const SampleOutput> values,
                                           const DecoderOutputs& outputs, InputSize input) {
    std::vector<float> logits(values[0].values.begin(), values[0].values.end());
    for (float& logit : logits)
        if (std::isnan(logit)) logit = -std::numeric_limits<float>::infinity();
    const std::size_t queries = values[1].values.size() / 4;
    std::vector<std::size_t> order(logits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
    order.resize(std::min(order.size(), queries));
    std::vector<Detection> detections;
    for (const std::size_t at : order)
        detections.push_back(queryBox(values[1].values.data() + 4 * (at / outputs.classes),
                                      1 / (1 + std::exp(-static_cast<double>(logits[at]))),
                                      at % outputs.classes, input));
    return detections;
}

/// YOLOv8: one column per cell (or one row), without objectness.
Found findYolov8(Shapes outputs, InputSize input) {
    return firstMatrix(outputs, [&](std::size_t o, const Dims& dims) -> Found {
        const std::int64_t cells = gridCells(input);
        const bool columns = dims[1] == cells || (dims[0] < dims[1] && dims[1] > kMostQueries);
        const bool rows = !columns && dims[0] == cells;
        if (!columns && !rows) return std::nullopt;
        std::int64_t classes = (rows ? dims[1] : dims[0]) - 4;
        // Segmentation heads add coefficients for mask prototypes; the prototypes are another output.
        for (const OutputShape& other : outputs)
            if (const Dims masks = withoutOnes(other.dims, 3); masks.size() == 3 && masks[0] < classes)
                classes -= masks[0];
        if (classes < 1) return std::nullopt;
        return DecoderOutputs{{o}, static_cast<std::size_t>(classes), rows};
    });
}

std::vector<Detection> decodeYolov8(std::span<const SampleOutput> values, const DecoderOutputs& outputs,
                                    InputSize) {
    const Dims dims = withoutOnes(values[0].dims, 2);
    const bool rows = outputs.rows;
    const auto cells = static_cast<std::size_t>(rows ? dims[0] : dims[1]);
    const auto channels = static_cast<std::size_t>(rows ? dims[1] : dims[0]);
    const std::size_t perCell = rows ? channels : 1, perChannel = rows ? 1 : cells;
    const float* head = values[0].values.data();
    const auto at = [&](std::size_t cell, std::size_t channel) {
        return head[cell * perCell + channel * perChannel];
    };
    std::vector<Detection> detections;
    for (std::size_t c = 0; c < outputs.classes; ++c)
        for (std::size_t cell = 0; cell < cells; ++cell)
            if (const float score = at(cell, 4 + c); score > kLeastScore)
                detections.push_back(centered(at(cell, 0), at(cell, 1), at(cell, 2), at(cell, 3), score, c));
    return suppressed(std::move(detections), 0.7, kMostBoxes);
}

/// YOLOv5: one row per anchor, with objectness.
Found findYolov5(Shapes outputs, InputSize input) {
    return firstMatrix(outputs, [&](std::size_t o, const Dims& dims) -> Found {
        const std::int64_t cells = gridCells(input);
        if (dims[1] < 6 || dims[0] == cells || dims[1] == cells) return std::nullopt;
        if (dims[0] != 3 * cells && (dims[0] <= kMostQueries || dims[0] < dims[1])) return std::nullopt;
        return single(o, dims[1] - 5);
    });
}

std::vector<Detection> decodeYolov5(std::span<const SampleOutput> values, const DecoderOutputs& outputs,
                                    InputSize) {
    const std::size_t width = outputs.classes + 5;
    std::vector<Detection> detections;
    const auto rows = values[0].values;
    for (std::size_t i = 0; i + width <= rows.size(); i += width) {
        const float* row = rows.data() + i;
        if (!(row[4] > kLeastScore)) continue;
        for (std::size_t c = 0; c < outputs.classes; ++c)
            if (const float score = row[5 + c] * row[4]; score > kLeastScore)
                detections.push_back(centered(row[0], row[1], row[2], row[3], score, c));
    }
    return suppressed(std::move(detections), 0.6, kMostBoxes);
}

/// RT-DETR of Ultralytics: normalized boxes and class probabilities in one output.
Found findRtDetr(Shapes outputs, InputSize) {
    return firstMatrix(outputs, [](std::size_t o, const Dims& dims) -> Found {
        if (dims[1] < 5 || dims[0] > kMostQueries || dims[0] < kDetrQueries) return std::nullopt;
        return single(o, dims[1] - 4);
    });
}

std::vector<Detection> decodeRtDetr(std::span<const SampleOutput> values, const DecoderOutputs& outputs,
                                    InputSize input) {
    const std::size_t width = outputs.classes + 4;
    std::vector<Detection> detections;
    const auto rows = values[0].values;
    for (std::size_t i = 0; i + width <= rows.size(); i += width) {
        const float* scores = rows.data() + i + 4;
        const float* best = std::max_element(scores, scores + outputs.classes);
        detections.push_back(
            queryBox(rows.data() + i, *best, static_cast<std::size_t>(best - scores), input));
    }
    return detections;
}

constexpr std::array<BoxDecoder, 7> kDecoders = {{
    {"boxes", "torchvision: boxes (left, top, right, bottom), scores and labels", CategoryIndex::Id, false,
     false, findBoxes, decodeBoxesScoresLabels},
    {"detr", "DETR and YOLOS: class logits with 'no object' last, normalized boxes", CategoryIndex::Id, false,
     false, findDetr, decodeDetr},
    {"rt-detr-logits", "RT-DETR and Deformable DETR: class logits, normalized boxes", CategoryIndex::Position,
     false, true, findSigmoidLogits, decodeSigmoidLogits},
    {"end-to-end",
     "YOLOv10 and others with non-maximum suppression inside: left, top, right, bottom, score, "
     "class",
     CategoryIndex::Position, true, false, findEndToEnd, decodeEndToEnd},
    {"yolov5", "YOLOv5 head: x, y, width, height, objectness and class scores", CategoryIndex::Position, true,
     false, findYolov5, decodeYolov5},
    {"yolov8", "YOLOv8 and YOLO11 head: x, y, width, height and class scores", CategoryIndex::Position, true,
     false, findYolov8, decodeYolov8},
    {"rt-detr", "RT-DETR of Ultralytics: normalized boxes and class scores", CategoryIndex::Position, false,
     false, findRtDetr, decodeRtDetr},
}};

std::string listed(Shapes outputs) {
    std::vector<std::string> texts;
    for (const OutputShape& shape : outputs)
        texts.push_back(
            fmt::format("'{}' {} {}", shape.name, dataTypeName(shape.type), toString(shape.dims)));
    return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::span<const BoxDecoder> boxDecoders() { return kDecoders; }

ChosenDecoder chooseDecoder(Shapes outputs, InputSize input, const std::string& name) {
    std::vector<std::string_view> names;
    for (const BoxDecoder& decoder : kDecoders) {
        names.push_back(decoder.name);
        if (!name.empty() && name != decoder.name) continue;
        if (auto found = decoder.find(outputs, input)) return {&decoder, std::move(*found)};
        if (!name.empty())
            failInput("the outputs {} do not fit the decoder {} ({})", listed(outputs), name, decoder.title);
    }
    if (!name.empty()) failInput("there is no decoder '{}'; available: {}", name, fmt::join(names, ", "));
    failInput(
        "no decoder fits the outputs {}; available: {}. A metric program can compute the metric of other "
        "outputs (--metric-program)",
        listed(outputs), fmt::join(names, ", "));
}

std::string describe(const ChosenDecoder& chosen, Shapes outputs) {
    std::vector<std::string> texts;
    for (const std::size_t index : chosen.outputs.indices)
        texts.push_back(fmt::format("'{}' {}", outputs[index].name, toString(outputs[index].dims)));
    return fmt::format("{} as {} ({})", fmt::join(texts, ", "), chosen.decoder->name, chosen.decoder->title);
}

std::vector<Detection> decodeBoxes(const ChosenDecoder& chosen, std::span<const SampleOutput> outputs,
                                   InputSize input) {
    std::vector<SampleOutput> values;
    for (const std::size_t index : chosen.outputs.indices) values.push_back(outputs[index]);
    std::vector<Detection> detections = chosen.decoder->decode(values, chosen.outputs, input);
    std::erase_if(detections, [](const Detection& d) {
        return d.category < 0 || !std::isfinite(d.x) || !std::isfinite(d.y) || !std::isfinite(d.width) ||
               !std::isfinite(d.height) || !std::isfinite(d.score);
    });
    return detections;
}

}  // namespace quantloupe
