// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip rules with a threshold: which layers are beyond it, from measured metrics.
//
// A metric that a rule acts on must not depend on what the rule does. weight.* and local.* are of one layer alone, so they are
// measured with no skip rules at all; cumulative.* and leave_one_out are those of the configuration without its threshold rules.
// Layers that are not quantized there have no leave_one_out, and no rule takes them.

#include "config/quantization_config.h"
#include "session/session_impl.h"

namespace quantloupe {

/// `config` with SkipRule::layers of its threshold rules filled; measures what is not known yet. `notices` tells of rules that need
/// data and have none: they cover nothing. Throws Error, Cancelled.
QuantizationConfig withThresholdsMeasured(Session::Impl& session, const QuantizationConfig& config, const RunControl& control,
                                          std::vector<std::string>* notices = nullptr);

/// Threshold rules that are filled become node rules, so that later edits do not move them.
QuantizationConfig withThresholdsFixed(QuantizationConfig measured);

}  // namespace quantloupe
