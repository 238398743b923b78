// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers whose precision a search chooses, and what each choice costs. Internal to engine/search.

#include "search/tune.h"

namespace quantloupe {

struct TuneOption {
    Precision precision;
    bool asConfigured = false;  ///< leaves the layer as the configuration has it
    double cost = 0;            ///< of the candidate's layers, in the unit of TuneOptions::cost
    /// Share of the cost that the search can add in total. A twentieth of it is by number of layers because
    /// a change of precision is not free either: values are converted around the layer.
    double weight = 0;
};

/// Layers that change their precision together, none of which is locked.
struct TuneCandidate {
    NodeId owner;
    std::vector<std::string> layers;
    FloatShare share;                 ///< if they are in float
    std::vector<TuneOption> options;  ///< cheapest first; none is better and at most as expensive as another
    std::uint16_t best = 0;           ///< the option with the most bits
};

/// An option for each candidate.
using TuneChoice = std::vector<std::uint16_t>;

struct TuneCandidates {
    std::vector<TuneCandidate> list;
    FloatShare quantized;               ///< layers that the configuration quantizes
    std::vector<std::string> locked;    ///< quantized layers that are set to always be quantized
    std::vector<Precision> precisions;  ///< of every node in the configuration
    double fixedCost = 0;               ///< of all other layers; 0 if only layers in float cost something
    double startCost = 0;               ///< of the configuration
};

/// `base` is an evaluation of the configuration. Throws Error, Cancelled.
TuneCandidates findCandidates(Session& session, const QuantizationConfig& config, const Evaluation& base,
                              const TuneOptions& options, const CancelToken& cancel);

/// Returns the configuration with the chosen options.
QuantizationConfig configOf(const QuantizationConfig& start, const TuneCandidates& candidates,
                            const TuneChoice& choice, const Graph& graph);
FloatShare shareOf(const TuneCandidates& candidates, const TuneChoice& choice);
double costOf(const TuneCandidates& candidates, const TuneChoice& choice);

}  // namespace quantloupe
