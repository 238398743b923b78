// SPDX-License-Identifier: Apache-2.0
#include "session/studies/task_predictions.h"

#include "base/error.h"
#include "session/session_impl.h"
#include "session/stages/judge_samples.h"

namespace quantloupe {

bool hasTaskPredictions(Session& session) {
    const Session::Impl& impl = session.internal();
    if (!impl.evaluationData || !impl.evaluationData->taskLabels()) return false;
    const Task task = impl.evaluationData->taskLabels()->task;
    return task == Task::Detection || task == Task::Segmentation;
}

void requireTaskMetric(Session& session) {
    const Session::Impl& impl = session.internal();
    if (impl.metric || !impl.evaluationData) return;
    const auto labels = impl.evaluationData->taskLabels();
    if (!labels || labels->task != Task::Detection || !labels->labeled) return;
    if (hasCountedBoxes(*impl.evaluationData)) return;
    failInput(
        "labels '{}': there are no boxes that count for the images of the data (only 'iscrowd', or none at "
        "all), so there is no mAP to compare; without --labels, the outputs are compared by their SQNR",
        labels->settings.labels.string());
}

TaskPredictions taskPredictions(Session& session, const QuantizationConfig& config, std::size_t sample,
                                int width, int height, const CancelToken& cancel) {
    Session::Impl& impl = session.internal();
    impl.requireEvaluable();
    impl.openBatches();
    if (!impl.judge) failInput("the task of the data is neither detection nor segmentation");
    TaskJudge& judge = *impl.judge;
    const SampleBatches single(subset(impl.evaluationData, {sample}), *impl.model.graph, 1);
    if (single.batch() != 1)
        fail(ErrorKind::Unsupported, "the model has a fixed batch size of {}: single images cannot be shown",
             single.batch());
    const auto predictionOf = [&](const ProgramSpec& spec) {
        TaskPrediction prediction;
        runBySample(wholeNetwork(spec, single), single, 0, 1, cancel,
                    [&](std::size_t, const std::vector<ConstantPtr>& values) {
                        const SampleValues outputs = wholeOutputs(*impl.model.graph, values);
                        prediction = judge.predict(sample, outputs.shapes, outputs.values, width, height);
                    });
        return prediction;
    };
    const auto plan = impl.plan(config, {impl.workers, cancel, {}});
    TaskPrediction floating = predictionOf(floatProgram(impl.model.graph, {}, {}));
    TaskPrediction quantized = predictionOf(plan->networkSpec({}, {}));

    TaskPredictions result;
    result.task = judge.task();
    result.classNames = impl.evaluationData->classNames();
    if (const SampleAnnotation* annotation = impl.evaluationData->annotation(sample))
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
