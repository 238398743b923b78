// SPDX-License-Identifier: Apache-2.0
// Pictures for other tools: CLIKA's four graph files, and node data for Model Explorer.

#include "interchange/aimet/encodings_json.h"
#include "interchange/clika/clika_names.h"
#include "interchange/writers.h"
#include "model/graph_builder.h"
#include "picture/write_picture.h"

namespace quantloupe {
namespace {

/// Returns the layers as drawn before quantization: only graph inputs and outputs are colored.
std::vector<LayerResult> undecided(const ExportSource& source) {
    std::vector<LayerResult> layers = source.layers;
    for (LayerResult& layer : layers) {
        layer.state = LayerState::Float;
        layer.reason.clear();
        layer.host.clear();
        layer.weight = layer.local = layer.cumulative = {};
        layer.leaveOneOut = {};
    }
    return layers;
}

/// Returns the graph with CLIKA's name appended to each ONNX name: "/stem/Conv (conv)". `origin[n]` is the
/// source node of node n.
GraphPtr withClikaNames(const Graph& graph, const ClikaNames& names, const std::vector<NodeId>& origin) {
    GraphBuilder builder(graph);
    for (std::size_t n = 0; n < graph.nodeCount(); ++n)
        if (origin[n].valid()) builder.node(NodeId(n)).name += fmt::format(" ({})", names.of(origin[n]));
    return builder.build();
}

/// CLIKA's files are named model_init and model_post_preprocessing. If the output's name contains
/// model_post_preprocessing, `word` replaces it; otherwise `word` is appended to the name, so that the
/// pictures of two networks do not overwrite each other.
std::string pictureBeside(const std::filesystem::path& output, const std::string& word, const char* ending) {
    static const std::string kAfter = "model_post_preprocessing";
    std::string stem = output.stem().string();
    if (const std::size_t at = stem.find(kAfter); at != std::string::npos)
        stem.replace(at, kAfter.size(), word);
    else if (word != kAfter)
        stem += "." + word;
    return "/" + stem + ending;
}

}  // namespace

ExportResult writeClikaGraphs(const ExportSource& source) {
    const ClikaNames names(*source.prepared->source);
    std::vector<NodeId> all;
    for (std::size_t n = 0; n < source.prepared->source->nodeCount(); ++n) all.emplace_back(n);
    const GraphPtr named = withClikaNames(*source.prepared->source, names, all);
    const Graph& before = *named;
    const Graph& after = *source.prepared->graph;
    const GraphPtr afterNamed = withClikaNames(after, names, source.prepared->sourceOf);
    // The prepared nodes with the results of their source layers.
    std::vector<LayerResult> layers;
    for (std::size_t n = 0; n < after.nodeCount(); ++n) {
        LayerResult layer;
        const NodeId origin = source.prepared->sourceOf.at(n);
        if (origin.valid())
            for (const LayerResult& known : source.layers)
                if (known.node == origin) layer = known;
        layer.node = NodeId(n);
        layer.name = after.nodes()[n].name;
        layer.op = after.nodes()[n].op;
        layers.push_back(std::move(layer));
    }
    ExportResult result;
    result.files.push_back({"", graphToSvg(*afterNamed, layers), nullptr, false});
    result.files.push_back({pictureBeside(source.output, "model_post_preprocessing", ".dot"),
                            pictureToDot(*afterNamed, layers), nullptr, false});
    result.files.push_back({pictureBeside(source.output, "model_init", ".svg"),
                            graphToSvg(before, undecided(source)), nullptr, false});
    result.files.push_back({pictureBeside(source.output, "model_init", ".dot"),
                            pictureToDot(before, undecided(source)), nullptr, false});
    if (!source.evaluation || !source.evaluation->quantized)
        result.notices.emplace_back("without data the graphs have no quantization sensitivities (QS)");
    return result;
}

ExportResult writeModelExplorer(const ExportSource& source) {
    const Graph& graph = *source.prepared->source;
    OrderedJson sensitivities = {
        {"results", OrderedJson::object()},
        {"gradient", {{{"stop", 0}, {"bgColor", "#e3f4e3"}}, {{"stop", 1}, {"bgColor", "#d64545"}}}}};
    OrderedJson states = {{"results", OrderedJson::object()}};
    const std::vector<StateColors> colors = layerColors(source.layers);
    for (std::size_t i = 0; i < source.layers.size(); ++i) {
        const LayerResult& layer = source.layers[i];
        const TensorId output = graph.node(layer.node).output();
        if (!output.valid()) continue;
        // Model Explorer identifies nodes by their output tensor
        const std::string& key = graph.tensor(output).name;
        states["results"][key] = {{"value", layerStateName(layer.state)}, {"bgColor", colors[i].fill}};
        if (layer.local && std::isfinite(layer.local->qs))
            sensitivities["results"][key] = {{"value", layer.local->qs}};
    }
    ExportResult result;
    if (sensitivities["results"].empty())
        result.notices.emplace_back(
            "without data there are no sensitivities (QS): the first file is empty, the second contains the "
            "states");
    result.files.push_back({"", dumpedJson(sensitivities), nullptr, false});
    result.files.push_back({".states.json", dumpedJson(states), nullptr, false});
    return result;
}

}  // namespace quantloupe
