// SPDX-License-Identifier: Apache-2.0
#include "runtime/batch_runner.h"

namespace quantloupe {

void runChunks(const std::vector<std::shared_ptr<const Program>>& programs, const SampleBatches& batches,
               std::size_t begin, std::size_t end, const RunControl& control,
               const std::function<void(std::size_t, std::size_t, std::vector<Workspace>&)>& use) {
    const auto workers = static_cast<std::size_t>(control.workers.count());
    std::vector<std::vector<Workspace>> workspaces(workers);

    // In rounds, so that progress is told on the caller's thread.
    const std::size_t round = std::max<std::size_t>(8 * workers, 1);
    const std::size_t total = std::min(end * batches.batch(), batches.samples()) - begin * batches.batch();
    for (std::size_t first = begin; first < end; first += round) {
        const std::size_t count = std::min(round, end - first);
        control.workers.run(
            count,
            [&](std::size_t task, std::size_t worker) {
                const std::size_t chunk = first + task;
                std::vector<Workspace>& own = workspaces[worker];
                if (own.empty())
                    for (const auto& program : programs) own.emplace_back(program);
                const auto values = batches.load(chunk);
                for (Workspace& workspace : own) {
                    const auto inputs = workspace.program().graph().inputs();
                    for (std::size_t i = 0; i < values.size(); ++i) workspace.bind(inputs[i], values[i].data());
                    workspace.run(control.cancel);
                }
                use(chunk, worker, own);
            },
            control.cancel);
        if (control.progress)
            control.progress(std::min((first + count) * batches.batch(), batches.samples()) - begin * batches.batch(),
                             total);
    }
}

}  // namespace quantloupe
