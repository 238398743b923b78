// SPDX-License-Identifier: Apache-2.0
#pragma once
// Will it hold? The quantized model in ONNX Runtime on the samples that were evaluated, beside what was computed here.
//
// Two halves, because the first needs the session's thread and the second takes long and needs only a copy of what the first found.

#include <filesystem>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "session/session.h"

namespace quantloupe {

/// What the second half compares with. Values only: any thread.
struct VerifySource {
    std::filesystem::path model;  ///< the quantized model's file
    ConstantPtr ours;             ///< the preview's first output, the sample first
    DatasetPtr data;
    std::vector<InputSpec> inputs;
};

struct Verification {
    std::string runtime;  ///< "ONNX Runtime 1.31.1"
    std::size_t samples = 0;
    double agreement = 0;   ///< rate of samples that both give the same class
    double maxAbsDiff = 0;  ///< of the first output
    std::optional<double> here, there;  ///< top-1 as a rate, where labels are known
};

/// Writes the quantized model to `model` and computes the preview's outputs. Throws Error, also without data; Cancelled.
VerifySource prepareVerification(Session& session, const QuantizationConfig& config, const std::filesystem::path& model,
                                 const CancelToken& cancel = {});
/// Runs it; see runOnnxRuntime for `python`, errors and threads.
Verification verify(const VerifySource& source, const std::filesystem::path& python = {}, const CancelToken& cancel = {});
/// Whether what was previewed is what will run: accuracies no further apart than half a point or one sample, classes the same in 99 of
/// 100; and why not, in words. Empty: it holds.
std::string whyVerificationFailed(const Verification& result);

}  // namespace quantloupe
