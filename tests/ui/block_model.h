// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network with names as exporters write them: a stem, identical blocks, a head.

#include <filesystem>
#include <string>

#include "model/graph_builder.h"
#include "model/load_model.h"

namespace quantloupe::test {

/// /stem/Conv, then for each block k /blocks/k/conv/Conv, /blocks/k/act/Relu and /blocks/k/Add (of the
/// block's input and the Relu), then /head/Conv. The ranges of the weight's two channels are 1 to 2^(k+1) in
/// block k, 1 to 1 elsewhere.
inline GraphPtr blockModel(std::size_t blocks) {
    GraphBuilder builder;
    builder.facts().opsets[""] = 13;
    builder.facts().graphName = "blocks";
    const Shape shape{{1, {}}, {2, {}}, {4, {}}, {4, {}}};
    builder.addInput(builder.tensor("x"), DataType::Float32, shape);
    const auto add = [&builder](const std::string& name, const std::string& op,
                                std::vector<std::string> inputs) {
        Node node;
        node.name = name;
        node.op = op;
        for (const std::string& input : inputs) node.inputs.push_back(builder.tensor(input));
        node.outputs.push_back(builder.tensor(name + "_out"));
        builder.addNode(std::move(node));
        return name + "_out";
    };
    const auto conv = [&](const std::string& name, const std::string& input, float range,
                          float inner = 0.29f) {
        builder.addConstant(name + ".weight",
                            Constant::fromFloats({2, 2, 1, 1}, {1.0f, -0.37f, range, inner * range}));
        return add(name, "Conv", {input, name + ".weight"});
    };
    std::string at = conv("/stem/Conv", "x", 1);
    float range = 2;
    for (std::size_t k = 0; k < blocks; ++k, range *= 2) {
        const std::string scope = "/blocks/" + std::to_string(k);
        const std::string inside = add(scope + "/act/Relu", "Relu", {conv(scope + "/conv/Conv", at, range)});
        at = add(scope + "/Add", "Add", {at, inside});
    }
    at = conv("/head/Conv", at, 1, 0.43f);  // no two weights are alike
    // a tail of few MACs
    builder.node(NodeId(builder.nodeCount() - 1)).attributes.set("strides", std::vector<std::int64_t>{4, 4});
    builder.addOutput(builder.tensor(at));
    return builder.build();
}

inline std::filesystem::path writeBlockModel(const std::filesystem::path& folder, std::size_t blocks) {
    const std::filesystem::path path = folder / "blocks.onnx";
    saveModel(*blockModel(blocks), path);
    return path;
}

}  // namespace quantloupe::test
