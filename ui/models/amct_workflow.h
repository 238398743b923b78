// SPDX-License-Identifier: Apache-2.0
#pragma once
// The current step of AMCT's manual tuning: (1) quantize with the initial configuration and evaluate, (2)
// keep sensitive layers in float, (3) evaluate, (4) tune how activation ranges and weight scales are
// determined, (5) decide: good enough, or the model is not suitable for quantization. Source: "Manual Tuning"
// of AMCT's documentation.
//
// All of it is derived from the configuration and the evaluation results, so that undo restores the step. It
// fits any preset: the initial configuration is the preset's.

#include <array>
#include <optional>
#include <vector>

#include "config/quantization_config.h"
#include "results/evaluation.h"

namespace quantloupe::ui {

inline constexpr const char* kAmctPreset = "amct-default";

enum class AmctStep { Initial, Skip, JudgeSkipped, Parameters, Verdict };
inline constexpr std::size_t kAmctSteps = 5;

/// The effect of quantization on accuracy: points lost, or the SQNR of the outputs if there are no classes.
struct AmctNumber {
    double value = 0;
    bool inDecibels = false;
};
/// Nothing: there is neither. Classes of random inputs mean nothing: then it is the SQNR.
std::optional<AmctNumber> amctNumber(const Accuracy& floating, const Accuracy& quantized, bool randomInputs);
/// Above 0: the first is better.
double amctGain(const AmctNumber& number, const AmctNumber& than);

struct AmctTarget {
    double points = 1;     ///< largest loss
    double decibels = 26;  ///< least SQNR; a relative error of 0.05, which AMCT's analyzer takes for good
    bool met(const AmctNumber& number) const;
};

struct AmctMeasurement {
    /// The configuration without settings that no result depends on (comments, export options).
    AmctMeasurement(QuantizationConfig config, std::optional<AmctNumber> number);
    QuantizationConfig config;
    std::optional<AmctNumber> number;  ///< nothing: it could not be measured
};

enum class AmctVerdict {
    NotMeasured,  ///< the present configuration has no number yet
    GoOn,         ///< not good enough; the present step is what to do next
    Good,
    Unsuitable,  ///< layers were skipped, all variants of the parameters were tried, and nothing came of it
    Removed,     ///< nothing is quantized
};

struct AmctFacts {
    QuantizationConfig config;
    /// on the present model and data; of two with one configuration the last counts
    std::vector<AmctMeasurement> measured;
    std::vector<QuantizationConfig> variants;    ///< of the parameters, that are worth trying
    std::size_t candidates = 0;                  ///< layers that step 2 could still keep in float
    std::optional<std::size_t> quantizedLayers;  ///< nothing: not known yet
    AmctTarget target;
};

struct AmctState {
    AmctStep present = AmctStep::Initial;
    AmctVerdict verdict = AmctVerdict::NotMeasured;
    std::array<bool, kAmctSteps> done{};
    std::array<std::optional<AmctNumber>, kAmctSteps> numbers;  ///< of the steps that judge
    std::size_t untried = 0;                                    ///< variants without a measurement
};
AmctState amctState(const AmctFacts& facts);

/// The configuration before steps 2 to 4: the preset's rules, calibration and weight scales.
QuantizationConfig amctInitial(const QuantizationConfig& config);
/// With the skipped layers, without step 4.
QuantizationConfig amctSkippedOnly(const QuantizationConfig& config);
/// Whether both give the same results.
bool sameMeasurement(const QuantizationConfig& one, const QuantizationConfig& other);
/// The newest result; null if it was not evaluated.
const AmctMeasurement* findMeasurement(const std::vector<AmctMeasurement>& measured,
                                       const QuantizationConfig& config);

}  // namespace quantloupe::ui
