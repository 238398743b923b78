// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plan's scales the way AIMET and Qualcomm's tools write them: value = scale * (q + offset), q from 0 to 2^bits - 1, offset <= 0.

#include <string>
#include <vector>

#include "interchange/dialect.h"

namespace quantloupe {

struct TensorEncoding {
    std::string tensor;  ///< in the prepared model
    int bits = 8;
    bool symmetric = false;
    bool isSigned = true;  ///< of the integers that the preview used
    int axis = -1;         ///< -1: one scale
    std::vector<float> scales;
    std::vector<int> offsets;  ///< one a scale
    /// ONNX's zero point of entry `i`.
    int zeroPoint(std::size_t i) const { return isSigned ? -offsets[i] - (1 << (bits - 1)) : -offsets[i]; }
};

struct TensorEncodings {
    std::vector<TensorEncoding> activations, parameters;  ///< each in the order of the model's tensors; biases are not among them
};

/// `source.plan` must be there. Throws Error if a constant has other codes for two layers that share it.
TensorEncodings tensorEncodings(const ExportSource& source);

}  // namespace quantloupe
