// SPDX-License-Identifier: Apache-2.0
#pragma once
// Transforms that may make it unnecessary to keep layers in float. Internal to engine/search.

#include <string>

#include "session/session.h"

namespace quantloupe {

struct TunedTransforms {
    QuantizationConfig config;
    std::string text;  ///< "AIMET equalization, bias correction"; empty: nothing helped
};

/// Tries equalization, without and with replacing the ReLU6 in between, and then bias correction on top of
/// the better result. Tries only what the configuration has disabled, and keeps it only if the gain is
/// significant (evaluation_gain.h). Skips transforms that the
/// network does not support. Throws Cancelled.
TunedTransforms withHelpfulTransforms(Session& session, const QuantizationConfig& config,
                                      const CancelToken& cancel);

}  // namespace quantloupe
