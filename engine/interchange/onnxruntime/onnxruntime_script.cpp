// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/onnxruntime_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "interchange/text/python_text.h"

namespace quantloupe {
namespace {

/// Returns the Python code that defines TENSOR_QUANT_OVERRIDES.
std::string overrideTable(const std::vector<std::string>& overrides) {
    std::string text = R"(

def tensor(quant_type, scale, zero_point):
    return [{"quant_type": quant_type, "scale": np.array(scale, np.float32), "zero_point": np.array(zero_point)}]


def channels(quant_type, axis, scales, zero_points):
    return [{**tensor(quant_type, scale, zero_point)[0], "axis": axis} for scale, zero_point in zip(scales, zero_points)]


# Scales found in Quantloupe, where ONNX Runtime would find different ones.
TENSOR_QUANT_OVERRIDES = {
)";
    for (const std::string& one : overrides) text += "    " + one + ",\n";
    return text + "}\n";
}

/// Returns the Python code that defines match_preview().
std::string matchPreview(const QuantizeStaticCall& call) {
    std::string codes;
    for (const std::string& one : call.codes) codes += "    " + one + ",\n";
    return fmt::format(R"(

# Relu and Clip nodes before quantizers that do not saturate at the same values.
KEPT_ACTIVATIONS = {}
# The lowest and the highest code of weights that do not use all codes of their type.
WEIGHT_CODES = {{
{}}}


def keep_activations(graph):
    """Puts nodes back that quantize_static removed, and removes the quantizers before the others."""
    source = onnx.load(MODEL).graph
    for original in source.node:
        if original.name not in KEPT_ACTIVATIONS:
            continue
        before, after = original.input[0], original.output[0]
        kept = next((node for node in graph.node if node.name == original.name), None)
        if kept:
            kept.input[0] = before
            continue
        names = after, after + "_QuantizeLinear_Input"
        index, node = next((i, node) for i, node in enumerate(graph.node) if node.output[0] in names)
        kept = onnx.NodeProto()
        kept.CopyFrom(original)
        kept.output[0] = node.output[0]
        node.output[0] = before
        graph.node.insert(index + 1, kept)
        known = {{tensor.name for tensor in graph.initializer}}
        graph.initializer.extend(tensor for tensor in source.initializer
                                 if tensor.name in kept.input and tensor.name not in known)
    unused = True
    while unused:
        used = {{name for node in graph.node for name in node.input}} | {{value.name for value in graph.output}}
        unused = [node for node in graph.node if not used.intersection(node.output)]
        for node in unused:
            graph.node.remove(node)
    for tensor in [tensor for tensor in graph.initializer if tensor.name not in used]:
        graph.initializer.remove(tensor)


def limit_codes(graph):
    for tensor in graph.initializer:
        limits = WEIGHT_CODES.get(tensor.name.removesuffix("_quantized"))
        if limits and tensor.name.endswith("_quantized"):
            codes = onnx.numpy_helper.to_array(tensor)
            limited = np.clip(codes.astype(np.int32), *limits).astype(codes.dtype)
            tensor.CopyFrom(onnx.numpy_helper.from_array(limited, tensor.name))


def match_preview(path):
    model = onnx.load(path)
    keep_activations(model.graph)
    limit_codes(model.graph)
    onnx.save(model, path)
)",
                       pythonNames(call.kept), codes);
}

}  // namespace

const std::vector<std::string_view>& quantizeStaticOperators() {
    static const std::vector<std::string_view> kOperators = {"Add",
                                                             "ArgMax",
                                                             "AveragePool",
                                                             "BatchNormalization",
                                                             "Clip",
                                                             "Concat",
                                                             "Conv",
                                                             "ConvTranspose",
                                                             "CumSum",
                                                             "Flatten",
                                                             "Gather",
                                                             "GatherElements",
                                                             "Gemm",
                                                             "GlobalAveragePool",
                                                             "InstanceNormalization",
                                                             "LayerNormalization",
                                                             "LeakyRelu",
                                                             "MatMul",
                                                             "MaxPool",
                                                             "Mul",
                                                             "Pad",
                                                             "Relu",
                                                             "Reshape",
                                                             "Resize",
                                                             "Sigmoid",
                                                             "Slice",
                                                             "Softmax",
                                                             "Split",
                                                             "Squeeze",
                                                             "TopK",
                                                             "Transpose",
                                                             "Unsqueeze",
                                                             "Where"};
    return kOperators;
}

QuantizeStaticMethod quantizeStaticMethod(const CalibrationOptions& calibration) {
    const CalibrationParameters p = withDefaults(calibration.method, calibration.parameters);
    switch (calibration.method) {
        case CalibrationMethod::MinMax:
            return {"MinMax", {}, true, true};
        case CalibrationMethod::Percentile:
            return {"Percentile",
                    {fmt::format("\"CalibPercentile\": {}", pythonFloat(100 * *p.percentile))},
                    *p.bins == 2048};
        case CalibrationMethod::Entropy:
            return {"Entropy", {}, *p.bins == 128 && *p.quantizedBins == 128};
        case CalibrationMethod::MovingAverage:
            return {"MinMax",
                    {"\"CalibMovingAverage\": True"},
                    *p.averagingConstant == 0,
                    *p.averagingConstant == 0};
        default:
            return {"MinMax", {}, false};
    }
}

std::string quantizeStaticScript(const ExportSource& source, const std::string& model,
                                 const QuantizeStaticCall& call) {
    QuantizingScript script;
    script.tool = "ONNX Runtime";
    script.help =
        R"(DATA are calibration samples: a folder of images, .npy, .npz or ONNX test data. Needs onnxruntime 1.17 or newer, onnx, numpy, and
Pillow for images.
)";
    script.imports =
        "from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, "
        "QuantType, quantize_static\n";
    script.settings =
        fmt::format("# Layers that stay in float.\nNODES_TO_EXCLUDE = {}\n", pythonNames(call.excluded));
    if (!call.overrides.empty()) script.settings += overrideTable(call.overrides);
    const bool differs = !call.kept.empty() || !call.codes.empty();
    if (differs) script.functions = matchPreview(call);
    script.main = fmt::format(
        R"(    names = {{node.name for node in onnx.load(MODEL, load_external_data=False).graph.node}}
    missing = [name for name in NODES_TO_EXCLUDE if name not in names]
    if missing:
        sys.exit(f"{{MODEL}} has no nodes of these names: {{missing}}; it is not the model that was exported with this script")
    quantize_static(
        MODEL, arguments.output, Reader(MODEL, arguments.data, SAMPLES),
        quant_format=QuantFormat.QDQ, calibrate_method=CalibrationMethod.{0},
        activation_type={1}, weight_type={2}, per_channel={3},
        nodes_to_exclude=NODES_TO_EXCLUDE,
        extra_options={{{4}}})
{5}    print(f"{{arguments.output}}: {{len(NODES_TO_EXCLUDE)}} nodes excluded")
)",
        call.method, call.activationType, call.weightType, pythonBool(call.perChannel),
        fmt::join(call.options, ", "), differs ? "    match_preview(arguments.output)\n" : "");
    return pythonScript(source, model, script);
}

}  // namespace quantloupe
