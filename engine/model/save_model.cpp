// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/error.h"
#include "model/graph_builder.h"
#include "model/load_model.h"
#include "model/onnx_proto.h"
#include "model/operator_traits.h"
#include "model/raise_opset.h"

namespace quantloupe {

namespace {

/// Returns the opset that the graph needs. Weights in blocks and with 4 bits, which replace fused operators
/// (fused_blocks.cpp), need opset 21.
std::int64_t opsetOfWeights(const Graph& graph) {
    constexpr std::int64_t kBlocks = 21;
    const auto needsBlocks = [&](const Node& node) {
        if (!isOp(node, "DequantizeLinear")) return false;
        const DataType type = graph.tensor(node.input(0)).type;
        return node.attributes.integer("block_size", 0) > 0 || type == DataType::Int4 ||
               type == DataType::UInt4;
    };
    return std::ranges::any_of(graph.nodes(), needsBlocks) ? std::max(kBlocks, graph.opset()) : graph.opset();
}

}  // namespace

std::string modelBytes(const Graph& graph) {
    if (const std::int64_t opset = opsetOfWeights(graph); opset > graph.opset()) {
        GraphBuilder builder(graph);
        try {
            raiseOpset(builder, graph, opset);
        } catch (Error& error) {
            error.addContext(
                fmt::format("weights in blocks or with 4 bits need opset {}, but the model has opset {}",
                            opset, graph.opset()));
            throw;
        }
        return modelBytes(*builder.build());
    }
    onnx::ModelProto model;
    graphToProto(graph, model);
    if (model.ByteSizeLong() > 0x7fffffff)
        fail(ErrorKind::Unsupported,
             "the model would be larger than the 2 GiB that one ONNX file can contain");
    return model.SerializeAsString();
}

void saveModel(const Graph& graph, const std::filesystem::path& path) {
    try {
        writeFileAtomically(path, modelBytes(graph));
    } catch (Error& error) {
        error.addContext(fmt::format("model '{}'", path.filename().string()));
        throw;
    }
}

}  // namespace quantloupe
