// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a detector or a segmentation network sees in one sample, float and quantized, for drawing.

#include "analysis/detections.h"
#include "data/annotations.h"
#include "session/session.h"

namespace quantloupe {

struct TaskPredictions {
    Task task = Task::Automatic;
    /// Detection: in pixels of the original image; Detection::category indexes classNames.
    std::vector<Detection> labels, floating, quantized;
    /// Segmentation: in the resolution of the output, empty without labels.
    LabelImage labelMap, floatMap, quantizedMap;
    /// The area of the original image that the network sees, in its pixels.
    double x = 0, y = 0, width = 0, height = 0;
    std::vector<std::string> classNames;  ///< by class index; empty if there are none
};

/// Returns whether the data's task is detection or segmentation.
bool hasTaskPredictions(Session& session);

/// Decodes the outputs of a sample with an index from findSample(), which has `width` × `height` pixels.
/// Needs data. Throws Error, for example if no decoder fits the outputs; Cancelled.
TaskPredictions taskPredictions(Session& session, const QuantizationConfig& config, std::size_t sample,
                                int width, int height, const CancelToken& cancel = {});

}  // namespace quantloupe
