// SPDX-License-Identifier: Apache-2.0
// set-inputs: writes the model with other shapes of its inputs, or with fixed values instead of inputs.

#include <fmt/format.h>

#include <algorithm>

#include "base/short_text.h"
#include "base/text.h"
#include "commands.h"
#include "json_output.h"
#include "model/load_model.h"
#include "output_file.h"
#include "progress_line.h"
#include "readable.h"

namespace quantloupe::cli {
namespace {

/// Splits "NAME=REST" at its last '='.
std::pair<std::string, std::string> splitAssignment(const std::string& option, const std::string& value) {
    const std::size_t equals = value.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == value.size())
        throw UsageError(fmt::format("{} takes NAME=VALUE, not '{}'", option, value));
    return {value.substr(0, equals), value.substr(equals + 1)};
}

std::vector<std::string> splitSizes(const std::string& text) {
    std::vector<std::string> sizes(1);
    for (const char c : text)
        if (c == ',')
            sizes.emplace_back();
        else
            sizes.back() += c;
    for (std::string& size : sizes) size = trimmed(size);
    if (std::ranges::any_of(sizes, &std::string::empty))
        throw UsageError(fmt::format("--shape takes sizes such as batch,3,224,224, not '{}'", text));
    return sizes;
}

}  // namespace

void OptionReader::addInputChanges() {
    InputChanges& changes = m_options.inputs;
    path("-o,--output", m_options.output, "The file to write")->required();
    flag("--json", "Print one JSON document", [this] { m_options.json = true; });
    text("--shape", "The sizes of an input: numbers, names, or ? for any size; images=batch,3,224,224",
         [&changes](const std::string& value) {
             const auto [name, sizes] = splitAssignment("--shape", value);
             changes.shapes[name] = splitSizes(sizes);
         })
        ->type_name("INPUT=SIZES");
    text("--size", "Replace a size that has a name in all inputs and outputs: sequence=128",
         [&changes](const std::string& value) {
             const auto [name, size] = splitAssignment("--size", value);
             changes.sizes[name] = size;
         })
        ->type_name("NAME=SIZE");
    text("--value", "Make an input a constant, with this number as every element: sr=16000",
         [&changes](const std::string& value) {
             const auto [name, number] = splitAssignment("--value", value);
             changes.values[name] = number;
         })
        ->type_name("INPUT=NUMBER");
}

void runSetInputs(const Options& options) {
    if (options.inputs.empty())
        throw UsageError("set-inputs has nothing to do: give it --shape, --size or --value");
    requireWritable(options.output, options);
    const LoadedModel model = loadModel(options.model, options.inputs);
    startOutputs(options, model);
    for (const std::string& text : model.notices) notice(text);
    const Graph& graph = *model.graph;
    saveModel(graph, options.output);
    if (options.json) {
        printJson({{"output", options.output.string()},
                   {"inputs", toJson(graph, graph.inputs())},
                   {"layers", graph.nodeCount()},
                   {"notices", model.notices}});
        return;
    }
    fmt::print("{}: {}\n", options.output.string(), counted(graph.nodeCount(), "layer"));
    for (const TensorId id : graph.inputs()) fmt::print("  input {}\n", nameTypeAndShape(graph.tensor(id)));
}

}  // namespace quantloupe::cli
