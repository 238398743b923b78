// SPDX-License-Identifier: Apache-2.0
// Scan of opset 9 and later: one body, compiled once, runs for every entry along one dimension of its scan
// inputs. An operator without a decision, so all shapes are known when the program is compiled.
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "model/subgraphs.h"
#include "runtime/operators/subgraph_body.h"

namespace quantloupe {
namespace {

/// Where the slices of a scan input or output are within the whole tensor.
struct ScanSlices {
    std::size_t blocks = 1;  ///< contiguous parts of a slice
    std::size_t bytes = 0;   ///< of one block
    std::size_t steps = 0;
    bool reversed = false;

    std::size_t offset(std::size_t step, std::size_t block) const {
        return (block * steps + (reversed ? steps - 1 - step : step)) * bytes;
    }
    void read(const void* whole, std::size_t step, std::byte* slice) const {
        for (std::size_t b = 0; b < blocks && bytes > 0; ++b)
            std::memcpy(slice + b * bytes, static_cast<const std::byte*>(whole) + offset(step, b), bytes);
    }
    void write(void* whole, std::size_t step, const std::byte* slice) const {
        for (std::size_t b = 0; b < blocks && bytes > 0; ++b)
            std::memcpy(static_cast<std::byte*>(whole) + offset(step, b), slice + b * bytes, bytes);
    }
};

/// Of a tensor whose slices have the description `slice`.
ScanSlices slicesOf(const TensorDesc& slice, std::size_t axis, std::int64_t steps, bool reversed) {
    ScanSlices slices;
    for (std::size_t d = 0; d < axis; ++d) slices.blocks *= static_cast<std::size_t>(slice.dims[d]);
    slices.bytes = slices.blocks == 0 ? 0 : slice.bytes() / slices.blocks;
    slices.steps = static_cast<std::size_t>(steps);
    slices.reversed = reversed;
    return slices;
}

/// Entry `i` of a list with one entry for each scan input or output, all 0 if the list is missing.
std::int64_t entryOf(const NodeContext& context, const char* name, std::size_t i, std::size_t count) {
    const std::vector<std::int64_t> entries = context.node.attributes.integers(name);
    if (entries.empty()) return 0;
    if (entries.size() != count)
        failInput("Scan's {} has {} entries instead of {}", name, entries.size(), count);
    return entries[i];
}

bool isReversed(const NodeContext& context, const char* name, std::size_t i, std::size_t count) {
    const std::int64_t direction = entryOf(context, name, i, count);
    if (direction != 0 && direction != 1) failInput("Scan has no direction {}", direction);
    return direction == 1;
}

struct ScanPlan {
    std::shared_ptr<const Body> body;
    std::size_t states = 0, steps = 0;
    std::vector<ScanSlices> inputs, outputs;
    std::vector<std::size_t> captured;  ///< inputs of the node
};

void runScan(const ScanPlan& plan, const KernelArguments& a) {
    using Bytes = std::vector<std::byte>;
    const Body& body = *plan.body;
    std::vector<Bytes> state(plan.states), next(plan.states), slices(plan.inputs.size()),
        results(plan.outputs.size());
    for (std::size_t k = 0; k < plan.states; ++k) {
        state[k].resize(body.inputs()[k].desc.bytes());
        next[k].resize(state[k].size());
        if (!state[k].empty()) std::memcpy(state[k].data(), a.inputs[k], state[k].size());
    }
    for (std::size_t i = 0; i < slices.size(); ++i)
        slices[i].resize(body.inputs()[plan.states + i].desc.bytes());
    const auto wanted = [&](std::size_t o) {
        return plan.states + o < a.outputs.size() ? a.outputs[plan.states + o] : nullptr;
    };
    for (std::size_t o = 0; o < results.size(); ++o)
        if (wanted(o) != nullptr) results[o].resize(body.desc(plan.states + o).bytes());
    for (std::size_t step = 0; step < plan.steps; ++step) {
        std::vector<const void*> in;
        for (const Bytes& bytes : state) in.push_back(bytes.data());
        for (std::size_t i = 0; i < slices.size(); ++i) {
            plan.inputs[i].read(a.inputs[plan.states + i], step, slices[i].data());
            in.push_back(slices[i].data());
        }
        for (const std::size_t i : plan.captured) in.push_back(a.inputs[i]);
        std::vector<void*> out;
        for (Bytes& bytes : next) out.push_back(bytes.data());
        for (std::size_t o = 0; o < results.size(); ++o)
            out.push_back(wanted(o) != nullptr ? results[o].data() : nullptr);
        body.run(in, out);
        for (std::size_t o = 0; o < results.size(); ++o)
            if (wanted(o) != nullptr) plan.outputs[o].write(wanted(o), step, results[o].data());
        std::swap(state, next);
    }
    for (std::size_t k = 0; k < std::min(plan.states, a.outputs.size()); ++k)
        if (a.outputs[k] != nullptr && !state[k].empty())
            std::memcpy(a.outputs[k], state[k].data(), state[k].size());
}

/// Adds the inputs of the body: states, then slices of the scan inputs.
std::vector<BodyInput> addScanInputs(const NodeContext& context, std::size_t scanned, ScanPlan& plan) {
    std::vector<BodyInput> inputs;
    std::int64_t steps = -1;
    for (std::size_t i = 0; i < plan.states + scanned; ++i) {
        BodyInput input = bodyInputOf(context, i);
        input.value = nullptr;  // it changes with every step
        if (i >= plan.states) {
            Dims& dims = input.desc.dims;
            if (dims.empty()) failInput("Scan cannot iterate over a scalar");
            const std::size_t s = i - plan.states;
            const std::size_t axis =
                normalizedAxis(entryOf(context, "scan_input_axes", s, scanned), dims.size());
            if (steps >= 0 && dims[axis] != steps)
                failInput("Scan's inputs have {} and {} entries", steps, dims[axis]);
            steps = dims[axis];
            dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
            plan.inputs.push_back(
                slicesOf(input.desc, axis, steps, isReversed(context, "scan_input_directions", s, scanned)));
        }
        inputs.push_back(std::move(input));
    }
    plan.steps = static_cast<std::size_t>(steps);
    return inputs;
}

CompiledNode compileScan(const NodeContext& context) {
    if (context.opset() < 9)
        fail(ErrorKind::Unsupported, "Scan of opset 8 is not supported; export for opset 9 or later");
    const Subgraph subgraph = subgraphOf(context, "body");
    const std::size_t formal = formalInputs(context.node);
    const auto scanned = static_cast<std::size_t>(context.node.attributes.integer("num_scan_inputs", 0));
    if (scanned == 0 || scanned > formal) failInput("Scan has {} scan inputs of {} inputs", scanned, formal);
    ScanPlan plan;
    plan.states = formal - scanned;
    plan.captured = subgraph.captured;
    const std::vector<BodyInput> inputs = addScanInputs(context, scanned, plan);
    plan.body = std::make_shared<const Body>(makeBody(subgraph, inputs, context));
    const Body& body = *plan.body;
    if (body.outputs() < plan.states)
        failInput("Scan's body has {} outputs for {} states", body.outputs(), plan.states);
    CompiledNode result;
    for (std::size_t o = 0; o < body.outputs(); ++o) {
        TensorDesc desc = body.desc(o);
        if (o < plan.states) {
            if (desc.dims != inputs[o].desc.dims)
                fail(ErrorKind::Unsupported,
                     "a Scan whose state changes its shape from {} to {} is not supported",
                     toString(inputs[o].desc.dims), toString(desc.dims));
            if (desc.type != inputs[o].desc.type)
                failInput("Scan's state {} changes its type from {} to {}", o,
                          dataTypeName(inputs[o].desc.type), dataTypeName(desc.type));
        } else {
            const std::size_t s = o - plan.states, stacked = body.outputs() - plan.states;
            const std::size_t axis =
                normalizedAxis(entryOf(context, "scan_output_axes", s, stacked), desc.dims.size() + 1);
            const auto steps = static_cast<std::int64_t>(plan.steps);
            plan.outputs.push_back(
                slicesOf(desc, axis, steps, isReversed(context, "scan_output_directions", s, stacked)));
            desc.dims.insert(desc.dims.begin() + static_cast<std::ptrdiff_t>(axis), steps);
        }
        result.outputs.push_back(std::move(desc));
    }
    result.kernel = makeKernel([plan = std::move(plan)](const KernelArguments& a) { runScan(plan, a); });
    return result;
}

}  // namespace

void addScans(OperatorTable& table) { table["Scan"] = {compileScan}; }

}  // namespace quantloupe
