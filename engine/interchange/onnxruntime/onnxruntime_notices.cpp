// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/onnxruntime_notices.h"

#include "base/text.h"
#include "interchange/wording.h"
#include "model/subgraphs.h"

namespace quantloupe {

std::vector<std::string> schemeNotices(const ExportSource& source, const SchemeLosses& losses) {
    const QuantizationOptions& q = source.config.quantization;
    std::vector<std::string> notices;
    if (!losses.oddWeights.empty())
        notices.push_back(
            fmt::format("ONNX Runtime's weights have 4, 8 or 16 bits: other widths are stored in the next "
                        "larger type with the scale of their own width: {}",
                        shortList(losses.oddWeights)));
    if (!losses.unknownBiases.empty())
        notices.push_back(fmt::format(
            "ONNX Runtime cannot quantize the bias of a ConvTranspose with groups if its weight has scales "
            "per channel: left in float: {}",
            shortList(losses.unknownBiases)));
    if (!isOwnActivationWidth(q.activation.bits))
        notices.push_back(
            fmt::format("ONNX Runtime's activations have 8 or 16 bits: {} become 8", q.activation.bits));
    else if (!losses.oddActivations.empty())
        notices.push_back("ONNX Runtime's activations have 8 or 16 bits: other widths become " +
                          std::to_string(q.activation.bits));
    if (q.operators == OperatorSet::Quark || q.operators == OperatorSet::Aimet)
        notices.push_back(fmt::format(
            "the preview quantizes operators other than weighted layers as {} does "
            "(quantization.operators {}), but ONNX Runtime has other rules for their scales, so results "
            "can differ; set onnxruntime to preview its rules",
            q.operators == OperatorSet::Quark ? "Quark" : "AIMET",
            q.operators == OperatorSet::Quark ? "quark" : "aimet"));
    if (!losses.leftConversions.empty())
        notices.push_back(
            fmt::format("ONNX Runtime can convert a quantized tensor to only one other precision of 8 or 16 "
                        "bits, and not an output of the model; other conversions are left out: {}",
                        shortList({losses.leftConversions.begin(), losses.leftConversions.end()})));
    if (!losses.unequalReaders.empty())
        notices.push_back(fmt::format(
            "in ONNX Runtime, all layers that read a tensor use the same quantizer: the one with the "
            "most bits in the preview is exported for {}",
            shortList({losses.unequalReaders.begin(), losses.unequalReaders.end()})));
    if (!losses.leftLayers.empty())
        notices.push_back(fmt::format(
            "ONNX Runtime quantizes a separate Relu or Clip, and a layer that passes its scale on, only if a "
            "layer before it quantizes the input: others are left in float: {}",
            shortList(losses.leftLayers)));
    if (losses.uncalibrated > 0)
        notices.push_back(
            fmt::format("ONNX Runtime does not have this calibration method: {} will have other scales "
                        "than the preview; provide calibration data to export the scales found here",
                        counted(losses.uncalibrated, "tensor")));
    if (q.biasBits != 32 && q.biasBits != kFloatBias)
        notices.push_back(fmt::format("ONNX Runtime's biases have 32 bits, not {}", q.biasBits));
    if (q.npuPositions.adjustShiftBias && q.biasBits != kFloatBias)
        notices.emplace_back(
            "ONNX Runtime's biases have the scale of their products: adjust_shift_bias has no effect on "
            "them");
    std::vector<std::string> capturing;
    for (const Node& node : source.prepared->graph->nodes())
        if (formalInputs(node) < node.inputs.size()) capturing.push_back(node.name);
    if (!capturing.empty())
        notices.push_back(fmt::format(
            "quantize_static ignores the tensors that the bodies of If, Loop and Scan read from the outer "
            "graph, so the model that it writes may be wrong or invalid; export the quantized model instead "
            "(format qdq): {}",
            shortList(capturing)));
    append(notices, settingNotices(source.config, source.config, "ONNX Runtime", {"quantization.bias_bits"}));
    if (!source.plan)  // otherwise the scales express them
        for (std::string& text :
             settingNotices(source.config, {}, "ONNX Runtime", {"quantization.npu_positions."}))
            notices.push_back(std::move(text));
    append(notices, includedTransformNotices(source.config));
    return notices;
}

}  // namespace quantloupe
