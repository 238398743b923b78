// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs programs over the chunks of a dataset on all workers.

#include <functional>

#include "runtime/program/sample_batches.h"
#include "runtime/program/shard.h"
#include "runtime/workers.h"

namespace quantloupe {

struct RunControl {
    const Workers& workers;
    CancelToken cancel;
    /// Called with (samples done, samples in total), on the calling thread.
    std::function<void(std::size_t, std::size_t)> progress;
    /// Processes with which functions that say so share the chunks; null: none.
    ProcessGroup* group = nullptr;
};

/// A program and the memory that is bound to it for each chunk in addition to the graph's inputs.
struct BoundProgram {
    std::shared_ptr<const Program> program;
    /// Returns where the values of a resumed tensor are and where to write those of a kept tensor; null:
    /// none.
    std::function<const void*(TensorId, std::size_t chunk)> resumed;
    std::function<void*(TensorId, std::size_t chunk)> kept;
    /// Called after each chunk has run.
    std::function<void(std::size_t chunk)> finished;
    Shard shard;  ///< the chunks to run; the same for all programs of a run

    BoundProgram() = default;
    BoundProgram(std::shared_ptr<const Program> plain) : program(std::move(plain)) {}  // NOLINT: wanted
};

/// Runs the programs for every chunk in [begin, end) of their shard and passes their workspaces, in order, to
/// `use(chunk, worker, workspaces)`. Chunks run in any order and concurrently, so calls of `use` for
/// different chunks must not write to the same data.
void runChunks(const std::vector<BoundProgram>& programs, const SampleBatches& batches, std::size_t begin,
               std::size_t end, const RunControl& control,
               const std::function<void(std::size_t, std::size_t, std::vector<Workspace>&)>& use);

}  // namespace quantloupe
