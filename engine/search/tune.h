// SPDX-License-Identifier: Apache-2.0
#pragma once
// Searches for the precision of each layer: the cheapest choice that keeps the drop of the task's metric
// within a target, or the choice with the smallest drop within a cost budget. By default, a layer keeps its
// configured precision or is moved to float; with TuneOptions::precisions, it gets one of these precisions or
// float.
//
// The drop is that of top-1, mAP or mIoU with labels, and of the agreement with the float network without
// labels. If the outputs are not classes and there are no labels, it is their relative error (10^(-SQNR/20)),
// so 1 point is 1 % of error or 40 dB. With a user's metric (Session::setMetric), it is the metric's
// difference from the float network, in its own unit.
//
// If the configuration reaches the target and nothing is cheaper, it is the result. Otherwise the search
// starts with the cheapest precision of every layer. A move gives one layer a more expensive one.
// - (1) The shortest prefix of the layers by local sensitivity (QS) that reaches the target is found by
//   bisection, and the most expensive ones get cheaper precisions again where possible. So there is an answer
//   to apply after a few evaluations.
// - (2) Each move alone is evaluated on the rough samples. The more promising half, and the layers whose
//   leave-one-out the session already has, are evaluated on all samples. The shortest prefix of this ranking
//   that reaches the target is another early answer.
// - (3) Step by step, the move with the most gain per cost is made. The most promising moves are tried on
//   the rough samples and the best three of them on all samples. Once several layers have changed, up to a
//   third of their number is added per step. Half of the gain is the move's share of the drop, the other
//   half its share of the output noise, which does not depend on a few single samples.
// - (4) Layers get cheaper precisions again where possible, the most expensive first.
// - (5) Expensive precisions are exchanged for up to four moves that together cost less. In networks of more
//   than 24 layers, an exchange is given up if even all the moves that fit in cost surely miss the target,
//   that is, at the lower end of the 95 % interval of the drop.
// - (6) In networks of up to 24 layers the search also starts from the most precise network and lowers layers
//   while the target is met, layers with the most cost and the least gain first. The cheaper result is used.
// - (7) The prefixes of four rankings (by local sensitivity and by gain, both also per cost) that cost less
//   than the result are evaluated, the longest first, so that none of them is better than the result. In
//   networks of more than 24 layers, a ranking ends with the first prefix that surely misses the target;
//   that shorter ones miss it too is an assumption.
// With a budget, moves are made as long as they fit, from both ends and from the rankings; then single
// options are replaced. A test compares the results with the best of all choices on small networks.
//
// Weaknesses: the result is a local optimum, without a proof that it is the best. The chosen configuration is
// slightly better on the samples of the search than on others, which the interval does not take into account;
// tuneOnPart() evaluates it on other samples.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "results/task_metric.h"
#include "session/session.h"

namespace quantloupe {

/// Costs in float only count the layers that the search keeps in float; the other costs are for the whole
/// network.
using TuneCost = CostKind;

enum class TuneEnd {
    Finished,  ///< the search completed
    Steps,     ///< TuneOptions::maxSteps
    Seconds,   ///< TuneOptions::maxSeconds
    Cancelled,
    Failed,  ///< an evaluation after the first one failed; TuneResult::notices says why
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
    /// The precision of every layer that can be quantized, in graph order.
    std::vector<std::pair<std::string, Precision>> precisions;
    /// Transforms that the search added: "AIMET equalization"; mostly empty.
    std::string transforms;
    Accuracy accuracy;
    double metric = 0;  ///< mAP, mIoU, top-1, agreement, SQNR in dB, or the user's metric
    double drop = 0;    ///< 0.01 is one point; below 0: better than the float network
    std::optional<RateInterval> dropInterval;  ///< 95 %; empty if the outputs are not classes
    FloatShare cost;                           ///< of `layers`
    double amount = 0;                         ///< the cost that is minimized, in its unit
    /// Tensors converted between float and integer, graph inputs and outputs too.
    std::size_t transitions = 0;
};

enum class TuneStage {
    Transforms,
    EarlyAnswer,
    EachLayerAlone,
    Adding,
    Removing,
    Exchanging,
    FromAllFloat,
    Prefixes
};

struct TuneProgress {
    TuneStage stage = TuneStage::EachLayerAlone;
    std::size_t done = 0, total = 0;  ///< of the stage; total 0: unknown
    std::size_t step = 0;             ///< moves made so far
    double metric = 0;                ///< of the current choice
};

/// The chosen point on samples that the search did not use.
struct TuneHeldOut {
    std::size_t samples = 0;
    double metric = 0, drop = 0;
    std::optional<RateInterval> dropInterval;
};

struct TuneResult {
    TaskMetric metric = TaskMetric::Sqnr;
    Accuracy floating;
    double maxDrop = 0;  ///< infinite: no target
    TuneCost cost = TuneCost::Macs;
    std::optional<double> budget;
    FloatShare quantized;    ///< layers that the initial configuration quantizes
    double startAmount = 0;  ///< cost of the initial configuration
    /// The Pareto front of cost and drop among all evaluated configurations, by cost. Never empty.
    std::vector<TunePoint> curve;
    /// Index into curve: without a budget, of the cheapest point that reaches the target, or if none does, of
    /// the smallest drop; with a budget, of the smallest drop within it, or if none is, of the smallest cost.
    std::size_t chosen = 0;
    bool reached = false;
    /// Whether the whole interval of `chosen` lies on the same side of the target. False without an interval.
    bool certain = false;
    TuneEnd ended = TuneEnd::Finished;
    std::vector<std::string> locked;  ///< quantized layers whose precision the configuration fixes
    std::size_t steps = 0, evaluations = 0, samples = 0;
    std::size_t reused = 0;  ///< measurements of earlier searches
    double seconds = 0;
    std::optional<TuneHeldOut> heldOut;
    std::vector<std::string> notices;
};

struct TuneOptions {
    double maxDrop = 0.01;  ///< at least 0; 0.01 is one point; infinite: no target
    TuneCost cost = TuneCost::Macs;
    std::optional<double> budget;  ///< largest cost, in the unit of `cost`; the drop is then minimized
    /// Precisions to choose from. Empty: that of the configuration.
    std::vector<Precision> precisions;
    bool allowFloat = true;
    std::shared_ptr<const LatencyTable> latency;  ///< needed for milliseconds
    /// File of measurements of earlier searches, which is updated; empty: none.
    std::filesystem::path measurements;
    bool reuse = true;         ///< false: measures again what the file already contains
    std::string program;       ///< its version: measurements of another one are not reused
    std::size_t maxSteps = 0;  ///< limit of steps that make moves; 0: no limit
    double maxSeconds = 0;     ///< checked between evaluations; 0: no limit
    bool transforms = false;   ///< first try equalization and bias correction, and keep significant gains
    /// Both are called on the calling thread; `improved` with the result so far whenever the curve gets a new
    /// point.
    std::function<void(const TuneProgress&)> progress;
    std::function<void(const TuneResult&)> improved;
};

/// Runs the search. Deterministic except for maxSeconds. If it is cancelled or runs out of time, returns the
/// best result so far; throws Cancelled only if there is none. Throws Error without real data, if the network
/// cannot be evaluated, or if no choice has outputs that can be compared. If a later evaluation fails,
/// returns the best result so far, too.
TuneResult tune(Session& session, const QuantizationConfig& config, const TuneOptions& options,
                const CancelToken& cancel = {});

/// With at least `enough` evaluation samples, searches on two thirds of them and evaluates the chosen point
/// on the others (TuneResult::heldOut; empty with a notice if cancelled before); otherwise like tune().
/// Forgets every cached result of the session.
TuneResult tuneOnPart(Session& session, const QuantizationConfig& config, const TuneOptions& options,
                      const CancelToken& cancel = {}, std::size_t enough = 1000);

/// Sets `chosen`, `reached` and `certain` from the curve, the target and the budget.
void choosePoint(TuneResult& result);

std::string_view tuneEndName(TuneEnd end);  ///< "finished", "steps", "seconds", "cancelled", "failed"
std::string describe(TuneStage stage);      ///< "each layer alone", "removing layers"
/// Returns a summary of the result: "reached: 0.80 points below float with 3 layers in float; target: at most
/// 1 point (95 % interval -0.31 to 1.95 points; may differ on other samples)".
std::string describe(const TuneResult& result);

}  // namespace quantloupe
