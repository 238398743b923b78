// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which layers to keep in float so that the task's metric comes within a given drop of the float network's, at the least cost.
//
// The drop: with labels of top-1; without, of the agreement with the float network; where the outputs are no classes, their
// relative error (10^(-SQNR/20)), so that 1 point is 1 % of error or 40 dB.
//
// Greedy, gain per cost, with steps back: (1) every layer alone in float, on the rough samples; the more promising half, and what
// the session has studied, on all; and the shortest row of these that is enough; (2) step by step the layer with the most gain per
// cost: those that promise most are tried on the rough samples, the three best of these on all, and of a large set up to an eighth is
// added at a time; half of a gain is the share of the drop that it takes away, half the share of the outputs' noise, which single
// samples do not decide; (3) backwards: layers that are not needed any more are taken out, the most expensive first; (4) expensive
// layers are exchanged for up to four that together cost less. (5) Networks of up to 24 layers also from the other end: beginning with
// all in float, whatever can be quantized is, the most cost for the least gain first; where that ends cheaper, it wins. A test
// compares with the best of all subsets on small networks.
//
// Weaknesses: a local optimum, no proof. What is chosen on these samples is a little better on them than on others; the
// interval does not know of that.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace quantloupe {

/// What a layer in float costs.
enum class TuneCost { Macs, Parameters, Layers };

enum class TuneEnd {
    Finished,   ///< the search came to its end
    Steps,      ///< TuneOptions::mostSteps
    Seconds,    ///< TuneOptions::mostSeconds
    Cancelled,
};

struct FloatShare {
    std::size_t layers = 0;
    std::uint64_t macs = 0;        ///< of one sample
    std::uint64_t parameters = 0;
    bool macsKnown = true;
    bool operator==(const FloatShare&) const = default;
};

/// A configuration that was measured on all evaluation samples.
struct TunePoint {
    QuantizationConfig config;
    std::vector<std::string> layers;  ///< that the search keeps in float, in graph order
    std::string transforms;           ///< what else it changed: "equalized as AIMET does"; mostly empty
    Accuracy accuracy;
    double metric = 0;                         ///< top-1, agreement, or SQNR in dB
    double drop = 0;                           ///< 0.01 is one point; below 0: better than the float network
    std::optional<RateInterval> dropInterval;  ///< 95 %; empty where the outputs are no classes
    FloatShare cost;                           ///< of `layers`
    std::size_t transitions = 0;  ///< tensors that change between float and integers, the network's inputs and outputs counted
};

enum class TuneStage { Transforms, Alone, Adding, TakingOut, Exchanging, OtherEnd };

struct TuneProgress {
    TuneStage stage = TuneStage::Alone;
    std::size_t done = 0, total = 0;  ///< of the stage; total 0: nobody knows
    std::size_t step = 0;             ///< layers added so far
    double metric = 0;                ///< of the set that the search stands at
};

struct TuneResult {
    std::string metric;  ///< "top1", "agreement", "sqnr_db"
    Accuracy floating;
    double maxDrop = 0;
    TuneCost cost = TuneCost::Macs;
    FloatShare quantized;  ///< by the configuration that the search began with
    /// Of all that was measured, what nothing else beats in both cost and drop, by cost. Never empty.
    std::vector<TunePoint> curve;
    std::size_t chosen = 0;  ///< of the curve: the cheapest that reaches the target; where none does, the smallest drop
    bool reached = false;
    /// The interval of `chosen` lies on its side of the target as a whole. False where there is no interval.
    bool certain = false;
    TuneEnd ended = TuneEnd::Finished;
    std::vector<std::string> locked;  ///< layers that the configuration says to quantize always, and does
    std::size_t steps = 0, evaluations = 0, samples = 0;
    double seconds = 0;
    std::vector<std::string> notices;
};

struct TuneOptions {
    double maxDrop = 0.01;  ///< at least 0
    TuneCost cost = TuneCost::Macs;
    std::size_t mostSteps = 0;  ///< layers that are added one by one; 0: no limit
    double mostSeconds = 0;     ///< looked at between evaluations; 0: no limit
    bool transforms = false;    ///< first tries equalization and bias correction, and keeps what is a real gain
    /// Both on the calling thread. `improved` gets what was found so far whenever the curve has a new point.
    std::function<void(const TuneProgress&)> progress;
    std::function<void(const TuneResult&)> improved;
};

/// Deterministic, but for mostSeconds. Cancelled or out of time, it returns what it has; only without any result it throws
/// Cancelled. Throws Error without real data, or where the network cannot be evaluated.
TuneResult tune(Session& session, const QuantizationConfig& config, const TuneOptions& options, const CancelToken& cancel = {});

std::string_view tuneCostName(TuneCost cost);  ///< "macs", "parameters", "layers"
std::string_view tuneEndName(TuneEnd end);     ///< "finished", "steps", "seconds", "cancelled"
std::string describe(TuneStage stage);         ///< "each layer alone", "taking out layers"
/// What came out, in one sentence or two: "reached: 0.80 points below float with 3 layers in float (95 % interval -0.31 to 1.95
/// points: within noise)".
std::string describe(const TuneResult& result);

}  // namespace quantloupe
