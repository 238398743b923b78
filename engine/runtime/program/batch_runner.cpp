// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/batch_runner.h"

#include <algorithm>

#include "base/recycled_memory.h"

namespace quantloupe {
namespace {

bool readsSamples(const Program& program) {
    const auto inputs = program.graph().inputs();
    return std::any_of(inputs.begin(), inputs.end(), [&](TensorId input) { return program.reads(input); });
}

}  // namespace

void runChunks(const std::vector<BoundProgram>& programs, const SampleBatches& batches, std::size_t begin,
               std::size_t end, const RunControl& control,
               const std::function<void(std::size_t, std::size_t, std::vector<Workspace>&)>& use) {
    const auto workers = static_cast<std::size_t>(control.workers.count());
    std::vector<std::vector<Workspace>> workspaces(workers);
    // For kept tensors for which the caller provides no memory.
    std::vector<RecycledMemory> spare(workers);
    const bool reading =
        std::any_of(programs.begin(), programs.end(), [](const auto& p) { return readsSamples(*p.program); });
    std::size_t spareBytes = 0;
    for (const BoundProgram& bound : programs)
        for (const auto& [tensor, desc] : bound.program->kept()) spareBytes += desc.bytes() + 64;

    const auto runChunk = [&](std::size_t chunk, std::size_t worker) {
        std::vector<Workspace>& own = workspaces[worker];
        if (own.empty()) {
            for (const BoundProgram& bound : programs) own.emplace_back(bound.program);
        }
        std::vector<std::vector<std::byte>> values;
        if (reading) values = batches.load(chunk);
        std::size_t spareAt = 0;
        for (std::size_t p = 0; p < programs.size(); ++p) {
            const BoundProgram& bound = programs[p];
            Workspace& workspace = own[p];
            const auto inputs = bound.program->graph().inputs();
            for (std::size_t i = 0; i < values.size(); ++i) workspace.bind(inputs[i], values[i].data());
            for (const auto& [tensor, desc] : bound.program->resumed())
                workspace.bind(tensor, bound.resumed(tensor, chunk));
            for (const auto& [tensor, desc] : bound.program->kept()) {
                void* place = bound.kept ? bound.kept(tensor, chunk) : nullptr;
                if (place == nullptr) {
                    if (spare[worker].data() == nullptr)
                        spare[worker] = RecycledMemory(spareBytes, RecycledMemory::Fit::Loose);
                    place = spare[worker].data() + spareAt;
                    spareAt += (desc.bytes() + 63) / 64 * 64;
                }
                workspace.bindKept(tensor, place);
            }
            workspace.run(control.cancel);
            if (bound.finished) bound.finished(chunk);
        }
        use(chunk, worker, own);
    };

    const Shard shard = programs.empty() ? Shard{} : programs[0].shard;
    // In rounds, so that progress is reported on the calling thread.
    const std::size_t round = std::max<std::size_t>(8 * workers, 1) * shard.count;
    const std::size_t total = std::min(end * batches.batch(), batches.samples()) - begin * batches.batch();
    for (std::size_t first = begin; first < end; first += round) {
        const std::size_t count = std::min(round, end - first);
        std::vector<std::size_t> owned;
        for (std::size_t chunk = first; chunk < first + count; ++chunk)
            if (shard.owns(chunk)) owned.push_back(chunk);
        control.workers.run(
            owned.size(), [&](std::size_t task, std::size_t worker) { runChunk(owned[task], worker); },
            control.cancel);
        if (control.progress)
            control.progress(
                std::min((first + count) * batches.batch(), batches.samples()) - begin * batches.batch(),
                total);
    }
}

}  // namespace quantloupe
