// SPDX-License-Identifier: Apache-2.0
#include "quantize/layer_scheme.h"

#include "base/error.h"
#include "config/config_fields.h"
#include "config/parameter_check.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

/// Returns the options of the network, overridden by the settings of the layer.
LayerOptions optionsOf(LayerOptions options, const LayerSettings* settings) {
    if (settings != nullptr)
        for (const Field& field : layerFields()) field.applyLayer(*settings, options);
    return options;
}

/// Adds all layer fields whose keys begin with the prefix.
void addFields(VersionBuilder& builder, std::string_view prefix, const LayerOptions& options) {
    for (const Field& field : layerFields())
        if (field.key.starts_with(prefix)) field.addTo(options, builder);
}

void check(const TensorCalibration& calibration) {
    const CalibrationParameters p = withDefaults(calibration.method, calibration.parameters);
    if (calibration.method == CalibrationMethod::Ifmr || calibration.method == CalibrationMethod::Mse)
        checkSearchStep("calibration.parameters.", *p.searchStep, p.searchRange->front(),
                        p.searchRange->back());
    if (calibration.method == CalibrationMethod::Entropy && *p.quantizedBins > *p.bins)
        failInput("calibration: num_quantized_bins {} is more than num_bins {}; choose fewer",
                  *p.quantizedBins, *p.bins);
}

}  // namespace

WeightScheme weightSchemeOf(const QuantizationConfig& config, const LayerSettings* settings,
                            const Node& node) {
    QuantizationOptions network = config.quantization;
    if (!network.weight.perChannelProducts && traitsOf(node).kind == OperatorKind::Product)
        network.weight.perChannel = false;
    return optionsOf({network, config.calibration}, settings).quantization.weight;
}

int biasBitsOf(const QuantizationConfig& config, const LayerSettings* settings) {
    return optionsOf({config.quantization, config.calibration}, settings).quantization.biasBits;
}

TensorCalibration tensorCalibrationOf(const QuantizationConfig& config, const LayerSettings* settings) {
    const LayerOptions options = optionsOf({config.quantization, config.calibration}, settings);
    TensorCalibration result{options.quantization.activation, options.calibration.method,
                             options.calibration.parameters};
    check(result);
    return result;
}

void TensorCalibration::addTo(VersionBuilder& builder) const {
    LayerOptions options;
    options.quantization.activation = scheme;
    options.calibration.method = method;
    options.calibration.parameters = parameters;
    addFields(builder, "quantization.activation.", options);
    addFields(builder, "calibration.", options);
}

void addTo(VersionBuilder& builder, const WeightScheme& scheme) {
    LayerOptions options;
    options.quantization.weight = scheme;
    addFields(builder, "quantization.weight.", options);
}

StatisticsNeeds statisticsNeeds(const QuantizationConfig& config) {
    StatisticsNeeds needs;
    const auto look = [&](const TensorCalibration& calibration) {
        needs.distribution = needs.distribution || needsDistribution(calibration.method);
        if (needsVotes(calibration.method, calibration.parameters))
            needs.voteBits.insert(calibration.scheme.bits);
    };
    look(tensorCalibrationOf(config, nullptr));
    std::set<int> bits = {config.quantization.activation.bits};
    for (const auto& [name, settings] : config.layers) {
        try {
            look(tensorCalibrationOf(config, &settings));
            if (settings.activationBits) bits.insert(*settings.activationBits);
        } catch (Error& error) {
            error.addContext(fmt::format("layer '{}'", name));
            throw;
        }
    }
    // A tensor can be converted to the bits of any layer.
    if (!needs.voteBits.empty() && bits.size() > 1) needs.voteBits.merge(bits);
    return needs;
}

}  // namespace quantloupe
