// SPDX-License-Identifier: Apache-2.0
#include "session/stages/task_judge.h"

#include <algorithm>
#include <limits>

#include "analysis/class_output.h"
#include "analysis/group_jackknife.h"
#include "base/error.h"
#include "base/short_text.h"

namespace quantloupe {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

/// Moves a box from the network's input to the original image.
void toOriginal(Detection& box, const ImageGeometry& geometry) {
    box.x = (box.x - geometry.offsetX) / geometry.scaleX;
    box.y = (box.y - geometry.offsetY) / geometry.scaleY;
    box.width /= geometry.scaleX;
    box.height /= geometry.scaleY;
}

void clip(Detection& box, int width, int height) {
    const double left = std::clamp(box.x, 0.0, static_cast<double>(width));
    const double top = std::clamp(box.y, 0.0, static_cast<double>(height));
    box.width = std::clamp(box.x + box.width, 0.0, static_cast<double>(width)) - left;
    box.height = std::clamp(box.y + box.height, 0.0, static_cast<double>(height)) - top;
    box.x = left;
    box.y = top;
}

PixelCounts totalOf(std::span<const PixelCounts> counts) {
    PixelCounts total;
    for (const PixelCounts& one : counts) total.add(one);
    return total;
}

/// The fraction of correct tokens of each class that occurs in the labels.
std::vector<ClassScore> scoresByClass(std::span<const TokenCounts> counts) {
    std::map<std::int32_t, std::pair<std::uint64_t, std::uint64_t>> classes;  // labels, correct
    for (const TokenCounts& sample : counts)
        for (std::size_t t = 0; t < sample.labels.size(); ++t) {
            auto& [labels, right] = classes[sample.labels[t]];
            ++labels;
            right += sample.predicted[t] == sample.labels[t];
        }
    std::vector<ClassScore> scores;
    for (const auto& [label, count] : classes)
        scores.push_back({static_cast<std::size_t>(label), count.first,
                          static_cast<double>(count.second) / static_cast<double>(count.first)});
    return scores;
}

}  // namespace

bool hasTokenScores(const Graph& graph, std::size_t tokens) {
    return std::ranges::any_of(graph.outputs(), [&](TensorId output) {
        const std::optional<Shape>& shape = graph.tensor(output).shape;
        if (!shape || shape->size() < 3) return !shape;
        const auto mayBeTokens = [&](const Dim& dim) {
            return dim.known() ? dim.value == static_cast<std::int64_t>(tokens) : &dim != &shape->front();
        };
        return std::ranges::any_of(*shape, mayBeTokens);  // an unknown first dimension is that of the samples
    });
}

bool hasCountedBoxes(const Dataset& data) {
    for (std::size_t s = 0; s < data.size(); ++s)
        if (const SampleAnnotation* annotation = data.annotation(s);
            annotation != nullptr && std::ranges::any_of(annotation->boxes, counts))
            return true;
    return false;
}

std::size_t TaskRecords::bytes() const {
    std::size_t sum = scores.capacity() * sizeof(double);
    for (const ImageMatches& image : matches)
        sum += image.detections.capacity() * sizeof(MatchedDetection) +
               image.labels.capacity() * sizeof(std::uint32_t);
    for (const PixelCounts& counts : pixels) sum += 3 * counts.both.capacity() * sizeof(std::uint64_t);
    for (const TokenCounts& counts : tokens) sum += 2 * counts.labels.capacity() * sizeof(std::int32_t);
    return sum;
}

std::shared_ptr<TaskJudge> TaskJudge::create(const Dataset& data, InputSize input) {
    const auto labels = data.taskLabels();
    if (!labels || !isGraded(labels->task)) return nullptr;
    return std::shared_ptr<TaskJudge>(new TaskJudge(data, input));
}

TaskJudge::TaskJudge(const Dataset& data, InputSize input)
    : m_data(data), m_labels(data.taskLabels()), m_input(input) {}

ImageGeometry TaskJudge::geometry(int width, int height) const {
    if (width <= 0 || height <= 0) return {};
    if (m_labels->preprocess) return geometryOf(*m_labels->preprocess, width, height);
    return {static_cast<double>(m_input.width) / width, static_cast<double>(m_input.height) / height, 0, 0};
}

std::string TaskJudge::notice() const {
    if (!m_ignoresPixels || m_hasObjects) return m_notice;
    return m_notice +
           "; the label images contain only class 0 and 255, which is ignored: in masks of 0 and 255, "
           "replace 255 by the class 1";
}

void TaskJudge::choose(const std::vector<OutputShape>& shapes) {
    if (m_chosen) return;
    if (task() == Task::Segmentation) {
        chooseMap(shapes);
    } else if (task() == Task::Tokens) {
        chooseTokens(shapes);
    } else {
        m_decoder = chooseDecoder(shapes, m_input, m_labels->settings.decoder);
        m_notice = fmt::format("boxes are decoded from {}", describe(m_decoder, shapes));
        assignCategories();
        if (m_labels->labeled && !hasCountedBoxes(m_data))
            m_notice += fmt::format(
                "; the labels '{}' have no boxes that count for these images (only 'iscrowd', or none at "
                "all), so there is no mAP",
                m_labels->settings.labels.string());
    }
    m_chosen = true;
}

void TaskJudge::assignCategories() {
    const std::vector<Category>& categories = m_labels->categories;
    if (categories.empty()) return;
    const std::size_t classes = m_decoder.outputs.classes;  // 0: unknown
    const bool fitsPosition = classes == 0 || classes == categories.size();
    const bool fitsId = categories.front().id >= 0 &&
                        (classes == 0 || categories.back().id < static_cast<std::int64_t>(classes));
    CategoryIndex index = m_labels->settings.categories;
    if (index == CategoryIndex::Automatic) {
        index = m_decoder.decoder->categories;
        // Deformable DETR of COCO has 91 classes for 80 categories. More classes of a YOLO head are something
        // else: key points, or the objectness of YOLOX.
        const bool allIds = fitsId && categories.back().id + 1 == static_cast<std::int64_t>(classes);
        if (index == CategoryIndex::Position && !fitsPosition && allIds &&
            m_decoder.decoder->hasUnusedClasses)
            index = CategoryIndex::Id;
        if (index == CategoryIndex::Id && !fitsId) index = CategoryIndex::Position;
        if (index == CategoryIndex::Position && !fitsPosition)
            failInput(
                "the network has {} classes, but the labels have {} categories with ids up to {}: set the "
                "meaning of the class indices (--category-index), or choose another decoder (--decoder); "
                "heads with key points are not supported",
                classes, categories.size(), categories.back().id);
    }
    const bool byId = index == CategoryIndex::Id;
    for (std::size_t c = 0; c < categories.size(); ++c) {
        const std::int64_t key = byId ? categories[c].id : static_cast<std::int64_t>(c);
        if (key >= 0 && key <= std::numeric_limits<std::int32_t>::max())
            m_categoryOfClass[static_cast<std::int32_t>(key)] = static_cast<std::int32_t>(c);
    }
    m_notice += byId ? "; class k is the category with the id k"
                     : fmt::format("; class k is the k-th of {} categories in the order of their ids, from 0",
                                   categories.size());
}

void TaskJudge::chooseMap(const std::vector<OutputShape>& shapes) {
    for (std::size_t o = 0; o < shapes.size(); ++o) {
        Dims dims = shapes[o].dims;
        while (dims.size() > 3 && dims.front() == 1) dims.erase(dims.begin());
        if (dims.size() != 3 && dims.size() != 2) continue;
        m_output = o;
        m_classes = classesOfMap(dims);
        m_notice = fmt::format("the class of each pixel is {} '{}' {}",
                               m_classes == 0 ? "the value of" : "the largest channel of", shapes[o].name,
                               toString(shapes[o].dims));
        return;
    }
    failInput("none of the outputs is a class map (N × C × H × W or N × H × W)");
}

void TaskJudge::chooseTokens(const std::vector<OutputShape>& shapes) {
    const std::size_t tokens = m_data.annotation(0)->tokens.size();
    std::vector<OutputVector> vectors;  // one per token instead of one per sample
    for (const OutputShape& shape : shapes) {
        const auto layout = shape.type == DataType::Float32 ? tokenLayout(shape.dims, tokens) : std::nullopt;
        vectors.push_back({shape.name, layout ? layout->classes : 0});
    }
    const std::string& chosen = m_labels->settings.classOutput;
    std::optional<std::size_t> output = chosen.empty() ? classOutput(vectors, {}) : std::nullopt;
    for (std::size_t o = 0; o < vectors.size() && !output; ++o)  // the first output may be something else
        if (vectors[o].width > 0 && (chosen.empty() || vectors[o].name == chosen)) output = o;
    if (!output)
        failInput(
            "{} does not contain scores of classes for each of the {} tokens that have labels (N × {} × C)",
            chosen.empty() ? "the network" : fmt::format("the output '{}'", shortName(chosen)), tokens,
            tokens);
    m_output = *output;
    m_tokens = *tokenLayout(shapes[m_output].dims, tokens);
    m_notice = fmt::format("the class of each token is the largest of {} scores in '{}' {}", m_tokens.classes,
                           shortName(shapes[m_output].name), toString(shapes[m_output].dims));
}

/// One channel is a logit, or a probability after a Sigmoid.
LabelImage TaskJudge::predictedMap(const SampleOutput& output, const std::string& name) {
    if (!hasOneChannel(output.dims)) return predictedClasses(output);
    if (!m_probabilities) {
        m_probabilities =
            std::ranges::all_of(output.values, [](float value) { return value >= 0 && value <= 1; });
        m_notice =
            fmt::format("the class of each pixel is 1 where '{}' {} is above {}", shortName(name),
                        toString(output.dims), *m_probabilities ? "0.5 (probabilities)" : "0 (logits)");
    }
    return predictedClasses(output, *m_probabilities ? 0.5f : 0.0f);
}

TaskPrediction TaskJudge::predict(std::size_t sample, const std::vector<OutputShape>& shapes,
                                  const std::vector<SampleOutput>& outputs, int width, int height) {
    choose(shapes);
    TaskPrediction prediction;
    if (task() == Task::Segmentation) {
        prediction.map = predictedMap(outputs[m_output], shapes[m_output].name);
        return prediction;
    }
    const SampleAnnotation* annotation = m_data.annotation(sample);
    if (annotation != nullptr) {
        width = annotation->width;
        height = annotation->height;
    }
    const ImageGeometry place = geometry(width, height);
    for (Detection& detection : decodeBoxes(m_decoder, outputs, m_input)) {
        if (!m_categoryOfClass.empty()) {
            const auto category = m_categoryOfClass.find(detection.category);
            if (category == m_categoryOfClass.end()) continue;  // "no object", or a class without category
            detection.category = category->second;
        }
        toOriginal(detection, place);
        if (m_decoder.decoder->clips && width > 0) clip(detection, width, height);
        prediction.detections.push_back(detection);
    }
    return prediction;
}

LabelImage TaskJudge::labelMap(std::size_t sample, const LabelImage& like) const {
    const SampleAnnotation* annotation = m_data.annotation(sample);
    if (annotation == nullptr || annotation->labelImage.empty()) return {};
    const LabelImage labels = readLabelImage(annotation->labelImage);
    return resampledLabels(labels, geometry(labels.width, labels.height), m_input.width, m_input.height,
                           like.width, like.height);
}

void TaskJudge::judge(const std::vector<OutputShape>& shapes, const std::vector<SampleOutput>& outputs,
                      TaskRecords& records) {
    const std::size_t sample = records.scores.size();
    if (task() == Task::Tokens) {
        choose(shapes);
        return judgeTokens(outputs, records);
    }
    const TaskPrediction prediction = predict(sample, shapes, outputs);
    if (task() == Task::Detection) {
        records.matches.push_back(matchImage(*m_data.annotation(sample), prediction.detections));
        const AveragePrecision own(std::span(&records.matches.back(), 1), m_labels->categories.size());
        records.scores.push_back(AveragePrecision::map(own.byCategory()).value_or(kNoScore));
        return;
    }
    const LabelImage labels = labelMap(sample, prediction.map);
    for (const std::uint16_t label : labels.classes) {
        m_ignoresPixels = m_ignoresPixels || label == kIgnoredClass;
        m_hasObjects = m_hasObjects || (label != 0 && label != kIgnoredClass);
    }
    const PixelCounts counts = countPixels(prediction.map, labels, m_classes);
    if (counts.beyond > 0)
        failInput(
            "the label image '{}' has {} pixels whose class is not one of the network's {} classes; 255 is "
            "ignored",
            m_data.annotation(sample)->labelImage.string(), counts.beyond, m_classes);
    records.scores.push_back(counts.meanIou().value_or(kNoScore));
    records.pixels.push_back(counts);
}

void TaskJudge::judgeTokens(const std::vector<SampleOutput>& outputs, TaskRecords& records) {
    const std::size_t sample = records.scores.size();
    const SampleOutput& output = outputs[m_output];
    if (!m_probabilities) m_probabilities = areProbabilities(output, m_tokens);
    try {
        records.tokens.push_back(countTokens(output, m_tokens, m_data.annotation(sample)->tokens));
    } catch (Error& error) {
        error.addContext(m_data.sampleName(sample));
        throw;
    }
    TokenTotals own;
    own.add(records.tokens.back());
    records.scores.push_back(own.accuracy().value_or(kNoScore));
}

void TaskJudge::measure(const TaskRecords& records, const TaskRecords& reference, std::size_t samples,
                        Accuracy& accuracy) const {
    samples = std::min(samples, records.scores.size());
    if (task() == Task::Tokens) {
        TokenTotals total;
        std::size_t agreeing = 0;
        for (std::size_t s = 0; s < samples; ++s) {
            total.add(records.tokens[s]);
            agreeing += records.tokens[s].equal(reference.tokens[s].predicted);
        }
        accuracy.tokenAccuracy = total.accuracy();
        if (!m_probabilities.value_or(false)) accuracy.perplexity = total.perplexity();
        if (total.tokens > 0)
            accuracy.agreement = static_cast<double>(agreeing) / static_cast<double>(total.tokens);
        return;
    }
    if (task() == Task::Detection) {
        const AveragePrecision precision(std::span(records.matches).first(samples),
                                         m_labels->categories.size());
        const auto categories = precision.byCategory();
        accuracy.map = AveragePrecision::map(categories);
        accuracy.map50 = AveragePrecision::map50(categories);
        return;
    }
    const PixelCounts total = totalOf(std::span(records.pixels).first(samples));
    accuracy.miou = total.meanIou();
    accuracy.pixelAccuracy = total.accuracy();
}

TaskScores TaskJudge::scores(const TaskRecords& records, std::size_t samples) const {
    samples = std::min(samples, records.scores.size());
    const std::size_t groups = jackknifeGroups(samples);
    TaskScores result;
    result.samples.assign(records.scores.begin(),
                          records.scores.begin() + static_cast<std::ptrdiff_t>(samples));
    if (task() == Task::Detection) {
        const AveragePrecision precision(std::span(records.matches).first(samples),
                                         m_labels->categories.size());
        for (const CategoryPrecision& category : precision.byCategory())
            result.classes.push_back({category.category, category.labels, category.ap});
        result.withoutGroup = precision.mapWithoutGroups(groups);
        return result;
    }
    if (task() == Task::Tokens) {
        const auto counts = std::span(records.tokens).first(samples);
        result.classes = scoresByClass(counts);
        TokenTotals total;
        for (const TokenCounts& sample : counts) total.add(sample);
        for (std::size_t g = 0; g < groups; ++g) {
            TokenTotals rest = total;
            for (std::size_t s = g; s < samples; s += groups) rest.subtract(counts[s]);
            result.withoutGroup.push_back(rest.accuracy().value_or(0));
        }
        return result;
    }
    const PixelCounts total = totalOf(std::span(records.pixels).first(samples));
    for (std::size_t c = 0; c < total.both.size(); ++c)
        if (const auto iou = total.iou(c)) result.classes.push_back({c, total.labeled[c], *iou});
    for (std::size_t g = 0; g < groups; ++g) {
        PixelCounts rest = total;
        for (std::size_t s = g; s < samples; s += groups) rest.subtract(records.pixels[s]);
        result.withoutGroup.push_back(rest.meanIou().value_or(0));
    }
    return result;
}

}  // namespace quantloupe
