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
    std::optional<PairedComparison> paired;  ///< only if the outputs are classes
    std::vector<SampleId> fixed, broken;     ///< likewise, by index
    /// Output SQNR after - before, in dB; empty if either is infinite.
    std::optional<double> sqnrGain;
    std::string text;  ///< "+0.8 points, 5 images fixed, 1 broken: within noise", or the gain in dB
};

/// Evaluates and compares both configurations. Needs data. Throws Error, Cancelled.
ConfigComparison compareConfigs(Session& session, const QuantizationConfig& before,
                                const QuantizationConfig& after, const EvaluationObserver& observer = {},
                                const CancelToken& cancel = {});

/// A sample whose predicted class differs from that of the float network.
struct FlippedSample {
    enum class Kind {
        Broken,  ///< right in float, wrong quantized
        Fixed,   ///< wrong in float, right quantized
        Other,   ///< wrong in both, or there is no label
    };
    SampleId sample;
    Kind kind = Kind::Other;
    std::optional<std::int32_t> label;  ///< the label, if there is one
    std::int32_t floating = 0, quantized = 0;
};

struct FlippedSamples {
    std::vector<FlippedSample> samples;   ///< by index
    std::vector<std::string> classNames;  ///< by class index; empty if there are none
    std::size_t evaluated = 0;
};

/// Needs data. Throws Error if the outputs are not classes; Cancelled.
FlippedSamples flippedSamples(Session& session, const QuantizationConfig& config,
                              const CancelToken& cancel = {});

}  // namespace quantloupe
