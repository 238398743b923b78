// SPDX-License-Identifier: Apache-2.0
#include "session/caches/resumable_run.h"

#include <algorithm>
#include <set>

#include "model/layer_cost.h"
#include "session/caches/tensor_versions.h"

namespace quantloupe {
namespace {

// Rough estimates for one core; only their ratio determines which tensors are stored.
constexpr double kMacsPerSecond = 3e10;
constexpr double kBytesPerSecond = 4e9;
/// Store tensors that take this many times longer to recompute than to write.
constexpr double kWorthwhile = 12;

/// Keeps the densest tensors that together fit into what the tensors in use leave of the budget. A run then
/// evicts none of its own tensors.
std::vector<TensorId> affordable(const ProgramSpec& spec, std::vector<TensorId> tensors,
                                 const ResumeOptions& options, std::size_t chunks) {
    const std::vector<double>& density = options.shapes.density;
    std::stable_sort(tensors.begin(), tensors.end(),
                     [&](TensorId a, TensorId b) { return density[a.index()] > density[b.index()]; });
    std::vector<TensorId> accepted;
    const std::size_t available = options.store.available();
    std::size_t total = 0;
    for (const TensorId tensor : tensors) {
        const auto quantizer = spec.quantizers.find(tensor);
        const bool coded = spec.arithmetic == Arithmetic::Integer && quantizer != spec.quantizers.end() &&
                           fitsCodes(quantizer->second);
        const auto elements = static_cast<std::size_t>(elementCount(options.shapes.dims->at(tensor)));
        const std::size_t bytes = elements * options.shard.slots(chunks) * (coded ? 1 : 4);
        if (total + bytes > available) continue;
        total += bytes;
        accepted.push_back(tensor);
    }
    return accepted;
}

}  // namespace

GraphShapes shapesOf(const GraphPtr& graph, const std::map<TensorId, TensorDesc>& inputs,
                     const std::vector<TensorId>& ends, const std::shared_ptr<KernelCache>& kernels) {
    ProgramSpec spec = floatProgram(graph, inputs, ends);
    spec.kernels = kernels;
    GraphShapes shapes;
    const auto program = Program::compile(std::move(spec));
    shapes.dims = std::make_shared<const std::unordered_map<TensorId, Dims>>(program->allDims());
    shapes.constants =
        std::make_shared<const std::unordered_map<TensorId, ConstantPtr>>(program->foldedConstants());
    shapes.density.resize(graph->tensorCount(), 0.0);

    std::vector<double> pending(graph->tensorCount(), 0.0);  // seconds since the last kept tensors
    const LayerCosts costs(*graph, {shapes.dims, 1});
    for (const Node& node : graph->nodes()) {
        const TensorId output = node.output();
        const auto known = shapes.dims->find(output);
        // MACs of the whole chunk
        const auto macs = static_cast<double>(costs.of(node).macs);
        if (known == shapes.dims->end()) {  // fused into the next node, where its time is counted
            if (!output.valid()) continue;
            pending[output.index()] += macs / kMacsPerSecond;
            for (const TensorId in : node.inputs)
                if (in.valid()) pending[output.index()] += pending[in.index()];
            continue;
        }
        const double bytes = 4.0 * static_cast<double>(elementCount(known->second));
        double seconds = macs / kMacsPerSecond + bytes / 4 / kBytesPerSecond;
        for (const TensorId in : node.inputs)
            if (in.valid()) seconds += pending[in.index()];
        const bool worthwhile = seconds > kWorthwhile * (bytes / 4) / kBytesPerSecond;
        for (const TensorId out : node.outputs)
            if (out.valid()) pending[out.index()] = worthwhile ? 0 : seconds;
        if (worthwhile && node.outputs.size() == 1) shapes.density[output.index()] = seconds / bytes;
    }
    return shapes;
}

BoundProgram resumedProgram(ProgramSpec spec, const ResumeOptions& options, std::size_t chunks,
                            std::size_t begin, std::size_t end) {
    const Graph& graph = *spec.graph;
    const std::vector<Version> versions = tensorVersions(spec, options.samples);
    for (std::size_t i = 0; i < versions.size(); ++i)
        if (options.shapes.density[i] > 0) options.store.renew(versions[i]);
    std::map<TensorId, std::shared_ptr<StoredTensor>> resumed, kept;
    std::set<TensorId> seen;
    std::vector<TensorId> walk = spec.observed, computed;
    while (!walk.empty()) {
        const TensorId tensor = walk.back();
        walk.pop_back();
        if (!tensor.valid() || !seen.insert(tensor).second || graph.tensor(tensor).constant) continue;
        if (spec.inputs.contains(tensor) || options.shapes.constants->contains(tensor)) continue;
        if (options.shapes.density[tensor.index()] > 0) {
            if (auto stored = options.store.find(versions[tensor.index()], begin, end)) {
                spec.resumed.emplace(tensor, stored->desc());
                resumed.emplace(tensor, std::move(stored));
                continue;
            }
            computed.push_back(tensor);
        }
        const Node& node = graph.node(graph.tensor(tensor).producer);
        if (node.op == "Shape" && options.shapes.dims->contains(node.input(0))) continue;
        walk.insert(walk.end(), node.inputs.begin(), node.inputs.end());
    }
    spec.knownDims = options.shapes.dims;
    spec.knownConstants = options.shapes.constants;
    if (options.wanted != nullptr)
        std::erase_if(computed,
                      [&](TensorId tensor) { return !options.wanted->contains(versions[tensor.index()]); });
    if (options.keep) spec.kept = affordable(spec, std::move(computed), options, chunks);
    BoundProgram bound(Program::compile(std::move(spec)));
    bound.shard = options.shard;
    for (const auto& [tensor, desc] : bound.program->kept()) {
        const double density =
            options.shapes.density[tensor.index()] * 4 / static_cast<double>(elementSize(desc.type));
        auto stored = options.store.create(versions[tensor.index()], desc, chunks, density, options.shard);
        if (stored && stored->desc() == desc && !stored->has(begin, end))
            kept.emplace(tensor, std::move(stored));
    }
    bound.resumed = [resumed](TensorId tensor, std::size_t chunk) {
        return resumed.at(tensor)->chunk(chunk);
    };
    bound.kept = [kept](TensorId tensor, std::size_t chunk) -> void* {
        const auto found = kept.find(tensor);
        return found == kept.end() ? nullptr : found->second->chunk(chunk);
    };
    bound.finished = [kept](std::size_t chunk) {
        for (const auto& [tensor, stored] : kept) stored->setPresent(chunk);
    };
    return bound;
}

}  // namespace quantloupe
