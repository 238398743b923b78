// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares two configurations on the same samples, and lists the samples whose predicted class quantization
// changes.

#include <string>
#include <vector>

#include "analysis/paired_comparison.h"
#include "session/session.h"

namespace quantloupe {

/// A sample and its index in the original order of the data (among the selected samples, if only some are
/// evaluated).
struct SampleId {
    std::size_t index = 0;
    std::string name;
};

struct ConfigComparison {
    EvaluationPtr before, after;
    std::optional<PairedComparison> paired;  ///< only with classes, or labels for detection or segmentation
    std::vector<SampleId> fixed, broken;     ///< likewise, by index
    /// Output SQNR after - before, in dB; empty if either is infinite.
    std::optional<double> sqnrGain;
    std::string text;  ///< "+0.8 points, 5 samples fixed, 1 broken: within noise", or the gain in dB; first
                       ///< the user's metric, if there is one
};

/// Evaluates and compares both configurations. Needs data. Throws Error, Cancelled.
ConfigComparison compareConfigs(Session& session, const QuantizationConfig& before,
                                const QuantizationConfig& after, const EvaluationObserver& observer = {},
                                const CancelToken& cancel = {});

/// A sample whose predicted class, or own mAP or mIoU, differs from the float network.
struct FlippedSample {
    enum class Kind {
        Broken,  ///< right in float, wrong quantized; or a worse score
        Fixed,   ///< wrong in float, right quantized; or a better score
        Other,   ///< wrong in both, or there is no label
    };
    SampleId sample;
    Kind kind = Kind::Other;
    std::optional<std::int32_t> label;  ///< the label, if there is one
    /// Predicted classes. kNoClass: all outputs are NaN; -1: the outputs are not classes.
    std::int32_t floating = 0, quantized = 0;
    std::optional<double> floatScore = {}, quantizedScore = {};  ///< mAP or mIoU of this sample alone
};

struct FlippedSamples {
    std::vector<FlippedSample> samples;   ///< by index; by change of the score
    std::vector<std::string> classNames;  ///< by class index; empty if there are none
    std::size_t evaluated = 0;
};

/// Describes these samples (positions in Evaluation::classes), whether their class changed or not. Throws
/// Error as flippedSamples().
FlippedSamples chosenSamples(Session& session, const QuantizationConfig& config,
                             const std::vector<std::size_t>& samples, const CancelToken& cancel = {});

/// Returns all samples of a detector or a segmentation network without labels. Needs data. Throws Error if
/// the outputs are not classes and the task is not known; Cancelled.
FlippedSamples flippedSamples(Session& session, const QuantizationConfig& config,
                              const CancelToken& cancel = {});

}  // namespace quantloupe
