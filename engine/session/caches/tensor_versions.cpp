// SPDX-License-Identifier: Apache-2.0
#include "session/caches/tensor_versions.h"

#include "model/operator_traits.h"

namespace quantloupe {
namespace {

Version withQuantizer(const ProgramSpec& spec, TensorId tensor, const Version& version) {
    const auto quantizer = spec.quantizers.find(tensor);
    if (quantizer == spec.quantizers.end()) return version;
    const FakeQuant& quant = quantizer->second;
    return VersionBuilder()
        .add(version)
        .add(quant.scale)
        .add(quant.low)
        .add(quant.high)
        .add(quant.fromLow)
        .add(quant.half)
        .finish();
}

}  // namespace

std::vector<Version> tensorVersions(const ProgramSpec& spec, const Version& samples) {
    const Graph& graph = *spec.graph;
    std::vector<Version> versions(graph.tensorCount());
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
        const TensorId input = graph.inputs()[i];
        versions[input.index()] =
            withQuantizer(spec, input, VersionBuilder().add(samples).add(i).add(spec.arithmetic).finish());
    }
    for (const Node& node : graph.nodes()) {
        // An Identity through which a layer reads a tensor in its own precision does not change the values. A
        // quantized input may be stored as codes, so it must not be mistaken for the output.
        if (isOp(node, "Identity") && graph.constantOf(node.input(0)) == nullptr &&
            !spec.quantizers.contains(node.input(0))) {
            versions[node.output().index()] =
                withQuantizer(spec, node.output(), versions[node.input(0).index()]);
            continue;
        }
        VersionBuilder builder;
        builder.add(std::string_view(node.domain))
            .add(std::string_view(node.op))
            .add(graph.opset())
            .add(std::max(graph.opset(), spec.exportOpset));
        node.attributes.addTo(builder);
        for (const TensorId in : node.inputs) {
            if (!in.valid()) {
                builder.add(0);
                continue;
            }
            const auto replaced = spec.constants.find(in);
            if (replaced != spec.constants.end()) {
                builder.add(replaced->second->version());
                // With other scales, equal values have different codes and different integer sums.
                if (const auto codes = spec.codes.find(in); codes != spec.codes.end())
                    for (const float scale : codes->second->scales) builder.add(scale);
            } else if (const Constant* constant = graph.constantOf(in))
                builder.add(constant->version());
            else
                builder.add(versions[in.index()]);
        }
        const Version common = builder.finish();
        for (std::size_t o = 0; o < node.outputs.size(); ++o)
            if (node.outputs[o].valid())
                versions[node.outputs[o].index()] =
                    withQuantizer(spec, node.outputs[o], VersionBuilder().add(common).add(o).finish());
    }
    return versions;
}

}  // namespace quantloupe
