// SPDX-License-Identifier: Apache-2.0
#include "quantize/layer_scheme.h"

#include "base/error.h"

namespace quantloupe {
namespace {

template <typename Value>
void override(Value& value, const std::optional<Value>& own) {
    if (own) value = *own;
}

template <typename Value>
void override(std::optional<Value>& value, const std::optional<Value>& own) {
    if (own) value = own;
}

void check(const TensorCalibration& calibration) {
    const CalibrationParameters& p = calibration.parameters;
    const bool ifmr = calibration.method == CalibrationMethod::Ifmr;
    if (ifmr || calibration.method == CalibrationMethod::Mse) {
        const auto [start, end] = p.searchRange.value_or(ifmr ? std::array{0.7, 1.3} : std::array{0.2, 1.0});
        const double step = p.searchStep.value_or(0.01);
        // Decimal fractions are not exact in binary: 1.3 - 0.7 is less than 0.6, but must still allow a step
        // of 0.6.
        if (step > end - start + 1e-9)
            failInput("calibration: search_step {} is larger than the width of search_range [{}, {}]; choose a smaller step", step, start, end);
    }
    if (calibration.method == CalibrationMethod::Entropy && p.quantizedBins.value_or(128) > p.bins.value_or(128))
        failInput("calibration: num_quantized_bins {} is more than num_bins {}; choose fewer", p.quantizedBins.value_or(128),
                  p.bins.value_or(128));
}

}  // namespace

WeightScheme weightSchemeOf(const QuantizationConfig& config, const LayerSettings* settings, const Node& node) {
    WeightScheme scheme = config.quantization.weight;
    if (!scheme.perChannelProducts && (node.op == "Gemm" || node.op == "MatMul")) scheme.perChannel = false;
    if (settings == nullptr) return scheme;
    override(scheme.bits, settings->weightBits);
    override(scheme.perChannel, settings->weightPerChannel);
    override(scheme.isSigned, settings->weightSigned);
    override(scheme.symmetric, settings->weightSymmetric);
    override(scheme.restricted, settings->weightRestricted);
    override(scheme.powerOfTwo, settings->weightPowerOfTwo);
    override(scheme.method, settings->weightMethod);
    return scheme;
}

int biasBitsOf(const QuantizationConfig& config, const LayerSettings* settings) {
    return settings != nullptr ? settings->biasBits.value_or(config.quantization.biasBits) : config.quantization.biasBits;
}

TensorCalibration tensorCalibrationOf(const QuantizationConfig& config, const LayerSettings* settings) {
    TensorCalibration result{config.quantization.activation, config.calibration.method, config.calibration.parameters};
    if (settings != nullptr) {
        override(result.scheme.bits, settings->activationBits);
        override(result.scheme.isSigned, settings->activationSigned);
        override(result.scheme.symmetric, settings->activationSymmetric);
        override(result.scheme.powerOfTwo, settings->activationPowerOfTwo);
        override(result.method, settings->calibrationMethod);
        const CalibrationParameters& own = settings->calibrationParameters;
        override(result.parameters.averagingConstant, own.averagingConstant);
        override(result.parameters.percentile, own.percentile);
        override(result.parameters.bins, own.bins);
        override(result.parameters.quantizedBins, own.quantizedBins);
        override(result.parameters.mode, own.mode);
        override(result.parameters.maxPercentile, own.maxPercentile);
        override(result.parameters.minPercentile, own.minPercentile);
        override(result.parameters.searchRange, own.searchRange);
        override(result.parameters.searchStep, own.searchStep);
        override(result.parameters.numOfBins, own.numOfBins);
    }
    check(result);
    return result;
}

void TensorCalibration::addTo(VersionBuilder& builder) const {
    const auto add = [&](const auto& value) {
        builder.add(value.has_value());
        if (value) builder.add(*value);
    };
    builder.add(scheme.bits).add(scheme.isSigned).add(scheme.symmetric).add(scheme.powerOfTwo).add(method);
    add(parameters.averagingConstant);
    add(parameters.percentile);
    add(parameters.bins);
    add(parameters.quantizedBins);
    add(parameters.mode);
    add(parameters.maxPercentile);
    add(parameters.minPercentile);
    add(parameters.searchStep);
    add(parameters.numOfBins);
    builder.add(parameters.searchRange.has_value());
    if (parameters.searchRange) builder.add((*parameters.searchRange)[0]).add((*parameters.searchRange)[1]);
}

void addTo(VersionBuilder& builder, const WeightScheme& scheme) {
    builder.add(scheme.bits).add(scheme.perChannel).add(scheme.perChannelProducts).add(scheme.restricted).add(scheme.isSigned).add(scheme.symmetric);
    builder.add(scheme.powerOfTwo).add(scheme.method);
}

StatisticsNeeds statisticsNeeds(const QuantizationConfig& config) {
    StatisticsNeeds needs;
    const auto look = [&](const TensorCalibration& calibration) {
        needs.distribution = needs.distribution || needsDistribution(calibration.method);
        if (needsVotes(calibration.method, calibration.parameters)) needs.voteBits.insert(calibration.scheme.bits);
    };
    look(tensorCalibrationOf(config, nullptr));
    for (const auto& [name, settings] : config.layers) {
        try {
            look(tensorCalibrationOf(config, &settings));
        } catch (Error& error) {
            error.addContext(fmt::format("layer '{}'", name));
            throw;
        }
    }
    return needs;
}

}  // namespace quantloupe
