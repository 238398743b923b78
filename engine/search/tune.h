// SPDX-License-Identifier: Apache-2.0
#pragma once
// Searches for the cheapest set of layers to keep in float that keeps the drop of the task's metric within a
// target.
//
// The drop is that of top-1, mAP or mIoU with labels, and of the agreement with the float network without
// labels. If the outputs are not classes and there are no labels, it is their relative error (10^(-SQNR/20)),
// so 1 point is 1 % of error or 40 dB.
//
// The search is greedy by gain per cost and can undo steps:
// - (1) Each layer alone in float is evaluated on the rough samples. The more promising half, and the layers
//   whose leave-one-out the session already has, are evaluated on all samples. The shortest prefix of this
//   ranking that reaches the target is a first candidate.
// - (2) Step by step, the layer with the most gain per cost is added. The most promising layers are tried on
//   the rough samples and the best three of them on all samples. Once the set is large, up to an eighth of
//   its size is added per step. Half of the gain is the layer's share of the drop, the other half its share
//   of the output noise, which does not depend on a few single samples.
// - (3) Layers that are no longer needed are removed, the most expensive first.
// - (4) Expensive layers are exchanged for up to four layers that together cost less.
// - (5) In networks of up to 24 layers the search also starts from the all-float network and quantizes layers
//   while the target is met, those with the most cost and the least gain first. The cheaper result wins.
// A test compares the result with the best of all subsets on small networks.
//
// Weaknesses: the result is a local optimum without proof. A set chosen on these samples does slightly better
// on them than on others, which the interval does not take into account.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace quantloupe {

/// How the cost of keeping a layer in float is measured.
enum class TuneCost { Macs, Parameters, Layers };

enum class TuneEnd {
    Finished,  ///< the search completed
    Steps,     ///< TuneOptions::maxSteps
    Seconds,   ///< TuneOptions::maxSeconds
    Cancelled,
};

struct FloatShare {
    std::size_t layers = 0;
    std::uint64_t macs = 0;  ///< per sample
    std::uint64_t parameters = 0;
    bool macsKnown = true;
    bool operator==(const FloatShare&) const = default;
};

/// A configuration that was evaluated on all evaluation samples.
struct TunePoint {
    QuantizationConfig config;
    std::vector<std::string> layers;  ///< layers that the search keeps in float, in graph order
    /// Transforms that the search added: "AIMET equalization"; mostly empty.
    std::string transforms;
    Accuracy accuracy;
    double metric = 0;                         ///< mAP, mIoU, top-1, agreement, or SQNR in dB
    double drop = 0;                           ///< 0.01 is one point; below 0: better than the float network
    std::optional<RateInterval> dropInterval;  ///< 95 %; empty if the outputs are not classes
    FloatShare cost;                           ///< of `layers`
    /// Tensors converted between float and integer, graph inputs and outputs too.
    std::size_t transitions = 0;
};

enum class TuneStage { Transforms, EachLayerAlone, Adding, Removing, Exchanging, FromAllFloat };

struct TuneProgress {
    TuneStage stage = TuneStage::EachLayerAlone;
    std::size_t done = 0, total = 0;  ///< of the stage; total 0: unknown
    std::size_t step = 0;             ///< layers added so far
    double metric = 0;                ///< of the current set
};

struct TuneResult {
    std::string metric;  ///< "map", "miou", "top1", "agreement", "sqnr_db"
    Accuracy floating;
    double maxDrop = 0;
    TuneCost cost = TuneCost::Macs;
    FloatShare quantized;  ///< layers that the initial configuration quantizes
    /// The Pareto front of cost and drop among all evaluated configurations, by cost. Never empty.
    std::vector<TunePoint> curve;
    /// Index into curve of the cheapest point that reaches the target; if none does, of the smallest drop.
    std::size_t chosen = 0;
    bool reached = false;
    /// Whether the whole interval of `chosen` lies on the same side of the target. False without an interval.
    bool certain = false;
    TuneEnd ended = TuneEnd::Finished;
    std::vector<std::string> locked;  ///< quantized layers that the configuration sets to always be quantized
    std::size_t steps = 0, evaluations = 0, samples = 0;
    double seconds = 0;
    std::vector<std::string> notices;
};

struct TuneOptions {
    double maxDrop = 0.01;  ///< at least 0
    TuneCost cost = TuneCost::Macs;
    std::size_t maxSteps = 0;  ///< limit of steps that add layers; 0: no limit
    double maxSeconds = 0;     ///< checked between evaluations; 0: no limit
    bool transforms = false;   ///< first try equalization and bias correction, and keep significant gains
    /// Both are called on the calling thread; `improved` with the result so far whenever the curve gets a new
    /// point.
    std::function<void(const TuneProgress&)> progress;
    std::function<void(const TuneResult&)> improved;
};

/// Runs the search. Deterministic except for maxSeconds. If it is cancelled or runs out of time, returns the
/// best result so far; throws Cancelled only if there is none. Throws Error without real data or if the
/// network cannot be evaluated.
TuneResult tune(Session& session, const QuantizationConfig& config, const TuneOptions& options,
                const CancelToken& cancel = {});

std::string_view tuneCostName(TuneCost cost);  ///< "macs", "parameters", "layers"
std::string_view tuneEndName(TuneEnd end);     ///< "finished", "steps", "seconds", "cancelled"
std::string describe(TuneStage stage);         ///< "each layer alone", "removing layers"
/// Returns a summary of the result: "reached: 0.80 points below float with 3 layers in float; target: at most
/// 1 point (95 % interval -0.31 to 1.95 points; may differ on other samples)".
std::string describe(const TuneResult& result);

}  // namespace quantloupe
