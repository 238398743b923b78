// SPDX-License-Identifier: Apache-2.0
#pragma once
// analyze --images, --image and --against: results for single samples.

#include "json_output.h"
#include "session/stages/sample_divergence.h"
#include "session/studies/compare_configs.h"

namespace quantloupe::cli {

OrderedJson toJson(const FlippedSamples& flipped);
OrderedJson toJson(const SampleDivergence& divergence);
OrderedJson toJson(const ConfigComparison& comparison);
void printReadable(const FlippedSamples& flipped);
void printReadable(const SampleDivergence& divergence);
void printReadable(const ConfigComparison& comparison, const std::string& against);

}  // namespace quantloupe::cli
