// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs programs over the chunks of a dataset on all workers.

#include <functional>

#include "runtime/sample_batches.h"

namespace quantloupe {

struct RunControl {
    const Workers& workers;
    CancelToken cancel;
    /// (samples done, samples of the range); on the calling thread.
    std::function<void(std::size_t, std::size_t)> progress;
};

/// A program and what is bound to it for each chunk beside the graph's inputs.
struct BoundProgram {
    std::shared_ptr<const Program> program;
    /// Where the values of a resumed tensor are, and where those of a kept one go; null: nowhere.
    std::function<const void*(TensorId, std::size_t chunk)> resumed;
    std::function<void*(TensorId, std::size_t chunk)> kept;
    /// After the run of a chunk.
    std::function<void(std::size_t chunk)> finished;

    BoundProgram() = default;
    BoundProgram(std::shared_ptr<const Program> plain) : program(std::move(plain)) {}  // NOLINT: wanted
};

/// For every chunk in [begin, end): runs the programs and hands their workspaces, in order, to
/// `use(chunk, worker, workspaces)`. Chunks come in any order and at the same time; what `use` writes for a chunk must be its own.
void runChunks(const std::vector<BoundProgram>& programs, const SampleBatches& batches, std::size_t begin,
               std::size_t end, const RunControl& control,
               const std::function<void(std::size_t, std::size_t, std::vector<Workspace>&)>& use);

}  // namespace quantloupe
