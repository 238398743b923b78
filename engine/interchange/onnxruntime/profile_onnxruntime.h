// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures the time of every node of a model in ONNX Runtime, if the user's Python has it.

#include <filesystem>
#include <memory>
#include <string>

#include "base/cancel.h"
#include "cost/latency_file.h"
#include "cost/layer_work.h"
#include "runtime/program/sample_batches.h"
#include "session/session.h"

namespace quantloupe {

/// A quantized model to be measured. Holds only values, so it can be used on any thread.
struct ProfileSource {
    std::filesystem::path model;
    std::shared_ptr<const SampleBatches> sample;  ///< the first one
    NetworkWork work;                             ///< of the configuration, to find its layers in the profile
};

/// Writes the quantized model to `model`. Needs the session's thread. Throws Error, also without data;
/// Cancelled.
ProfileSource prepareProfile(Session& session, const QuantizationConfig& config,
                             const std::filesystem::path& model, const CancelToken& cancel = {});

struct RuntimeProfile {
    LatencyFile times;
    std::string runtime;  ///< "ONNX Runtime 1.31.1"
};

/// Runs the model on the first sample with one thread and ONNX Runtime's default optimizations: a few times
/// to warm up, then `runs` times. Blocks. `python` empty: findPython(). Throws Error as runOnnxRuntime();
/// Cancelled. Any thread.
RuntimeProfile profileOnnxRuntime(const ProfileSource& source, std::size_t runs,
                                  const CancelToken& cancel = {}, const std::filesystem::path& python = {});

}  // namespace quantloupe
