// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs that resume from stored activations of their network, and store the activations that are worth
// resuming from.

#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "runtime/program/batch_runner.h"
#include "session/caches/activation_store.h"

namespace quantloupe {

/// Shapes of a graph's tensors for one chunk, and which of them are worth keeping.
struct GraphShapes {
    std::shared_ptr<const std::unordered_map<TensorId, Dims>> dims;
    /// Shape arithmetic: ProgramSpec::knownConstants.
    std::shared_ptr<const std::unordered_map<TensorId, ConstantPtr>> constants;
    /// Seconds per byte (of float32) to recompute a tensor from the stored ones before it; 0: not worth
    /// storing. This favors block boundaries, which are small and expensive to recompute.
    std::vector<double> density;
};
/// Computes the shapes. `ends` are the tensors to be evaluated.
GraphShapes shapesOf(const GraphPtr& graph, const std::map<TensorId, TensorDesc>& inputs,
                     const std::vector<TensorId>& ends, const std::shared_ptr<KernelCache>& kernels);

struct ResumeOptions {
    ActivationStore& store;
    const GraphShapes& shapes;
    Version samples;   ///< see tensorVersions()
    bool keep = true;  ///< false: an experiment whose activations will not be needed again
    /// Caches only tensors with these versions; null: all tensors that are worth caching.
    const std::unordered_set<Version>* wanted = nullptr;
    Shard shard{};  ///< the chunks that are run and stored
};

/// Returns the shortest program that computes spec.observed for chunks [begin, end).
BoundProgram resumedProgram(ProgramSpec spec, const ResumeOptions& options, std::size_t chunks,
                            std::size_t begin, std::size_t end);

}  // namespace quantloupe
