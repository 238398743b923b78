// SPDX-License-Identifier: Apache-2.0
// Compilers that quantize the float model themselves and take lists of layers with another precision:
// TPU-MLIR, TI's TIDL, Rockchip's RKNN-Toolkit2 and Axera's Pulsar2. docs/exports.md names the sources of the
// formats.

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "interchange/text/python_text.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

/// A node of the exported model whose precision a list can contain.
struct ListedLayer {
    std::string name, op, tensor;  ///< `tensor`: its first output
    std::string unit;              ///< the source layer that computes it: itself, or the one it is fused into
    NodeId node;                   ///< of the transformed graph
    Precision precision;
};

/// Returns the quantized and skipped nodes of the exported model with their activations.
std::vector<ListedLayer> listedLayers(const ExportSource& source) {
    std::vector<ListedLayer> listed;
    const Graph& graph = *source.prepared->graph;
    for (std::size_t p = 0; p < graph.nodeCount(); ++p) {
        const Node& node = graph.nodes()[p];
        const NodeId origin = source.prepared->sourceOf.at(p);
        if (!origin.valid() || node.op == "Identity" || !node.output().valid()) continue;
        const LayerResult& layer = source.layers.at(origin.index());
        if (layer.state == LayerState::Float || layer.state == LayerState::Folded) continue;
        listed.push_back({node.name, node.op, graph.tensor(node.output()).name,
                          layer.state == LayerState::Fused ? layer.host : layer.name, NodeId(p),
                          layer.precision});
    }
    return listed;
}

/// Returns the operators that compute activations and stay in float because no quantizer applies to them.
/// They are not listed: the tool decides on them.
std::vector<std::string> floatOperators(const ExportSource& source) {
    std::set<std::string> operators;
    const Graph& graph = *source.prepared->graph;
    for (std::size_t p = 0; p < graph.nodeCount(); ++p) {
        const Node& node = graph.nodes()[p];
        const NodeId origin = source.prepared->sourceOf.at(p);
        if (!origin.valid() || source.layers.at(origin.index()).state != LayerState::Float) continue;
        const bool computes = !node.inputs.empty() && !traitsOf(node).copiesValues && node.op != "Identity";
        if (computes && graph.tensor(node.output()).type == DataType::Float32) operators.insert(node.op);
    }
    return {operators.begin(), operators.end()};
}

/// Collects the layers whose precision a tool replaces by another one.
class Replacements {
  public:
    explicit Replacements(std::string tool) : m_tool(std::move(tool)) {}
    void add(const ListedLayer& layer, const std::string& by) {
        auto& names = m_layers[{precisionName(layer.precision), by}];
        // The activations that are fused into a layer are not layers of their own.
        if (std::ranges::find(names, layer.unit) == names.end()) names.push_back(layer.unit);
    }
    void addTo(std::vector<std::string>& notices) const {
        for (const auto& [which, names] : m_layers)
            notices.push_back(
                fmt::format("{} has no {}: {} {} {}: {}", m_tool, which.first, counted(names.size(), "layer"),
                            names.size() == 1 ? "becomes" : "become", which.second, shortList(names)));
    }

  private:
    std::string m_tool;
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> m_layers;
};

ExportResult withModel(const ExportSource& source, std::string text, std::string_view tool,
                       const Replacements& replacements, bool executable = false) {
    ExportResult result;
    result.notices = ruleNotices(source, tool);
    append(result.notices, previewNotices(source, tool));
    replacements.addTo(result.notices);
    if (const auto operators = floatOperators(source); !operators.empty())
        result.notices.push_back(fmt::format(
            "operators that the preview leaves in float are not listed, so {} may quantize them: {}", tool,
            shortList(operators)));
    result.notices.push_back(fmt::format("{} computes its own scales", tool));
    result.files.push_back({"", std::move(text), nullptr, executable});
    result.files.push_back({".float.onnx", "", source.prepared->transformed, false});
    return result;
}

std::string joined(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

enum class TpuMode { Int8, F16, F32 };  // the more precise, the later

const char* tpuModeName(TpuMode mode) {
    return mode == TpuMode::F32 ? "F32" : mode == TpuMode::F16 ? "F16" : "INT8";
}

TpuMode tpuModeOf(const ListedLayer& layer, Replacements& replaced) {
    if (layer.precision == Precision::float32()) return TpuMode::F32;
    if (layer.precision == Precision::float16()) return TpuMode::F16;
    const TpuMode mode = layer.precision.activationBits > 8 ? TpuMode::F16 : TpuMode::Int8;
    if (layer.precision != Precision::integer(8, 8)) replaced.add(layer, tpuModeName(mode));
    return mode;
}

bool unpaddedConvolution(const Node& node) {
    const std::string padding = node.attributes.text("auto_pad", "NOTSET");
    return isOp(node, "Conv") && node.attributes.integer("group", 1) == 1 &&
           (padding == "NOTSET" || padding == "VALID") &&
           std::ranges::all_of(node.attributes.integers("pads"), [](std::int64_t pad) { return pad == 0; });
}

/// Returns whether TPU-MLIR multiplies the weights of a 1x1 convolution into those of the convolution that
/// reads it (Conv1x1Convkxk2dMerge in lib/Dialect/Top/Canonicalize/Conv.cpp): both without padding and
/// groups, and the product has at most 20 times as many values.
bool tpuMerges(const Graph& graph, const Node& first, const Node& second) {
    if (!unpaddedConvolution(first) || !unpaddedConvolution(second) || second.input(0) != first.output())
        return false;
    const Constant* before = graph.constantOf(first.input(1));
    const Constant* after = graph.constantOf(second.input(1));
    if (before == nullptr || after == nullptr || before->dims().size() != 4 || after->dims().size() != 4)
        return false;
    const Dims &one = before->dims(), &two = after->dims();
    if (one[2] != 1 || one[3] != 1) return false;
    const auto kernel = static_cast<double>(two[2] * two[3]);
    const auto middle = static_cast<double>(one[0]), inputs = static_cast<double>(one[1]),
               outputs = static_cast<double>(two[0]);
    return outputs * inputs * kernel <= 20 * (outputs * middle * kernel + inputs * middle);
}

/// Convolutions that TPU-MLIR merges have one line in its table, that of the last one. Gives it the more
/// precise mode, and returns a notice for each pair that had different modes.
std::vector<std::string> alignMergedConvolutions(const Graph& graph, const std::vector<ListedLayer>& layers,
                                                 std::vector<TpuMode>& modes) {
    std::map<NodeId, std::size_t> places;
    for (std::size_t i = 0; i < layers.size(); ++i) places.emplace(layers[i].node, i);
    std::vector<std::string> notices;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Node& first = graph.node(layers[i].node);
        const NodeId reader = graph.onlyConsumer(first.output());
        const auto next = reader.valid() ? places.find(reader) : places.end();
        if (next == places.end() || !tpuMerges(graph, first, graph.node(reader))) continue;
        const std::size_t j = next->second;
        const TpuMode mode = std::max(modes[i], modes[j]);
        if (modes[i] != modes[j])
            notices.push_back(fmt::format("TPU-MLIR merges '{}' into '{}', so both become {}", layers[i].name,
                                          layers[j].name, tpuModeName(mode)));
        modes[i] = mode;
        for (std::size_t k = 0; k < layers.size(); ++k)
            if (layers[k].unit == layers[j].unit) modes[k] = mode;
    }
    return notices;
}

}  // namespace

ExportResult writeTpuMlir(const ExportSource& source) {
    Replacements replaced("TPU-MLIR");
    const std::vector<ListedLayer> layers = listedLayers(source);
    std::vector<TpuMode> modes;
    for (const ListedLayer& layer : layers) modes.push_back(tpuModeOf(layer, replaced));
    const std::vector<std::string> merged = alignMergedConvolutions(*source.prepared->graph, layers, modes);
    std::string text = "# op_name   quantize_mode\n";
    for (std::size_t i = 0; i < layers.size(); ++i) {
        // TPU-MLIR names an operator after its output and its type, and separates columns by spaces.
        if (modes[i] != TpuMode::Int8 && layers[i].tensor.find(' ') != std::string::npos)
            failInput(
                "the name of the tensor '{}' of layer '{}' contains a space, which is not possible in a "
                "TPU-MLIR table; rename it in the model",
                layers[i].tensor, layers[i].name);
        if (modes[i] != TpuMode::Int8)
            text += fmt::format("{}_{} {}\n", layers[i].tensor, layers[i].op, tpuModeName(modes[i]));
    }
    ExportResult result = withModel(source, text, "TPU-MLIR", replaced);
    result.notices.insert(result.notices.end(), merged.begin(), merged.end());
    return result;
}

ExportResult writeTidl(const ExportSource& source) {
    Replacements replaced("TIDL");
    const int tensorBits = source.config.quantization.activation.bits > 8 ? 16 : 8;
    std::vector<std::string> outputs, parameters, denied;
    for (const ListedLayer& layer : listedLayers(source)) {
        const Precision& p = layer.precision;
        const auto listed = [&](const std::string& name) {
            if (name.find_first_of(", \t") != std::string::npos)
                failInput(
                    "the name '{}' (layer '{}') contains a comma or a space, which separates names in "
                    "TIDL's lists; rename it in the model",
                    name, layer.name);
            return name;
        };
        if (!p.isInteger()) {
            denied.push_back(listed(layer.name));
            if (p == Precision::float16()) replaced.add(layer, "float32 on the CPU");
        } else if (tensorBits == 16) {
            if (p != Precision::integer(16, 16)) replaced.add(layer, "w16a16");
        } else if (p.activationBits > 8) {
            outputs.push_back(listed(layer.tensor));
            if (p != Precision::integer(16, 16)) replaced.add(layer, "w16a16");
        } else if (p.weightBits > 8) {
            parameters.push_back(listed(layer.tensor));
            if (p != Precision::integer(16, 8)) replaced.add(layer, "w16a8");
        } else if (p != Precision::integer(8, 8)) {
            replaced.add(layer, "w8a8");
        }
    }
    const OrderedJson options = {{"tensor_bits", tensorBits},
                                 {"deny_list:layer_name", joined(denied)},
                                 {"advanced_options:output_feature_16bit_names_list", joined(outputs)},
                                 {"advanced_options:params_16bit_names_list", joined(parameters)}};
    return withModel(source, options.dump(2) + "\n", "TIDL", replaced);
}

ExportResult writePulsar2(const ExportSource& source) {
    Replacements replaced("Pulsar2");
    const bool isSigned = source.config.quantization.activation.isSigned;
    const auto typeOf = [&](int bits) {
        return fmt::format("{}{}", isSigned ? "S" : "U", bits > 8 ? 16 : 8);
    };
    const std::string usual = typeOf(8);  // the bits of Pulsar2's default
    std::map<std::string, std::vector<std::string>> byType;
    for (const ListedLayer& layer : listedLayers(source)) {
        const Precision& p = layer.precision;
        const std::string type = p.isInteger() ? typeOf(p.activationBits) : "FP32";
        if (p == Precision::float16()) replaced.add(layer, "FP32");
        if (p.isInteger() && (p.weightBits != 8 || (p.activationBits != 8 && p.activationBits != 16)))
            replaced.add(layer, fmt::format("{} with the compiler's weights", type));
        if (type != usual) byType[type].push_back(layer.name);
    }
    OrderedJson layers = OrderedJson::array();
    for (const auto& [type, names] : byType) layers.push_back({{"layer_names", names}, {"data_type", type}});
    const OrderedJson config = {{"quant", {{"layer_configs", layers}}}};
    return withModel(source, config.dump(2) + "\n", "Pulsar2", replaced);
}

ExportResult writeRknn(const ExportSource& source) {
    Replacements replaced("RKNN-Toolkit2");
    std::string layers;
    for (const ListedLayer& layer : listedLayers(source)) {
        if (layer.precision == Precision::integer(8, 8)) continue;
        if (layer.precision.isInteger() && layer.precision.activationBits <= 8) {
            replaced.add(layer, "w8a8");
            continue;
        }
        if (layer.precision != Precision::float16()) replaced.add(layer, "float16");
        layers += fmt::format("    {},\n", pythonString(layer.tensor));
    }
    const std::string text = fmt::format(R"(#!/usr/bin/env python3
"""Sets the float16 layers of {0}, as tuned in Quantloupe, in a hybrid quantization file of RKNN-Toolkit2.

Usage: python {1} MODEL.quantization.cfg
Run it between hybrid_quantization_step1, which writes the file, and hybrid_quantization_step2. Only the block
custom_quantize_layers changes: the toolkit compares the other numbers as text.
"""
import pathlib
import re
import sys

# The outputs of the layers that RKNN computes in float16.
FLOAT16 = [
{2}]


def main(path):
    file = pathlib.Path(path)
    text = file.read_text(encoding="utf-8")
    missing = [name for name in FLOAT16 if name not in text]
    if missing:
        sys.exit(f"{{path}} does not contain these tensors: {{missing}}; it belongs to another model")
    # The toolkit replaces a Gemm by a matrix product, whose output is NAME_mm, and a Reshape.
    names = [part for name in FLOAT16 for part in (name, name + "_mm") if part == name or f"\n    {{part}}:" in text]
    block = "custom_quantize_layers:" + ("".join(f"\n    {{name}}: float16" for name in names) or " {{}}") + "\n"
    changed, count = re.subn(r"^custom_quantize_layers:.*\n(?:[ \t]+.*\n)*", lambda _: block, text, count=1, flags=re.M)
    if count == 0:
        sys.exit(f"{{path}} has no custom_quantize_layers: it was not written by hybrid_quantization_step1")
    file.write_text(changed, encoding="utf-8")
    print(f"{{path}}: {{len(FLOAT16)}} layers in float16")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
)",
                                         inDocstring(source.model.filename().string()),
                                         inDocstring(source.output.filename().string()), layers);
    return withModel(source, text, "RKNN-Toolkit2", replaced, true);
}

}  // namespace quantloupe
