// SPDX-License-Identifier: Apache-2.0
#pragma once
// The predictions of the float and the quantized network for one sample of a detection or segmentation task,
// for drawing.

#include "analysis/detections.h"
#include "data/annotations.h"
#include "session/session.h"

namespace quantloupe {

struct TaskPredictions {
    Task task = Task::Automatic;
    /// Detection: boxes in pixels of the original image; Detection::category is an index into classNames.
    std::vector<Detection> labels, floating, quantized;
    /// Segmentation: in the resolution of the output, empty without labels.
    LabelImage labelMap, floatMap, quantizedMap;
    /// The area of the original image that the network receives, in pixels of the image.
    double x = 0, y = 0, width = 0, height = 0;
    std::vector<std::string> classNames;  ///< by class index; empty if there are none
};

/// Returns whether the data's task is detection or segmentation.
bool hasTaskPredictions(Session& session);

/// Throws Error naming the label file if the data has labels for detection, but none that counts: then, there
/// is no mAP, and a target for the accuracy cannot be judged. A metric of the user does not need labels.
void requireTaskMetric(Session& session);

/// Decodes the outputs of a sample with an index from findSample(), which has `width` × `height` pixels.
/// Needs data. Throws Error, for example if no decoder fits the outputs; Cancelled.
TaskPredictions taskPredictions(Session& session, const QuantizationConfig& config, std::size_t sample,
                                int width, int height, const CancelToken& cancel = {});

}  // namespace quantloupe
