// SPDX-License-Identifier: Apache-2.0
#include "session/studies/task_predictions.h"

#include "base/error.h"
#include "session/session_parts.h"
#include "session/stages/judge_samples.h"

namespace quantloupe {

bool hasTaskPredictions(Session& session) {
    const Task task = session.task();
    return task == Task::Detection || task == Task::Segmentation;
}

void requireTaskMetric(Session& session) {
    const SessionParts& parts = partsOf(session);
    const DatasetPtr& data = parts.samples.evaluation();
    if (parts.metric.metric || !data) return;
    const auto labels = data->taskLabels();
    if (!labels || labels->task != Task::Detection || !labels->labeled) return;
    if (hasCountedBoxes(*data)) return;
    failInput(
        "labels '{}': there are no boxes that count for the images of the data (only 'iscrowd', or none at "
        "all), so there is no mAP to compare; without --labels, the outputs are compared by their SQNR",
        labels->settings.labels.string());
}

TaskPredictions taskPredictions(Session& session, const QuantizationConfig& config, std::size_t sample,
                                int width, int height, const CancelToken& cancel) {
    SessionParts& parts = partsOf(session);
    parts.samples.requireEvaluable();
    if (!hasTaskPredictions(session)) failInput("the task of the data is neither detection nor segmentation");
    TaskJudge& judge = *parts.samples.judge();
    const DatasetPtr& data = parts.samples.evaluation();
    const SampleBatches single(subset(data, {sample}), *parts.model.graph, 1);
    if (single.batch() != 1)
        fail(ErrorKind::Unsupported, "the model has a fixed batch size of {}: single images cannot be shown",
             single.batch());
    const auto predictionOf = [&](const ProgramSpec& spec) {
        TaskPrediction prediction;
        runBySample(wholeNetwork(spec, single), single, 0, 1, cancel,
                    [&](std::size_t, const std::vector<ConstantPtr>& values) {
                        const SampleValues outputs = wholeOutputs(*parts.model.graph, values);
                        prediction = judge.predict(sample, outputs.shapes, outputs.values, width, height);
                    });
        return prediction;
    };
    const auto plan = parts.plan(config, parts.runner.control(cancel));
    TaskPrediction floating = predictionOf(floatProgram(parts.model.graph, {}, {}));
    TaskPrediction quantized = predictionOf(plan->networkSpec({}, {}));

    TaskPredictions result;
    result.task = judge.task();
    result.classNames = data->classNames();
    if (const SampleAnnotation* annotation = data->annotation(sample))
        for (const LabeledBox& box : annotation->boxes)
            result.labels.push_back(
                {box.x, box.y, box.width, box.height, 1, static_cast<std::int32_t>(box.category)});
    result.labelMap = judge.labelMap(sample, floating.map);
    result.floating = std::move(floating.detections);
    result.quantized = std::move(quantized.detections);
    result.floatMap = std::move(floating.map);
    result.quantizedMap = std::move(quantized.map);
    const ImageGeometry geometry = judge.geometry(width, height);
    result.x = (0 - geometry.offsetX) / geometry.scaleX;
    result.y = (0 - geometry.offsetY) / geometry.scaleY;
    result.width = judge.input().width / geometry.scaleX;
    result.height = judge.input().height / geometry.scaleY;
    return result;
}

}  // namespace quantloupe
