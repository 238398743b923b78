// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/float_model.h"

#include <algorithm>

#include "base/error.h"
#include "model/graph_builder.h"
#include "quantize/storage_types.h"
#include "transform/own_inputs.h"

namespace quantloupe {
namespace {

GraphPtr withOpset(const GraphPtr& model, std::int64_t opset, const std::string& reason) {
    if (model->opset() >= opset) return model;
    GraphBuilder builder(*model);
    raiseOpsetForCodes(builder, *model, opset, reason);
    return builder.build();
}

/// Makes a bias with leading dimensions of 1 a vector: quantize_static expects one value for each channel.
void flattenBias(GraphBuilder& builder, const Graph& graph, TensorId bias) {
    if (!bias.valid()) return;
    const Constant& value = *graph.constantOf(bias);
    const std::string& name = graph.tensor(bias).name;
    const auto isGemm = [&](NodeId reader) { return graph.node(reader).op == "Gemm"; };
    if (value.dims().size() < 2 || !builder.hasTensor(name) ||
        !std::ranges::all_of(graph.tensor(bias).consumers, isGemm))
        return;
    const std::span<const float> values = value.floats();
    builder.setConstant(builder.tensor(name),
                        Constant::fromFloats({value.size()}, {values.begin(), values.end()}));
}

}  // namespace

GraphPtr floatModelFor(const Prepared& prepared, const UnitList& units, bool perChannel, bool sixteenBits) {
    const Graph& graph = *prepared.graph;
    GraphBuilder builder(*prepared.transformed);
    for (const Unit& unit : units.units) {
        if (!unit.quantized) continue;
        flattenBias(builder, graph, unit.bias);
        std::vector<TensorId> tensors = unit.inputs;
        tensors.insert(tensors.end(), {graph.node(unit.layer).output(), unit.output});
        tensors.insert(tensors.end(), unit.otherOutputs.begin(), unit.otherOutputs.end());
        for (const TensorId tensor : tensors) {
            const std::string& name = graph.tensor(sharedTensor(prepared, tensor)).name;
            if (!builder.hasTensor(name)) continue;
            TensorInfo& info = builder.tensorInfo(builder.tensor(name));
            if (info.type == DataType::Undefined) info.type = DataType::Float32;
        }
    }
    const GraphPtr typed = builder.build();
    if (sixteenBits) {
        try {
            return withOpset(typed, kOpsetOtherBits, "of 16 bits");
        } catch (const Error&) {
            // quantize_static converts it, if it can.
        }
    }
    return perChannel ? withOpset(typed, kOpsetPerChannel, "per channel") : withOpset(typed, kOpsetPlain, "");
}

}  // namespace quantloupe
