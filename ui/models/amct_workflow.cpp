// SPDX-License-Identifier: Apache-2.0
#include "models/amct_workflow.h"

#include <algorithm>
#include <cmath>

#include "config/presets.h"
#include "results/task_metric.h"

namespace quantloupe::ui {

namespace {

/// Smallest improvement that counts, in points or decibels.
constexpr double kWorthwhileGain = 0.1;

QuantizationConfig presetOf(const QuantizationConfig& config) {
    try {
        return presetConfig(config.preset);
    } catch (const std::exception&) {
        return presetConfig("default");  // this version does not have the preset
    }
}

/// The settings that step 4 tunes: activation_quant_params and weight_quant_params in AMCT's file.
void resetParameters(QuantizationConfig& config, const QuantizationConfig& preset) {
    config.calibration.method = preset.calibration.method;
    config.calibration.parameters = preset.calibration.parameters;
    config.quantization.activation.symmetric = preset.quantization.activation.symmetric;
    config.quantization.weight.method = preset.quantization.weight.method;
    config.quantization.weight.perChannel = preset.quantization.weight.perChannel;
    config.quantization.weight.perChannelProducts = preset.quantization.weight.perChannelProducts;
    for (auto& [name, settings] : config.layers) {
        settings.calibrationMethod.reset();
        settings.calibrationParameters = {};
        settings.activationSymmetric.reset();
        settings.weightMethod.reset();
        settings.weightPerChannel.reset();
    }
}

void resetSkips(QuantizationConfig& config, const QuantizationConfig& preset) {
    config.rules = preset.rules;
    // quantizing more layers than the preset is not skipping
    config.skipTail = config.skipTail && preset.skipTail;
    for (auto& [name, settings] : config.layers) settings.quantize.reset();
}

}  // namespace

AmctMeasurement::AmctMeasurement(const QuantizationConfig& measured, std::optional<AmctNumber> result)
    : config(withoutCosmeticFields(measured)), number(result) {}

std::optional<AmctNumber> amctNumber(const Accuracy& floating, const Accuracy& quantized, bool randomInputs) {
    if (const auto drop = rateDrop(floating, quantized); drop && !randomInputs && meaningfulRate(quantized))
        return AmctNumber{*drop * 100, false};
    if (quantized.sqnrDb && !std::isnan(*quantized.sqnrDb)) return AmctNumber{*quantized.sqnrDb, true};
    return std::nullopt;
}

double amctGain(const AmctNumber& number, const AmctNumber& than) {
    if (number.inDecibels != than.inDecibels || number.value == than.value) return 0;
    return number.inDecibels ? number.value - than.value : than.value - number.value;
}

bool AmctTarget::met(const AmctNumber& number) const {
    constexpr double kRounding = 1e-9;  // in floating point, 93.5 - 92.5 is not exactly 1
    return number.inDecibels ? number.value >= decibels - kRounding : number.value <= points + kRounding;
}

QuantizationConfig amctSkippedOnly(const QuantizationConfig& config) {
    QuantizationConfig before = config;
    resetParameters(before, presetOf(config));
    return before;
}

QuantizationConfig amctInitial(const QuantizationConfig& config) {
    QuantizationConfig before = amctSkippedOnly(config);
    resetSkips(before, presetOf(config));
    return before;
}

const AmctMeasurement* findMeasurement(const std::vector<AmctMeasurement>& measured,
                                       const QuantizationConfig& config) {
    const QuantizationConfig wanted = withoutCosmeticFields(config);
    const auto found = std::find_if(measured.rbegin(), measured.rend(),
                                    [&](const AmctMeasurement& m) { return m.config == wanted; });
    return found == measured.rend() ? nullptr : &*found;
}

AmctState amctState(const AmctFacts& facts) {
    const auto place = [](AmctStep step) { return static_cast<std::size_t>(step); };
    const auto numberOf = [&](const QuantizationConfig& config) {
        const AmctMeasurement* measurement = findMeasurement(facts.measured, config);
        return measurement ? measurement->number : std::nullopt;
    };
    const QuantizationConfig initial = amctInitial(facts.config), skippedOnly = amctSkippedOnly(facts.config);
    const bool skipped = !haveSameResults(skippedOnly, initial),
               tuned = !haveSameResults(facts.config, skippedOnly);
    const std::optional<AmctNumber> now = numberOf(facts.config);

    AmctState state;
    state.numbers[place(AmctStep::Initial)] = numberOf(initial);
    if (skipped) state.numbers[place(AmctStep::JudgeSkipped)] = numberOf(skippedOnly);
    if (tuned) state.numbers[place(AmctStep::Verdict)] = now;
    for (std::size_t step = 0; step < kAmctSteps; ++step) state.done[step] = state.numbers[step].has_value();
    state.done[place(AmctStep::Skip)] = skipped;

    bool promising = false;  // an evaluated variant is better
    for (const QuantizationConfig& variant : facts.variants) {
        const AmctMeasurement* measurement = findMeasurement(facts.measured, variant);
        state.untried += measurement == nullptr;
        if (measurement && measurement->number && now)
            promising = promising || facts.target.met(*measurement->number) ||
                        amctGain(*measurement->number, *now) >= kWorthwhileGain;
    }

    state.done[place(AmctStep::Parameters)] = tuned || (!facts.variants.empty() && state.untried == 0);

    if (facts.quantizedLayers == 0u) {
        state.present = AmctStep::Verdict;
        state.verdict = TuningVerdict::Removed;
        return state;
    }
    if (!now || facts.target.met(*now)) {
        state.present = tuned ? AmctStep::Verdict : skipped ? AmctStep::JudgeSkipped : AmctStep::Initial;
        state.verdict = now ? TuningVerdict::Good : TuningVerdict::NotMeasured;
        return state;
    }
    state.verdict = TuningVerdict::GoOn;
    if (!skipped && facts.candidates > 0) {
        state.present = AmctStep::Skip;
    } else if (state.untried > 0 || promising) {
        state.present = AmctStep::Parameters;
    } else {
        state.present = AmctStep::Verdict;
        state.verdict = TuningVerdict::Unsuitable;
    }
    return state;
}

}  // namespace quantloupe::ui
