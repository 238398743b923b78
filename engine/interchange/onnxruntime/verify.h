// SPDX-License-Identifier: Apache-2.0
#pragma once
// Verifies the quantized model: runs it in ONNX Runtime on the evaluated samples and compares the outputs
// with the preview's.
//
// There are two steps: the first needs the session's thread, the second takes long but needs only the results
// of the first.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "analysis/tensor_metrics.h"
#include "analysis/user_metric.h"
#include "base/cancel.h"
#include "runtime/program/sample_batches.h"
#include "session/output_grader.h"
#include "session/session.h"

namespace quantloupe {

/// One output that is compared.
struct VerifiedOutput {
    std::size_t position = 0;  ///< among the outputs of the model
    std::string name;
    ConstantPtr ours;  ///< the values in the preview, float32
    /// How far the file's values may be from the preview's (Euclidean distance): as far as the preview is
    /// from the float network. Rounding at ties and in sums changes much less.
    double allowed = 0;
    ConstantPtr floating;    ///< the float network's output; null if it has another shape
    float threshold = 0;     ///< binaryThreshold()
    std::size_t scores = 0;  ///< scoreCount()
};

/// The session's user-defined metric, which reads all outputs.
struct VerifiedMetric {
    UserMetric metric;
    MetricInput preview;  ///< the labels, and the outputs of the preview
    double here = 0;      ///< of the preview
    /// Outputs that ONNX Runtime computes: their positions and names.
    std::map<std::size_t, std::string> outputs;
};

/// The input of verify(). Holds only values, so it can be used on any thread.
struct VerifySource {
    std::filesystem::path model;          ///< the quantized model's file
    std::vector<VerifiedOutput> outputs;  ///< at least one
    std::shared_ptr<const SampleBatches> samples;
    std::shared_ptr<const OutputGrader> grader;  ///< null without labels of boxes, label images or tokens
    bool binaryLabels = false;                   ///< hasBinaryLabels() of the session
    std::optional<VerifiedMetric> metric{};
};

/// Outputs of ONNX Runtime, compared with the preview's.
struct RuntimeComparison {
    double agreement = 0;               ///< rate of samples with the same predicted class
    double maxAbsDiff = 0;              ///< largest difference in all compared outputs
    std::optional<TaskValue> rate;      ///< top-1, mAP, mIoU or token accuracy, if there are labels
    DifferenceSums error = {};          ///< against the float network
    std::optional<double> metric = {};  ///< the user's metric, if there is one
};

struct Verification {
    std::string runtime;  ///< "ONNX Runtime 1.31.1"
    std::size_t samples = 0;
    bool classifies = true;         ///< false: no output has classes, so agreement is not judged
    std::optional<TaskValue> here;  ///< RuntimeComparison::rate of the preview
    /// Why labels of boxes, label images or tokens are not used; empty if they are, or if there are none.
    std::string whyNoRate;
    DifferenceSums error;          ///< of the preview against the float network
    std::optional<double> metric;  ///< the user's metric of the preview, if there is one
    RuntimeComparison plain;       ///< without graph optimizations
    /// Names of the outputs that are too far from the preview's.
    std::vector<std::string> differing;
    /// Names of the outputs that could not be compared, because their shape is not that of the preview's.
    std::vector<std::string> notCompared;
    /// At the default optimization level; empty if it failed there.
    std::optional<RuntimeComparison> optimized;
    std::string optimizedFailure;  ///< why it failed there
    /// At the default level with the session option x64quantprecision, if the default level changes the
    /// outputs.
    std::optional<RuntimeComparison> exact;
    std::string exactFailure;  ///< why it failed with this option
};

/// Writes the quantized model to `model` and computes the preview's outputs, and its user-defined metric if
/// the session has one. Throws Error, also without data; Cancelled.
VerifySource prepareVerification(Session& session, const QuantizationConfig& config,
                                 const std::filesystem::path& model, const CancelToken& cancel = {});
/// Runs the model and compares; see runOnnxRuntime for `python`, errors and threads.
Verification verify(const VerifySource& source, const std::filesystem::path& python = {},
                    const CancelToken& cancel = {});
/// Returns an empty string if the model behaves as previewed, otherwise the reason: the accuracies may differ
/// by at most half a point or one sample, at least 99 % of the predicted classes (or all but one) must be the
/// same, no output may be further from the preview than the preview is from the float network, and the model
/// must run at ONNX Runtime's default optimization level, where other differences are not judged.
std::string whyVerificationFailed(const Verification& result);
/// Why the outputs at ONNX Runtime's default level are further from the preview than necessary, and what to
/// do: 8-bit kernels that saturate on this processor, or sums that do not fit int32. Otherwise empty.
std::string optimizationAdvice(const Verification& result);

}  // namespace quantloupe
