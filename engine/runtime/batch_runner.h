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

/// For every chunk in [begin, end): runs the programs (each reads the graph's inputs) and hands their workspaces, in order, to
/// `use(chunk, worker, workspaces)`. Chunks come in any order and at the same time; what `use` writes for a chunk must be its own.
void runChunks(const std::vector<std::shared_ptr<const Program>>& programs, const SampleBatches& batches,
               std::size_t begin, std::size_t end, const RunControl& control,
               const std::function<void(std::size_t, std::size_t, std::vector<Workspace>&)>& use);

}  // namespace quantloupe
