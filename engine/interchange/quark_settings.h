// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configuration in Quark's words, for its script and for its QConfig JSON.

#include <string>
#include <vector>

#include "interchange/dialect.h"

namespace quantloupe {

struct QuarkSettings {
    /// Quark folds, replaces and equalizes itself, on the source; otherwise it gets the model with all of that done.
    bool ownTransforms = false;
    GraphPtr model;
    bool includeCle = false, replaceClip6 = false;
    bool npu = false;                  ///< enable_npu_cnn
    bool powerOfTwo = false;           ///< scales of weights and activations
    std::string method;                ///< "PowerOfTwoMethod.MinMSE", "CalibrationMethod.MinMax"
    std::string calibration;           ///< the same of the new API: "MinMSE"
    int activationBits = 8, weightBits = 8;
    std::vector<std::string> excluded; ///< node names and output tensors' names
    std::vector<std::string> notices;  ///< what Quark cannot do
};

/// Throws Error for a layer whose name Quark could not hold.
QuarkSettings quarkSettings(const ExportSource& source);
/// QConfig.from_dict's JSON, without what it misreads.
std::string quarkJson(const ExportSource& source, const QuarkSettings& settings);

}  // namespace quantloupe
