// SPDX-License-Identifier: Apache-2.0
#pragma once
// The current step of AMCT's manual tuning: (1) quantize with the initial configuration and evaluate, (2)
// keep sensitive layers in float, (3) evaluate, (4) tune how activation ranges and weight scales are
// determined, (5) decide: good enough, or the model is not suitable for quantization. Source: "Manual Tuning"
// of AMCT's documentation.
//
// The step is derived from the configuration and the evaluation results, so undo restores it. This works with
// any preset, which defines the initial configuration.

#include <array>
#include <optional>
#include <vector>

#include "commands/config_edits.h"
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
/// Returns the effect of quantization; empty if neither metric is available. With random inputs it is the
/// SQNR, because their classes are meaningless.
std::optional<AmctNumber> amctNumber(const Accuracy& floating, const Accuracy& quantized, bool randomInputs);
/// Returns how much better `number` is than `than`; above 0: better.
double amctGain(const AmctNumber& number, const AmctNumber& than);

struct AmctTarget {
    double points = 1;     ///< largest loss
    double decibels = 26;  ///< least SQNR; a relative error of 0.05, which AMCT's analyzer considers good
    bool met(const AmctNumber& number) const;
};

struct AmctMeasurement {
    AmctMeasurement(const QuantizationConfig& config, std::optional<AmctNumber> number);
    QuantizationConfig config;         ///< withoutCosmeticFields()
    std::optional<AmctNumber> number;  ///< empty: it could not be evaluated
};

enum class TuningVerdict {
    NotMeasured,  ///< the current configuration has no result yet
    GoOn,         ///< not good enough; continue with the current step
    Good,
    Unsuitable,  ///< layers were skipped and all parameter variants were tried without success
    Removed,     ///< nothing is quantized
};

struct AmctFacts {
    QuantizationConfig config;
    /// evaluations with the current model and data; if a configuration occurs twice, the last one is used
    std::vector<AmctMeasurement> measured;
    std::vector<QuantizationConfig> variants;    ///< parameter variants to try
    std::size_t candidates = 0;                  ///< layers that step 2 could still keep in float
    std::optional<std::size_t> quantizedLayers;  ///< empty: not known yet
    AmctTarget target;
};

struct AmctState {
    AmctStep present = AmctStep::Initial;
    TuningVerdict verdict = TuningVerdict::NotMeasured;
    std::array<bool, kAmctSteps> done{};
    std::array<std::optional<AmctNumber>, kAmctSteps> numbers;  ///< of the steps that compare the drop
    std::size_t untried = 0;                                    ///< number of variants without a result
};
AmctState amctState(const AmctFacts& facts);

/// Returns the configuration before steps 2 to 4: with the rules, the calibration and the weight scales of
/// the preset.
QuantizationConfig amctInitial(const QuantizationConfig& config);
/// Returns the configuration with the skipped layers, without step 4.
QuantizationConfig amctSkippedOnly(const QuantizationConfig& config);
/// Returns the newest result of a configuration; null if it was not evaluated.
const AmctMeasurement* findMeasurement(const std::vector<AmctMeasurement>& measured,
                                       const QuantizationConfig& config);

}  // namespace quantloupe::ui
