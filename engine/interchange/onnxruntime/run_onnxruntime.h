// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs an exported model in ONNX Runtime, if the user's Python has it, to compare it with the preview.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "data/dataset.h"
#include "model/constant.h"

namespace quantloupe {

struct RuntimeOutputs {
    std::vector<ConstantPtr> values;  ///< the selected outputs of all samples, joined along the first axis
    std::string runtime;              ///< "ONNX Runtime 1.31.1"
    std::vector<ConstantPtr>
        optimized{};                 ///< the same at the default optimization level; empty if that failed
    std::string optimizedFailure{};  ///< why
};

/// Returns QUANTLOUPE_PYTHON or else python3 on the PATH; empty if there is none.
std::filesystem::path findPython();

/// Runs the model on all samples: without ONNX Runtime's graph optimizations, which change where values are
/// rounded, and at its default optimization level. `positions` selects the outputs. If the model has a fixed
/// batch size, the last batch is filled with its last sample. Blocks. Writes the inputs to a temporary folder
/// and removes it afterwards. `python` empty: findPython(). Throws Error, which explains how to install
/// Python or onnxruntime if they are missing; Cancelled. Any thread.
RuntimeOutputs runOnnxRuntime(const std::filesystem::path& model, const Dataset& data,
                              const std::vector<InputSpec>& inputs, const CancelToken& cancel = {},
                              const std::filesystem::path& python = {},
                              const std::vector<std::size_t>& positions = {0});

/// Writes the samples into files inputs_000000.npz, ... with one array per graph input, samples first.
void writeInputs(const Dataset& data, const std::vector<InputSpec>& inputs,
                 const std::filesystem::path& folder, const CancelToken& cancel);
/// Runs a Python script in which numpy (as np), onnxruntime, pathlib, sys and two functions are defined:
/// batch_of(session) is the number of samples that a model takes at a time, and rows_of(arrays, first, batch)
/// returns a batch. Returns what it printed.
/// Throws as runOnnxRuntime().
std::string runRuntimeScript(std::string_view script, const std::vector<std::string>& arguments,
                             double timeoutSeconds, const CancelToken& cancel,
                             const std::filesystem::path& python);

}  // namespace quantloupe
