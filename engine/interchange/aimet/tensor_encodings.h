// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scales of a plan in the convention of AIMET and Qualcomm's tools: value = scale * (q + offset), q from
// 0 to 2^bits - 1, offset <= 0.

#include <string>
#include <vector>

#include "interchange/file_format.h"

namespace quantloupe {

struct TensorEncoding {
    std::string tensor;  ///< in the prepared model
    int bits = 8;
    bool symmetric = false;
    bool isSigned = true;  ///< signedness of the preview's integers
    int axis = -1;         ///< -1: one scale
    std::vector<float> scales;
    std::vector<int> offsets;  ///< one per scale
    /// The ONNX zero point of entry `i`.
    int zeroPoint(std::size_t i) const { return isSigned ? -offsets[i] - (1 << (bits - 1)) : -offsets[i]; }
};

struct TensorEncodings {
    /// Both in the order of the model's tensors, without biases.
    std::vector<TensorEncoding> activations, parameters;
};

/// Requires `source.plan`. Throws Error if two layers share a constant but quantize it differently.
TensorEncodings tensorEncodings(const ExportSource& source);

}  // namespace quantloupe
