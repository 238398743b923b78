// SPDX-License-Identifier: Apache-2.0
#pragma once
// What may save layers from staying in float. Internal to engine/search.

#include <string>

#include "session/session.h"

namespace quantloupe {

struct TunedTransforms {
    QuantizationConfig config;
    std::string text;  ///< "equalized as AIMET does, biases corrected"; empty: nothing helped
};

/// Tries equalization, without and with ReLU6 replaced between, and on top of the better one bias correction; each only where the
/// configuration has it off, and kept only if the gain is real (McNemar's exact test; without classes 0.1 dB). What a network cannot
/// have is left out. Throws Cancelled.
TunedTransforms withHelpfulTransforms(Session& session, const QuantizationConfig& config, const CancelToken& cancel);

}  // namespace quantloupe
