// SPDX-License-Identifier: Apache-2.0
// inspect: the structure of a model. Needs no data.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/short_text.h"
#include "commands.h"
#include "interchange/clika/clika_names.h"
#include "json_output.h"
#include "model/assumed_sizes.h"
#include "model/layer_names.h"
#include "open_session.h"
#include "progress_line.h"
#include "readable.h"

namespace quantloupe::cli {
namespace {

OrderedJson namesOf(const Graph& graph, const std::vector<TensorId>& ids) {
    OrderedJson names = OrderedJson::array();
    for (const TensorId id : ids) names.push_back(id.valid() ? graph.tensor(id).name : "");
    return names;
}

/// Names of the layers that produce a node's inputs or consume its outputs. A graph input or output appears
/// under its own name.
std::vector<std::string> connectedFrom(const Graph& graph, const Node& node) {
    std::vector<std::string> names;
    for (const TensorId id : node.inputs) {
        if (!id.valid() || graph.constantOf(id) != nullptr) continue;
        const TensorInfo& tensor = graph.tensor(id);
        names.push_back(tensor.producer.valid() ? graph.node(tensor.producer).name : tensor.name);
    }
    return names;
}
std::vector<std::string> connectedTo(const Graph& graph, const Node& node) {
    std::vector<std::string> names;
    for (const TensorId id : node.outputs) {
        if (!id.valid()) continue;
        const TensorInfo& tensor = graph.tensor(id);
        for (const NodeId reader : tensor.consumers) names.push_back(graph.node(reader).name);
        if (tensor.graphOutput) names.push_back(tensor.name);
    }
    return names;
}

OrderedJson layersToJson(const Graph& graph, const Evaluation& states, bool connections) {
    OrderedJson list = OrderedJson::array();
    const ClikaNames clika(graph);
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        OrderedJson layer = {{"name", node.name},
                             {"module", moduleOf(node)},
                             {"clika_name", clika.of(NodeId(i))},
                             {"op", node.op},
                             {"domain", node.domain}};
        layer["inputs"] = namesOf(graph, node.inputs);
        layer["outputs"] = namesOf(graph, node.outputs);
        const TensorId output = node.output();
        layer["output_shape"] = output.valid() ? toJson(graph.tensor(output).shape) : OrderedJson(nullptr);
        layer["attributes"] = OrderedJson::object();
        for (const auto& [name, value] : node.attributes) layer["attributes"][name] = toJson(value);
        const LayerResult& result = states.layers[i];
        layer["state"] = layerStateName(result.state);
        layer["reason"] = result.reason;
        if (connections) {
            layer["connected_from"] = connectedFrom(graph, node);
            layer["connected_to"] = connectedTo(graph, node);
        }
        setMacs(layer, result.macs, result.macsReason);
        layer["parameters"] = result.parameters;
        list.push_back(std::move(layer));
    }
    return list;
}

struct Totals {
    std::uint64_t macs = 0, parameters = 0;
    std::string macsReason;  ///< of the first layer with unknown MACs
};

Totals totalsOf(const Evaluation& states) {
    Totals totals;
    for (const LayerResult& layer : states.layers) {
        totals.macs += layer.macs;
        if (totals.macsReason.empty()) totals.macsReason = layer.macsReason;
        totals.parameters += layer.ownParameters;
    }
    return totals;
}

/// "pytorch 2.1"; empty if the model does not tell.
std::string producerOf(const ModelFacts& facts) {
    return facts.producerVersion.empty() ? facts.producer : facts.producer + " " + facts.producerVersion;
}

void printReadable(const Session& session, const Evaluation& states, bool connections) {
    const Graph& graph = session.graph();
    const ClikaNames clika(graph);
    fmt::print("{}\n", session.model().path.string());
    const std::string producer = producerOf(graph.facts());
    fmt::print("  opset {}, IR {}, from {}\n", graph.opset(), graph.facts().irVersion,
               producer.empty() ? "an unnamed producer" : shortName(producer));
    const auto tensors = [&](const char* what, std::span<const TensorId> ids) {
        for (const TensorId id : ids) fmt::print("  {} {}\n", what, nameTypeAndShape(graph.tensor(id)));
    };
    tensors("input", graph.inputs());
    tensors("output", graph.outputs());
    const Totals totals = totalsOf(states);
    fmt::print("  {}, {}, {}\n\n", counted(graph.nodeCount(), "layer"),
               counted(totals.parameters, "parameter"),
               totals.macsReason.empty() ? fmt::format("{} MACs per sample", totals.macs)
                                         : "MACs unknown: " + totals.macsReason);

    std::size_t width = 5;
    for (const Node& node : graph.nodes()) width = std::max(width, node.name.size());
    width = std::min<std::size_t>(width, 60);
    std::size_t moduleWidth = 0;  // if the names do not contain the modules
    for (const Node& node : graph.nodes())
        if (!node.modulePath.empty())
            moduleWidth = std::max({moduleWidth, moduleOf(node).size(), std::size_t{6}});
    moduleWidth = std::min<std::size_t>(moduleWidth, 60);
    const auto moduleColumn = [&](const std::string& text) {
        return moduleWidth == 0 ? std::string() : fmt::format("  {:<{}}", text, moduleWidth);
    };
    std::size_t clikaWidth = 5;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i)
        clikaWidth = std::max(clikaWidth, clika.of(NodeId(i)).size());
    fmt::print("{:<{}}{}  {:<{}}  {:<20} {:<16} {:>12} {:>12}  {}\n", "layer", width, moduleColumn("module"),
               "CLIKA", clikaWidth, "op", "output", "parameters", "MACs", "state");
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        const TensorId output = node.output();
        const bool known = output.valid() && graph.tensor(output).shape;
        fmt::print("{:<{}}{}  {:<{}}  {:<20} {:<16}", shortName(node.name), width,
                   moduleColumn(shortName(moduleOf(node))), clika.of(NodeId(i)), clikaWidth,
                   shortName(node.op), known ? shortName(toString(*graph.tensor(output).shape)) : "?");
        const LayerResult& layer = states.layers[i];
        // Most reasons begin with the state: "folded into ...".
        const std::string state(layerStateName(layer.state));
        const bool said = layer.reason.starts_with(state);
        const std::string text = layer.reason.empty() ? state
                                 : said               ? layer.reason
                                                      : state + ": " + layer.reason;
        fmt::print(" {:>12} {:>12}  {}\n", layer.parameters,
                   layer.macsReason.empty() ? std::to_string(layer.macs) : "\u2013", shortMessage(text));
        if (!connections) continue;
        fmt::print("    from {}\n", fmt::join(connectedFrom(graph, node), ", "));
        fmt::print("    to   {}\n", fmt::join(connectedTo(graph, node), ", "));
    }
}

}  // namespace

void runInspect(const Options& options) {
    Options withoutData = options;
    if (!options.calibrationData.empty()) notice("--calibration-data has no effect: inspect needs no data");
    if (options.samples > 0) notice("--samples has no effect: inspect needs no data");
    withoutData.calibrationData.clear();
    OpenedSession opened = openSession(withoutData);
    const EvaluationPtr states = opened.session->evaluate(options.config, Depth::Structure);
    std::vector<std::string> notices = states->notices;
    if (const std::string sizes = describeAssumedSizes(opened.session->graph()); !sizes.empty())
        notices.push_back("MACs depend on sizes of the inputs" + sizes);
    for (const std::string& text : notices) notice(text);
    if (!options.json) return printReadable(*opened.session, *states, options.connections);

    const Graph& graph = opened.session->graph();
    const ModelFacts& facts = graph.facts();
    OrderedJson document = {{"model", opened.session->model().path.string()},
                            {"name", facts.graphName},
                            {"producer", producerOf(facts)},
                            {"ir_version", facts.irVersion}};
    document["opsets"] = OrderedJson::object();
    for (const auto& [domain, version] : facts.opsets)
        document["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
    document["inputs"] = toJson(graph, graph.inputs());
    document["outputs"] = toJson(graph, graph.outputs());
    document["layers"] = layersToJson(graph, *states, options.connections);
    const Totals totals = totalsOf(*states);
    document["totals"] = {{"layers", graph.nodeCount()}, {"parameters", totals.parameters}};
    setMacs(document["totals"], totals.macsReason.empty() ? totals.macs : 0, totals.macsReason);
    document["counts"] = toJson(states->counts);
    document["notices"] = notices;
    printJson(document);
}

}  // namespace quantloupe::cli
