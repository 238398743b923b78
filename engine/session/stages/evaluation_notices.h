// SPDX-License-Identifier: Apache-2.0
#pragma once
// Notices of an evaluation: what the user should know about the configuration and the data.

#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "results/evaluation.h"
#include "session/stages/evaluation_passes.h"
#include "transform/prepare.h"

namespace quantloupe {

/// Returns a notice for each precision rule and each setting of a single layer that has no effect.
std::vector<std::string> idleSettingNotices(const Graph& source, const QuantizationConfig& config,
                                            const std::vector<LayerResult>& layers);

/// Returns a notice if weights or biases that are computed keep layers in float.
std::optional<std::string> computedConstantsNotice(const std::vector<LayerResult>& layers);

/// Returns a notice if a quantized Concat joins tensors with very different ranges.
std::optional<std::string> joinedRangesNotice(const Plan& plan);

/// Returns a notice if labels exceed the number of classes, or if there are no scores to compare them with.
std::optional<std::string> labelNotice(const Dataset& data, const NetworkOutputs& outputs);

/// Returns a notice that names the first sample for which the output of the float network, or else of the
/// quantized one, contains NaN or infinity, if the accuracy is undefined. Outputs: for all samples.
std::optional<std::string> undefinedNotice(const Dataset& data, const NetworkOutputs& floating,
                                           const NetworkOutputs& quantized, const Accuracy& accuracy);

/// Returns a notice if one of several outputs has a much lower SQNR than all of them together.
std::optional<std::string> outputNotice(const Accuracy& accuracy);

/// Returns a notice if the transforms alone change the outputs by more than rounding. `accuracy`: of the
/// transformed float network, compared with the source network.
std::optional<std::string> driftNotice(const Prepared& prepared, const TransformOptions& transforms,
                                       const Accuracy& accuracy);

}  // namespace quantloupe
