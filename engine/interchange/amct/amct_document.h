// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parses AMCT's config.json and applies the same checks as AMCT.
//
// Errors name the key and the layer. Two of AMCT's errors are collected for review instead, because node
// names change when a model is exported again: entries for layers that the model does not have, and for
// layers that AMCT cannot quantize.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/calibration_config.h"
#include "interchange/file_format.h"
#include "model/graph.h"

namespace quantloupe {

struct AmctActivation {
    int bits = 8;
    bool hfmg = false;
    std::optional<bool> asymmetric;
    double maxPercentile = kDefaultIfmrPercentile, minPercentile = kDefaultIfmrPercentile;
    std::array<double, 2> searchRange = kDefaultIfmrRange;
    double searchStep = kDefaultIfmrStep;
    int numOfBins = kDefaultHfmgBins;
    bool operator==(const AmctActivation&) const = default;
};

enum class AmctWeightAlgorithm { Arq, Ada, Nuq };

struct AmctWeight {
    int bits = 8;
    AmctWeightAlgorithm algorithm = AmctWeightAlgorithm::Arq;
    bool channelWise = false;
    bool operator==(const AmctWeight&) const = default;
};

struct AmctEntry {
    NodeId node;
    bool enabled = false;
    bool enableGiven = true;                            ///< quant_enable was given
    bool migrates = false;                              ///< dmq_balancer_param was given
    bool activationGiven = false, weightGiven = false;  ///< the parameter objects were given
    AmctActivation activation;
    AmctWeight weight;
};

struct AmctDocument {
    std::optional<int> batches;  ///< empty: not in the file
    bool activationOffset = true, fusion = true;
    std::vector<std::string> skipFusion;
    std::map<std::string, AmctEntry> layers;
    std::vector<UnknownName> missing;  ///< entries without a layer in the model
    std::vector<std::string> left;     ///< messages about entries without a counterpart here
};

/// True for AMCT's global keys, which no layer can have as its name.
bool isAmctKey(std::string_view name);

/// Throws Error for everything that AMCT rejects; docs/exports.md has the list.
AmctDocument parseAmct(const ImportSource& source);

}  // namespace quantloupe
