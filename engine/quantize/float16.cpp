// SPDX-License-Identifier: Apache-2.0
#include "quantize/float16.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "base/is_one_of.h"

namespace quantloupe {
namespace {

constexpr float kLargestHalf = 65504.0f;

/// Returns the constants that only this unit reads and that are activations or weights, not parameters that
/// ONNX defines as float32.
std::vector<TensorId> constantsOf(const Graph& graph, const Unit& unit) {
    std::vector<TensorId> constants;
    for (const NodeId id : {unit.layer, unit.activation}) {
        if (!id.valid() || isOneOf(graph.node(id).op, {"Resize", "Upsample"})) continue;
        for (const TensorId input : graph.node(id).inputs) {
            const Constant* constant = input.valid() ? graph.constantOf(input) : nullptr;
            if (constant == nullptr || constant->type() != DataType::Float32) continue;
            if (std::ranges::all_of(graph.tensor(input).consumers, [&](NodeId reader) {
                    return reader == unit.layer || reader == unit.activation;
                }))
                constants.push_back(input);
        }
    }
    return constants;
}

std::size_t newInfinities(const Constant& before, const Constant& after) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < before.floats().size(); ++i)
        count += std::isinf(after.floats()[i]) && !std::isinf(before.floats()[i]);
    return count;
}

}  // namespace

ConstantPtr roundedToHalf(const Constant& constant) {
    std::vector<float> values(constant.floats().begin(), constant.floats().end());
    std::ranges::transform(values, values.begin(), roundToHalf);
    return Constant::fromFloats(constant.dims(), std::move(values));
}

UnitQuantizers resolveFloat16(Plan& plan, const Unit& unit, const Statistics& statistics) {
    const Graph& graph = *plan.prepared->graph;
    const std::string& name = graph.node(unit.layer).name;
    UnitQuantizers result;
    VersionBuilder builder;
    builder.add(std::string_view("float16")).add(std::string_view(name)).add(unit.activation.valid());
    result.inputs.assign(unit.inputs.size(), TensorQuantizer::float16());
    result.output = TensorQuantizer::float16();
    result.constants.resize(unit.constants.size());  // none is quantized: `halves` has their values
    std::size_t overflows = 0;
    for (const TensorId constant : constantsOf(graph, unit)) {
        const Constant& before = *graph.constantOf(constant);
        builder.add(before.version());
        const ConstantPtr half = roundedToHalf(before);
        overflows += newInfinities(before, *half);
        result.halves.emplace(constant, half);
    }
    if (overflows > 0)
        plan.notices.push_back(fmt::format(
            "layer '{}': {} weights exceed the largest float16 value, 65504, and become infinite; give it "
            "another precision",
            name, overflows));
    for (const TensorId input : unit.inputs) plan.tensors[input] = result.output;
    float largest = 0;
    for (const TensorId output : graph.node(unit.activation.valid() ? unit.activation : unit.layer).outputs) {
        // The type of the first output may be unknown; others may be integers.
        if (!output.valid() || (output != unit.output && graph.tensor(output).type != DataType::Float32))
            continue;
        plan.tensors[output] = result.output;
    }
    for (const auto& tensors : {unit.inputs, std::vector<TensorId>{unit.output}})
        for (const TensorId tensor : tensors)
            if (const auto range = statistics.find(tensor); range != statistics.end())
                largest = std::max({largest, -range->second.min, range->second.max});
    if (largest > kLargestHalf)
        plan.notices.push_back(fmt::format(
            "layer '{}': its activations reach {:.3g}, above the largest float16 value, 65504, and become "
            "infinite; give it another precision",
            name, largest));
    result.version = builder.finish();
    return result;
}

}  // namespace quantloupe
