// SPDX-License-Identifier: Apache-2.0
// Tools configured mainly by a list of layers to exclude: NNCF's IgnoredScope and ModelOpt's quantize().
//
// NNCF has names, operators and subgraphs (all paths between two nodes, both included, like a skip-until
// rule), so these rules are exported directly. ModelOpt matches regular expressions, so names are escaped.

#include <algorithm>

#include "base/text.h"
#include "config/skip_rules.h"
#include "interchange/float_nodes.h"
#include "interchange/text/python_text.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

std::string escapedPattern(const std::string& name) {
    std::string text = "^";
    for (const char c : name) {
        if (std::string_view("\\.^$*+?()[]{}|").find(c) != std::string_view::npos) text += '\\';
        text += c;
    }
    return text + "$";
}

/// Returns the name of the layer's node in the prepared model, empty if the layer was folded.
std::string preparedName(const ExportSource& source, const std::string& layer) {
    const auto node = source.prepared->source->findNode(layer);
    const NodeId now = node ? source.prepared->layerMappings[node->index()].prepared : NodeId();
    return now.valid() ? source.prepared->graph->node(now).name : std::string();
}

/// Returns the operator of the layer's node in the prepared model, empty if the layer was folded.
std::string preparedOperator(const ExportSource& source, NodeId layer) {
    const NodeId now = source.prepared->layerMappings[layer.index()].prepared;
    return now.valid() ? source.prepared->graph->node(now).op : std::string();
}

std::vector<std::string> commonNotices(const ExportSource& source, std::string_view tool,
                                       const std::set<SkipKind>& known) {
    std::vector<std::string> notices = ruleNotices(source, tool, known);
    append(notices, previewNotices(source, tool));
    append(notices, layerSettingNotices(source.config, tool, false));
    const QuantizationOptions& q = source.config.quantization;
    if (q.weight.bits != 8 || q.activation.bits != 8)
        notices.push_back(
            fmt::format("{} quantizes weights and activations to 8 bits; the preview has {} and {} bits",
                        tool, q.weight.bits, q.activation.bits));
    append(notices, includedTransformNotices(source.config));
    notices.push_back(
        fmt::format("{} computes the scales and chooses the operators to quantize by its own rules", tool));
    return notices;
}

/// Adds the script, and the model without quantizers that it quantizes.
void addScript(ExportResult& result, const ExportSource& source, const QuantizingScript& script) {
    const std::string model = ".float.onnx";
    result.files.push_back(
        {"", pythonScript(source, source.output.stem().string() + model, script), nullptr, true});
    result.files.push_back({model, "", source.prepared->transformed, false});
}

}  // namespace

ExportResult writeNncf(const ExportSource& source) {
    std::set<std::string> covered;  // by subgraphs and operators
    std::vector<std::string> types;
    std::string subgraphs;
    const Graph& original = *source.prepared->source;
    const SkipDecisions skips = resolveSkips(original, source.config);
    for (std::size_t i = 0; i < source.config.rules.size(); ++i) {
        const SkipRule& rule = source.config.rules[i];
        // NNCF refuses types of which the model has no node, such as those that were folded.
        bool expressible = rule.kind == SkipKind::Type &&
                           std::ranges::any_of(source.prepared->transformed->nodes(),
                                               [&](const Node& node) { return node.op == rule.op; });
        if (rule.kind == SkipKind::Until) {
            const std::string from = preparedName(source, rule.from);
            std::vector<std::string> to;
            for (const std::string& name : rule.to) to.push_back(preparedName(source, name));
            expressible = !from.empty() && std::find(to.begin(), to.end(), "") == to.end();
            if (expressible)
                subgraphs += fmt::format("        nncf.Subgraph(inputs=[{}], outputs={}),\n",
                                         pythonString(from), pythonNames(to, 8));
        }
        if (!expressible) continue;
        // Layers in covered subgraphs and operators are not listed by name, unless a transform changed the
        // operator.
        for (std::size_t n = 0; n < original.nodeCount(); ++n)
            if (skips.covered[i][n] &&
                (rule.kind != SkipKind::Type || preparedOperator(source, NodeId(n)) == rule.op))
                covered.insert(original.nodes()[n].name);
        if (rule.kind == SkipKind::Type) types.push_back(rule.op);
    }
    std::vector<std::string> names;
    for (const FloatNode& node : floatNodes(source))
        if (node.state == LayerState::Skipped && !covered.contains(node.layer)) names.push_back(node.name);
    ExportResult result;
    result.notices = commonNotices(source, "NNCF", {SkipKind::Until, SkipKind::Type});
    for (const auto& [name, own] : source.config.layers)
        if (own.quantize.value_or(false) && covered.contains(name))
            result.notices.push_back(fmt::format(
                "'{}' is quantized here although a rule skips it, which NNCF cannot express", name));
    QuantizingScript script;
    script.tool = "NNCF";
    script.help = "Needs nncf, onnx, numpy, onnxruntime, and Pillow for images.\n";
    script.modules = "import nncf\n";
    script.imports = "from onnxruntime.quantization import CalibrationDataReader\n";
    script.settings = fmt::format(R"(IGNORED_SCOPE = nncf.IgnoredScope(
    names={},
    types={},
    subgraphs=[
{}    ],
)
)",
                                  pythonNames(names, 4), pythonNames(types, 4), subgraphs);
    script.main = fmt::format(R"(    dataset = nncf.Dataset(list(samples(MODEL, arguments.data, SAMPLES)))
    quantized = nncf.quantize(onnx.load(MODEL), dataset, preset=nncf.QuantizationPreset.{}, subset_size=SAMPLES,
                              ignored_scope=IGNORED_SCOPE)
    onnx.save(quantized, arguments.output)
)",
                              source.config.quantization.activation.symmetric ? "PERFORMANCE" : "MIXED");
    addScript(result, source, script);
    return result;
}

ExportResult writeModelOpt(const ExportSource& source) {
    std::vector<std::string> patterns;
    for (const FloatNode& node : floatNodes(source))
        if (node.state == LayerState::Skipped) patterns.push_back(escapedPattern(node.name));
    const bool entropy = source.config.calibration.method == CalibrationMethod::Entropy;
    ExportResult result;
    result.notices = commonNotices(source, "ModelOpt", {});
    if (!entropy && source.config.calibration.method != CalibrationMethod::MinMax)
        result.notices.emplace_back("ModelOpt supports only max and entropy calibration: max is used");
    if (!source.config.quantization.activation.symmetric)
        result.notices.emplace_back(
            "ModelOpt's activations are symmetric, for TensorRT; the preview's are affine");
    QuantizingScript script;
    script.tool = "NVIDIA's ModelOpt";
    script.help = "Needs nvidia-modelopt[onnx], onnx, numpy, and Pillow for images.\n";
    script.imports = R"(from modelopt.onnx.quantization import quantize
from onnxruntime.quantization import CalibrationDataReader
)";
    script.settings =
        fmt::format("# Layers that stay in float, as regular expressions.\nNODES_TO_EXCLUDE = {}\n",
                    pythonNames(patterns));
    script.main = fmt::format(R"(    rows = list(samples(MODEL, arguments.data, SAMPLES))
    data = {{name: np.concatenate([row[name] for row in rows]) for name in rows[0]}}
    quantize(onnx_path=str(MODEL), quantize_mode="int8", calibration_data=data, calibration_method="{}",
             nodes_to_exclude=NODES_TO_EXCLUDE, high_precision_dtype="fp32", output_path=arguments.output)
)",
                              entropy ? "entropy" : "max");
    addScript(result, source, script);
    return result;
}

}  // namespace quantloupe
