// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheme and the calibration of one layer: the network's, and over it what was set for the layer.

#include "base/version.h"
#include "config/quantization_config.h"
#include "model/graph.h"
#include "quantize/calibrate.h"

namespace quantloupe {

/// How the tensor that a layer makes is calibrated.
struct TensorCalibration {
    ActivationScheme scheme;
    CalibrationMethod method = CalibrationMethod::MinMax;
    CalibrationParameters parameters;
    void addTo(VersionBuilder& builder) const;
};

/// `settings` null: nothing was set for the layer, which is `node`.
WeightScheme weightSchemeOf(const QuantizationConfig& config, const LayerSettings* settings, const Node& node);
int biasBitsOf(const QuantizationConfig& config, const LayerSettings* settings);
/// Throws Error where the parameters together make no sense: a search step larger than the range, more quantized bins than bins.
TensorCalibration tensorCalibrationOf(const QuantizationConfig& config, const LayerSettings* settings);

void addTo(VersionBuilder& builder, const WeightScheme& scheme);

/// Of the whole configuration, whichever layers are quantized now: so that a later skip needs no inference.
StatisticsNeeds statisticsNeeds(const QuantizationConfig& config);

}  // namespace quantloupe
