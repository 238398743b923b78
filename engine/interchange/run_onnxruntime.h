// SPDX-License-Identifier: Apache-2.0
#pragma once
// ONNX Runtime in the person's Python, if there is one: does what was exported compute what the preview computed?

#include <filesystem>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "data/dataset.h"
#include "model/constant.h"

namespace quantloupe {

struct RuntimeOutputs {
    ConstantPtr values;   ///< the first output of all samples, the sample first
    std::string runtime;  ///< "ONNX Runtime 1.31.1"
};

/// The Python to use: QUANTLOUPE_PYTHON, or python3 on the PATH; empty if there is none.
std::filesystem::path findPython();

/// Runs the model on all samples without ONNX Runtime's graph optimizations, which round in other places. Blocks; writes the inputs to a
/// folder of its own below the system's temporary one, and removes it. `python` empty: findPython(). Throws Error: without Python or
/// onnxruntime it says how to get them; Cancelled. Any thread.
RuntimeOutputs runOnnxRuntime(const std::filesystem::path& model, const Dataset& data, const std::vector<InputSpec>& inputs,
                              const CancelToken& cancel = {}, const std::filesystem::path& python = {});

}  // namespace quantloupe
