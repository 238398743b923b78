// SPDX-License-Identifier: Apache-2.0
#include "quantize/storage_types.h"

#include <algorithm>

#include "base/error.h"
#include "model/raise_opset.h"

namespace quantloupe {
namespace {

bool canRaise(const Graph& graph, std::int64_t opset) {
    GraphBuilder trial(graph);
    try {
        raiseOpset(trial, graph, opset);
    } catch (const Error&) {
        return false;
    }
    return true;
}

/// The first opset in which ONNX Runtime has a kernel on codes for an operator that its optimizer moves
/// between quantizers in every opset.
std::int64_t opsetOnCodes(const std::string& op) {
    return op == "DepthToSpace" ? 11 : op == "ReduceMax" || op == "ReduceMin" ? 12 : kOpsetPlain;
}

}  // namespace

DataType StorageTypes::typeFor(int quantMin, int quantMax) const {
    if (fourBits && quantMin >= 0 && quantMax <= 15) return DataType::UInt4;
    if (fourBits && quantMin >= -8 && quantMax <= 7) return DataType::Int4;
    return activationType(quantMin, quantMax);
}

DataType StorageTypes::activationType(int quantMin, int quantMax) {
    if (quantMin >= 0)
        return quantMax <= 255 ? DataType::UInt8 : quantMax <= 65535 ? DataType::UInt16 : DataType::Int32;
    if (quantMin >= -128 && quantMax <= 127) return DataType::Int8;
    return quantMin >= -32768 && quantMax <= 32767 ? DataType::Int16 : DataType::Int32;
}

StorageTypes storageTypesOf(const Plan& plan, bool fourBits) {
    const Graph& graph = *plan.prepared->graph;
    StorageTypes types;
    types.fourBits = fourBits;
    bool uses4 = false, uses16 = false, perChannel = false, otherBias = false;
    const auto use = [&](DataType type) {
        uses4 = uses4 || type == DataType::Int4 || type == DataType::UInt4;
        uses16 = uses16 || type == DataType::Int16 || type == DataType::UInt16;
    };
    const auto look = [&](const ConstantQuantizer& quantizer) {
        use(types.typeFor(quantizer.quantMin, quantizer.quantMax));
    };
    for (std::size_t u = 0; u < plan.units.units.size(); ++u) {
        const Unit& unit = plan.units.units[u];
        const UnitQuantizers& own = plan.quantizers[u];
        if (!unit.quantized) continue;
        if (own.weight) {
            look(*own.weight);
            perChannel = perChannel || own.weight->axis >= 0;
            otherBias = otherBias || (unit.bias.valid() && (!own.bias || own.bias->bits != 32));
        }
        for (std::size_t i = 0; i < unit.constants.size(); ++i) {
            if (!own.constants[i] || unit.constants[i].role == ConstantRole::NormBias) continue;
            look(*own.constants[i]);
            perChannel = perChannel || own.constants[i]->axis >= 0;
        }
    }
    for (const auto& [tensor, quantizer] : plan.tensors)
        if (!quantizer.half) use(StorageTypes::activationType(quantizer.quantMin, quantizer.quantMax));
    if (uses4 && !uses16 && graph.opset() < kOpsetOtherBits && !canRaise(graph, kOpsetOtherBits))
        types.fourBits = uses4 = false;

    std::int64_t needed = kOpsetPlain;
    // With such biases, ONNX Runtime's optimizer can insert operators of opset 11 (Round), which a model of
    // opset 10 cannot contain.
    std::int64_t wanted = otherBias ? kOpsetOtherBias : kOpsetPlain;
    for (const Node& node : graph.nodes())
        if (node.domain.empty()) wanted = std::max(wanted, opsetOnCodes(node.op));
    while (wanted > graph.opset() && !canRaise(graph, wanted)) --wanted;
    needed = std::max(needed, wanted);
    if (perChannel) {
        needed = kOpsetPerChannel;
        types.reason = "per channel";
    }
    if (uses4 || uses16) {
        needed = kOpsetOtherBits;
        types.reason = uses16 ? "of 16 bits" : "of 4 bits";
    }
    types.opset = std::max(graph.opset(), needed);
    return types;
}

void raiseOpsetForCodes(GraphBuilder& builder, const Graph& graph, std::int64_t opset,
                        const std::string& reason) {
    if (graph.opset() >= opset) return;
    try {
        raiseOpset(builder, graph, opset);
    } catch (Error& error) {
        error.addContext(fmt::format("the model has opset {}, but QuantizeLinear{}{} requires opset {}",
                                     graph.opset(), reason.empty() ? "" : " ", reason, opset));
        throw;
    }
}

}  // namespace quantloupe
