// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of the script that calls ONNX Runtime's quantize_static.

#include <string>
#include <string_view>
#include <vector>

#include "interchange/file_format.h"

namespace quantloupe {

/// Operators that quantize_static quantizes without op_types_to_quantize (onnxruntime 1.17 to 1.31).
const std::vector<std::string_view>& quantizeStaticOperators();

/// A calibration method as arguments of quantize_static.
struct QuantizeStaticMethod {
    std::string name;                  ///< of CalibrationMethod
    std::vector<std::string> options;  ///< of extra_options
    bool same = true;                  ///< ONNX Runtime has the method of the preview
    /// With the same ranges to the last bit. Its histograms depend on the batches.
    bool exact = false;
};

QuantizeStaticMethod quantizeStaticMethod(const CalibrationOptions& calibration);

/// The arguments of quantize_static; types are Python expressions.
struct QuantizeStaticCall {
    std::string method;  ///< of CalibrationMethod
    std::string activationType, weightType;
    bool perChannel = false;
    std::vector<std::string> options;    ///< of extra_options, as "KEY": VALUE
    std::vector<std::string> excluded;   ///< names of the nodes that stay in float
    std::vector<std::string> overrides;  ///< of TensorQuantOverrides, as "TENSOR": VALUE
    /// Names of Relu and Clip nodes that stay, without a quantizer before them.
    std::vector<std::string> kept;
    /// The codes that weights may have, if not all of their type, as "TENSOR": (LOWEST, HIGHEST).
    std::vector<std::string> codes;
};

/// Returns a Python script that quantizes `model`, a file next to the script.
std::string quantizeStaticScript(const ExportSource& source, const std::string& model,
                                 const QuantizeStaticCall& call);

}  // namespace quantloupe
