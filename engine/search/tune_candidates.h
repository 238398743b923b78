// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers whose precision a search chooses, and the cost of each choice. Internal to engine/search.

#include "search/tune.h"

namespace quantloupe {

struct TuneOption {
    Precision precision;
    bool asConfigured = false;  ///< keeps the precision of the configuration
    double cost = 0;            ///< of the candidate's layers, in the unit of TuneOptions::cost
    /// Fraction of the total cost that the search can add. A twentieth of it depends on the number of layers,
    /// because changing the precision is not free: values have to be converted before and after the layer.
    double weight = 0;
};

/// Layers that change their precision together, none of which is locked.
struct TuneCandidate {
    NodeId owner;
    std::vector<std::string> layers;
    std::vector<NodeId> nodes;
    FloatShare share;                 ///< if they are in float
    std::vector<TuneOption> options;  ///< cheapest first; none is better and at most as expensive as another
    std::uint16_t best = 0;           ///< the option with the most bits
};

/// The index of the chosen option for each candidate.
using TuneChoice = std::vector<std::uint16_t>;

struct TuneCandidates {
    std::vector<TuneCandidate> list;
    FloatShare quantized;               ///< layers that the configuration quantizes
    std::vector<std::string> locked;    ///< quantized layers whose precision the configuration fixes
    std::vector<Precision> precisions;  ///< of every node in the configuration
    bool allowStart = true;             ///< whether every candidate may keep its configured precision
    double fixedCost = 0;               ///< of all other layers; 0 if only layers in float cost something
    double startCost = 0;               ///< of the configuration
    /// If layers share constants: their costs, and the precisions without the candidates.
    std::shared_ptr<const CostModel> sharing{};
    std::vector<Precision> others{};
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
