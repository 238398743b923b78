// SPDX-License-Identifier: Apache-2.0
#pragma once
// Objects found by a detector, and the outputs that they are decoded from.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/data_type.h"
#include "model/shape.h"

namespace quantloupe {

struct Detection {
    double x = 0, y = 0, width = 0, height = 0;  ///< in pixels; (x, y) is the top left corner
    double score = 0;
    std::int32_t category = 0;  ///< class index
};

/// An output of the network without the dimension of the samples. Extents are -1 if they are not known.
struct OutputShape {
    std::string name;
    DataType type = DataType::Float32;
    Dims dims;
};

/// The values of one sample, row-major. Integers are converted to float.
struct SampleOutput {
    Dims dims;  ///< without the dimension of the samples
    std::span<const float> values;
};

/// Intersection over union of two boxes; 0 if both are empty.
double overlapOf(const Detection& a, const Detection& b);

/// Non-maximum suppression within each class: keeps a detection unless its IoU with a kept one of a higher
/// score is above `limit`. Returns at most `most` detections by descending score; equal scores keep their
/// order. Considers only the 30,000 highest scores, as Ultralytics does.
std::vector<Detection> suppressed(std::vector<Detection> detections, double limit, std::size_t most);

}  // namespace quantloupe
