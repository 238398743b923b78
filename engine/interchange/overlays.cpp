// SPDX-License-Identifier: Apache-2.0
// Pictures for other tools: CLIKA's four graph files, and node data for Model Explorer.

#include <algorithm>

#include "interchange/encodings_json.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "picture/write_picture.h"

namespace quantloupe {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Of the nodes as they are drawn before anything was decided: only the ends have a colour.
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

}  // namespace

ExportResult writeClikaGraphs(const ExportSource& source) {
    const Graph& before = *source.prepared->source;
    const Graph& after = *source.prepared->graph;
    // The prepared nodes with the results of the layers they came from.
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
    result.files.push_back({"", graphToSvg(after, layers), nullptr, false});
    result.files.push_back({"/model_post_preprocessing.dot", pictureToDot(after, layers), nullptr, false});
    result.files.push_back({"/model_init.svg", graphToSvg(before, undecided(source)), nullptr, false});
    result.files.push_back({"/model_init.dot", pictureToDot(before, undecided(source)), nullptr, false});
    if (!source.evaluation || !source.evaluation->quantized)
        result.notices.emplace_back("without data the graphs have no quantization sensitivities (QS)");
    return result;
}

ExportResult writeModelExplorer(const ExportSource& source) {
    const Graph& graph = *source.prepared->source;
    OrderedJson sensitivities = {{"results", OrderedJson::object()},
                                 {"gradient", {{{"stop", 0}, {"bgColor", "#e3f4e3"}}, {{"stop", 1}, {"bgColor", "#d64545"}}}}};
    OrderedJson states = {{"results", OrderedJson::object()}};
    const std::vector<StateColors> colors = layerColors(source.layers);
    for (std::size_t i = 0; i < source.layers.size(); ++i) {
        const LayerResult& layer = source.layers[i];
        const TensorId output = graph.node(layer.node).output();
        if (!output.valid()) continue;
        const std::string& key = graph.tensor(output).name;  // Model Explorer finds nodes by what they make
        states["results"][key] = {{"value", layerStateName(layer.state)}, {"bgColor", colors[i].fill}};
        if (layer.local && std::isfinite(layer.local->qs)) sensitivities["results"][key] = {{"value", layer.local->qs}};
    }
    ExportResult result;
    if (sensitivities["results"].empty())
        result.notices.emplace_back("without data there are no sensitivities (QS): the first file is empty, the states are there");
    result.files.push_back({"", dumpedJson(sensitivities), nullptr, false});
    result.files.push_back({".states.json", dumpedJson(states), nullptr, false});
    return result;
}

}  // namespace quantloupe
