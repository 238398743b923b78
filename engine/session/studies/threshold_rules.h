// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip rules with a threshold: determines the matching layers from measured metrics.
//
// The metric of a rule must not depend on the effect of the rule. weight.* and local.* concern only one
// layer, so they are measured without any skip rules; cumulative.* and leave_one_out are measured with the
// configuration without its threshold rules. Layers that are not quantized there have no leave_one_out, so no
// such rule matches them.

#include "config/quantization_config.h"
#include "session/session_parts.h"

namespace quantloupe {

/// Returns `config` with SkipRule::layers of its threshold rules filled in, measuring what is not known yet.
/// `notices` names the rules that match no layers, and why. Throws Error, Cancelled.
QuantizationConfig withThresholdsMeasured(SessionParts& parts, const QuantizationConfig& config,
                                          const RunControl& control,
                                          std::vector<std::string>* notices = nullptr);

/// Replaces measured threshold rules with node rules, so that later edits do not change them.
QuantizationConfig withThresholdsFixed(QuantizationConfig measured);

}  // namespace quantloupe
