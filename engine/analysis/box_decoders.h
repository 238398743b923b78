// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decoders that turn the outputs of a detector into boxes. The table in box_decoders.cpp lists all of them;
// docs/metrics.md describes them for users.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/detections.h"
#include "data/task_settings.h"

namespace quantloupe {

struct InputSize {
    int width = 0, height = 0;
};

/// The outputs that a decoder reads.
struct DecoderOutputs {
    std::vector<std::size_t> indices;  ///< of the network's outputs, in the decoder's order
    std::size_t classes = 0;           ///< 0: not known from the shapes
    bool rows = false;                 ///< yolov8: one row per cell instead of one column
};

struct BoxDecoder {
    std::string_view name;
    std::string_view title;         ///< "YOLOv8 and YOLO11 head: x, y, width, height and class scores"
    CategoryIndex categories;       ///< what a class index usually means
    bool clips = false;             ///< boxes are clipped to the original image
    bool hasUnusedClasses = false;  ///< class indices may be ids with gaps, although they usually are not
    /// Finds the outputs by shape and name; empty if they do not fit.
    std::optional<DecoderOutputs> (*find)(std::span<const OutputShape> outputs, InputSize input);
    /// Decodes boxes, in pixels of the network's input. `values` are in the order of DecoderOutputs::indices.
    std::vector<Detection> (*decode)(std::span<const SampleOutput> values, const DecoderOutputs& outputs,
                                     InputSize input);
};
/// All decoders, in the order in which they are tried.
std::span<const BoxDecoder> boxDecoders();

struct ChosenDecoder {
    const BoxDecoder* decoder = nullptr;
    DecoderOutputs outputs;
};
/// Returns the decoder with this name, or the first one that fits if the name is empty. Throws Error that
/// lists the outputs and the decoders if none fits.
ChosenDecoder chooseDecoder(std::span<const OutputShape> outputs, InputSize input, const std::string& name);

/// "'output0' 84×8400 as yolov8 (YOLOv8 and YOLO11 head: ...)".
std::string describe(const ChosenDecoder& chosen, std::span<const OutputShape> outputs);

/// Returns boxes in pixels of the network's input.
std::vector<Detection> decodeBoxes(const ChosenDecoder& chosen, std::span<const SampleOutput> outputs,
                                   InputSize input);

}  // namespace quantloupe
