// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quantization scheme and calibration of one layer: the network's settings, overridden by those of the layer.

#include "base/version.h"
#include "config/quantization_config.h"
#include "model/graph.h"
#include "quantize/calibrate.h"

namespace quantloupe {

/// Calibration of a layer's output tensor.
struct TensorCalibration {
    ActivationScheme scheme;
    CalibrationMethod method = CalibrationMethod::MinMax;
    CalibrationParameters parameters;
    void addTo(VersionBuilder& builder) const;
};

/// Returns the weight scheme of the layer `node`. `settings` is null if the layer has no settings of its own.
WeightScheme weightSchemeOf(const QuantizationConfig& config, const LayerSettings* settings,
                            const Node& node);
int biasBitsOf(const QuantizationConfig& config, const LayerSettings* settings);
/// Throws Error if the parameters contradict each other: a search step larger than the range, or more
/// quantized bins than bins.
TensorCalibration tensorCalibrationOf(const QuantizationConfig& config, const LayerSettings* settings);

void addTo(VersionBuilder& builder, const WeightScheme& scheme);

/// Returns the statistics that the whole configuration needs, including layers that are not quantized now, so
/// that changing skip rules later needs no inference.
StatisticsNeeds statisticsNeeds(const QuantizationConfig& config);

}  // namespace quantloupe
