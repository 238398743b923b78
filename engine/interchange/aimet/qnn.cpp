// SPDX-License-Identifier: Apache-2.0
// Qualcomm's converters: the --quantization_overrides file, and the float model whose tensors it names.
// Tensors that stay in float have a 32-bit entry; without one the converter would compute encodings for them.

#include <set>

#include "base/text.h"
#include "interchange/aimet/encodings_json.h"
#include "interchange/float_nodes.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {

ExportResult writeQnn(const ExportSource& source) {
    const TensorEncodings all = tensorEncodings(source);
    const Graph& graph = *source.prepared->graph;
    OrderedJson json;
    std::set<std::string> known;
    json["activation_encodings"] = OrderedJson::object();
    json["param_encodings"] = OrderedJson::object();
    for (const TensorEncoding& e : all.activations)
        json["activation_encodings"][e.tensor] = encodingEntries(e), known.insert(e.tensor);
    for (const TensorEncoding& e : all.parameters)
        json["param_encodings"][e.tensor] = encodingEntries(e), known.insert(e.tensor);
    OrderedJson floating = OrderedJson::array();
    floating.push_back({{"bitwidth", 32}, {"dtype", "float"}});
    for (const FloatNode& node : floatNodes(source)) {
        const Node& n = graph.node(*graph.findNode(node.name));
        for (const TensorId output : n.outputs)
            if (output.valid() && !known.contains(graph.tensor(output).name))
                json["activation_encodings"][graph.tensor(output).name] = floating;
        for (const TensorId input : n.inputs) {
            const Constant* constant = graph.constantOf(input);
            if (constant != nullptr && constant->type() == DataType::Float32 &&
                !known.contains(graph.tensor(input).name))
                json["param_encodings"][graph.tensor(input).name] = floating;
        }
    }
    ExportResult result;
    result.notices = ruleNotices(source, "the QNN converter");
    append(result.notices, previewNotices(source, "the QNN converter"));
    result.notices.emplace_back(
        "layers in float need a target with floating-point support (--float_bitwidth 32 or 16)");
    result.files.push_back({"", dumpedJson(json), nullptr, false});
    result.files.push_back({".float.onnx", "", source.prepared->transformed, false});
    return result;
}

}  // namespace quantloupe
