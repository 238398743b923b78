// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two configurations on the same samples, and which samples quantization turned.

#include <string>
#include <vector>

#include "analysis/paired_comparison.h"
#include "session/session.h"

namespace quantloupe {

/// A sample, by its place in the data as it was given (where samples were chosen, among the chosen ones).
struct SampleId {
    std::size_t index = 0;
    std::string name;
};

struct ConfigComparison {
    EvaluationPtr before, after;
    std::optional<PairedComparison> paired;  ///< where the outputs are classes
    std::vector<SampleId> fixed, broken;     ///< likewise, by index
    /// after - before, of the outputs' SQNR in dB; empty where one is infinite.
    std::optional<double> sqnrGain;
    std::string text;  ///< "+0.8 points, 5 images fixed, 1 broken: within noise", or the gain in dB
};

/// Evaluates both. Needs data. Throws Error, Cancelled.
ConfigComparison compareConfigs(Session& session, const QuantizationConfig& before, const QuantizationConfig& after,
                                const EvaluationObserver& observer = {}, const CancelToken& cancel = {});

/// A sample whose class is not what it was in float.
struct FlippedSample {
    enum class Kind {
        Broken,  ///< right in float, wrong quantized
        Fixed,   ///< the other way round
        Other,   ///< wrong twice, or nobody knows what is right
    };
    SampleId sample;
    Kind kind = Kind::Other;
    std::optional<std::int32_t> wanted;  ///< the label, where there is one
    std::int32_t floating = 0, quantized = 0;
};

struct FlippedSamples {
    std::vector<FlippedSample> samples;   ///< by index
    std::vector<std::string> classNames;  ///< by class; empty if they have none
    std::size_t evaluated = 0;
};

/// Needs data. Throws Error where the outputs are no classes; Cancelled.
FlippedSamples flippedSamples(Session& session, const QuantizationConfig& config, const CancelToken& cancel = {});

}  // namespace quantloupe
