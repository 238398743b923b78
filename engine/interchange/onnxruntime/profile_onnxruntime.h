// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures the time of every node of a model in ONNX Runtime, if the user's Python has it.

#include <filesystem>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cost/latency_file.h"
#include "data/dataset.h"

namespace quantloupe {

struct RuntimeProfile {
    LatencyFile times;
    std::string runtime;  ///< "ONNX Runtime 1.31.1"
};

/// Runs the model on the first sample with one thread and ONNX Runtime's default optimizations: a few times
/// to warm up, then `runs` times. Blocks. `python` empty: findPython(). Throws Error as runOnnxRuntime();
/// Cancelled. Any thread.
RuntimeProfile profileOnnxRuntime(const std::filesystem::path& model, const Dataset& data,
                                  const std::vector<InputSpec>& inputs, std::size_t runs,
                                  const CancelToken& cancel = {}, const std::filesystem::path& python = {});

}  // namespace quantloupe
