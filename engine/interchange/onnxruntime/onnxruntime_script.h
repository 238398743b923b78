// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of the script that calls ONNX Runtime's quantize_static.

#include <string>
#include <vector>

#include "interchange/file_format.h"

namespace quantloupe {

/// The arguments of quantize_static; types are Python expressions.
struct QuantizeStaticCall {
    std::string method;  ///< of CalibrationMethod
    std::string activationType, weightType;
    bool perChannel = false;
    std::vector<std::string> options;    ///< of extra_options, as "KEY": VALUE
    std::vector<std::string> excluded;   ///< names of the nodes that stay in float
    std::vector<std::string> overrides;  ///< of TensorQuantOverrides, as "TENSOR": VALUE
};

/// Returns a Python script that quantizes `model`, a file next to the script.
std::string quantizeStaticScript(const ExportSource& source, const std::string& model,
                                 const QuantizeStaticCall& call);

}  // namespace quantloupe
