// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs an exported model in ONNX Runtime, if the user's Python has it, to compare it with the preview.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "model/constant.h"
#include "runtime/program/sample_batches.h"

namespace quantloupe {

struct RuntimeOutputs {
    std::vector<ConstantPtr> values;  ///< the selected outputs, of all samples
    std::string runtime;              ///< "ONNX Runtime 1.31.1"
    /// The same at the default optimization level; empty if that failed.
    std::vector<ConstantPtr> optimized{};
    std::string optimizedFailure{};  ///< why
    /// At the default level without saturation (session.x64quantprecision); empty if the default level
    /// changes nothing.
    std::vector<ConstantPtr> exact{};
    std::string exactFailure{};  ///< why it failed
};

/// Returns QUANTLOUPE_PYTHON or else python3 on the PATH; empty if there is none.
std::filesystem::path findPython();

/// Runs the model on all samples: without ONNX Runtime's graph optimizations, which change where values are
/// rounded, and at its default optimization level with and without saturation. `outputs` are the positions of
/// the outputs to return, with the dimensions of the values of all samples: the values of the runs are joined
/// in the dimension that is different. Blocks. Writes the inputs to a temporary folder and removes it
/// afterwards. `python` empty: findPython(). Throws Error, which explains how to install Python or
/// onnxruntime if they are missing; Cancelled. Any thread.
RuntimeOutputs runOnnxRuntime(const std::filesystem::path& model, const SampleBatches& samples,
                              const std::map<std::size_t, Dims>& outputs, const CancelToken& cancel = {},
                              const std::filesystem::path& python = {});

/// Writes the batches of samples into the files inputs_000000.npz, ... with one array per graph input.
void writeInputs(const SampleBatches& samples, const std::filesystem::path& folder,
                 const CancelToken& cancel);
/// Runs a Python script in which numpy (as np), onnxruntime, pathlib and sys are imported. Returns what it
/// printed. Throws as runOnnxRuntime().
std::string runRuntimeScript(std::string_view script, const std::vector<std::string>& arguments,
                             double timeoutSeconds, const CancelToken& cancel,
                             const std::filesystem::path& python);

}  // namespace quantloupe
