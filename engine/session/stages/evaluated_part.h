// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of a network that is evaluated. Detection networks end in operators whose output shapes depend on
// the image (NonZero, NonMaxSuppression), and some operators are not supported. Everything before the first
// such node is quantized and evaluated; accuracy is computed on the tensors at that frontier. Internal to
// engine/session.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/program/program.h"

namespace quantloupe {

class SampleBatches;

struct EvaluatedPart {
    /// The nodes of the source graph that are not evaluated, with the reason.
    std::map<NodeId, std::string> unavailable;
    /// Names of the tensors that are compared instead of the outputs, each followed by the names that it may
    /// have after simplification, which removes nodes without effect: the last float tensors that are
    /// evaluated, or those that integer outputs are computed from. Empty: the outputs are compared.
    std::vector<std::vector<std::string>> frontier;

    bool whole() const { return unavailable.empty(); }
    /// Returns the tensors on which accuracy is computed, always in the same order. `graph` is the source
    /// graph or one transformed from it. Throws Error if it lacks one of them.
    std::vector<TensorId> endsOf(const Graph& graph) const;
    /// Returns a notice for the user; empty if the outputs of the whole network are compared. Throws Error if
    /// no part can be evaluated.
    std::string notice(const Graph& source) const;
    /// The nodes from the frontier on run one sample at a time. Throws Error, naming the first of them, if
    /// the network has a fixed batch size other than one.
    void requireBatchOfOne(const Graph& source, std::size_t batch) const;

  private:
    std::string cause(const Graph& source) const;
};

/// Returns the part that `program`, a partial program of the whole source graph, can evaluate.
/// `integersJudged`: outputs of integers are compared with labels, so they are needed themselves.
EvaluatedPart evaluatedPart(const Graph& source, const Program& program, bool integersJudged);

/// Runs the whole network on the samples [begin, end), one by one, including nodes that can only run once the
/// values of their inputs are known, and calls `use` with each sample's graph outputs. `spec` describes the
/// network for batch size 1, and each batch of `batches` has one sample. Throws Error naming the node that
/// cannot run.
void runBySample(const ProgramSpec& spec, const SampleBatches& batches, std::size_t begin, std::size_t end,
                 const CancelToken& cancel,
                 const std::function<void(std::size_t sample, const std::vector<ConstantPtr>&)>& use);

/// Returns the outputs of runBySample() for all samples. Returns one array per graph output; the samples are
/// concatenated along the first dimension.
std::vector<ConstantPtr> outputsBySample(const ProgramSpec& spec, const SampleBatches& batches,
                                         const std::vector<std::size_t>& order, const CancelToken& cancel);

}  // namespace quantloupe
