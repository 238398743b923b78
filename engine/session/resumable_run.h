// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program that starts from what the store has of its network, and keeps what will be worth starting from.

#include <memory>
#include <unordered_map>

#include "runtime/batch_runner.h"
#include "session/activation_store.h"

namespace quantloupe {

/// Shapes of a graph's tensors for one chunk, and which of them are worth keeping.
struct GraphShapes {
    std::shared_ptr<const std::unordered_map<TensorId, Dims>> dims;
    /// Shape arithmetic: ProgramSpec::knownConstants.
    std::shared_ptr<const std::unordered_map<TensorId, ConstantPtr>> constants;
    /// Seconds to recompute a tensor from the worthwhile ones before it, a byte of float32; 0: not worth keeping.
    /// Block boundaries come out by themselves: small, and expensive to make again.
    std::vector<double> density;
};
/// `ends`: the tensors that the graph is evaluated for.
GraphShapes shapesOf(const GraphPtr& graph, const std::map<TensorId, TensorDesc>& inputs, const std::vector<TensorId>& ends,
                     const std::shared_ptr<KernelCache>& kernels);

struct ResumeOptions {
    ActivationStore& store;
    const GraphShapes& shapes;
    Version samples;     ///< see tensorVersions()
    bool keep = true;    ///< false: an experiment whose activations nobody will ask for again
};

/// For chunks [begin, end): the shortest program for spec.observed.
BoundProgram resumedProgram(ProgramSpec spec, const ResumeOptions& options, std::size_t chunks, std::size_t begin,
                            std::size_t end);

}  // namespace quantloupe
