// SPDX-License-Identifier: Apache-2.0
// AIMET: encodings in its three formats, the float model whose tensors they name, and a quantsim
// configuration.
//
// A float layer has no entry: loading encodings disables every quantizer without one. The main file has
// format 1.0.0, which aimet-onnx writes since 2.1. Older QNN tools read 0.6.1. 2.0.0 is close to
// QuantizeLinear and needs integers of 2, 4, 8, 16 or 32 bits. The quantsim configuration works by operator
// only: it has no key for a layer's name.

#include "base/error.h"
#include "base/text.h"
#include "interchange/aimet/encodings_json.h"
#include "interchange/text/python_text.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

const char* text(bool value) { return value ? "True" : "False"; }

OrderedJson quantizerArguments(const QuantizationConfig& config) {
    return {{"activation_bitwidth", config.quantization.activation.bits},
            {"param_bitwidth", config.quantization.weight.bits},
            {"dtype", "int"},
            {"is_symmetric", config.quantization.weight.symmetric},
            {"per_channel_quantization", config.quantization.weight.perChannel},
            {"quant_scheme", config.calibration.method == CalibrationMethod::TfEnhanced
                                 ? "post_training_tf_enhanced"
                                 : "min_max"}};
}

OrderedJson entry100(const TensorEncoding& e) {
    return {{"name", e.tensor},      {"enc_type", e.axis < 0 ? "PER_TENSOR" : "PER_CHANNEL"},
            {"dtype", "INT"},        {"bw", e.bits},
            {"is_sym", e.symmetric}, {"scale", std::vector<double>(e.scales.begin(), e.scales.end())},
            {"offset", e.offsets}};
}

int storedBits(int bits) { return bits <= 2 ? 2 : bits <= 4 ? 4 : bits <= 8 ? 8 : 16; }

OrderedJson entry200(const TensorEncoding& e, bool parameter) {
    // Activations are always unsigned in 2.0.0.
    const bool isSigned = parameter && e.isSigned;
    TensorEncoding shown = e;
    shown.isSigned = isSigned;
    OrderedJson json = {{"name", e.tensor}};
    bool zeros = true;
    std::vector<int> points;
    for (std::size_t i = 0; i < e.scales.size(); ++i) {
        points.push_back(shown.zeroPoint(i));
        zeros = zeros && points.back() == 0;
    }
    if (e.axis < 0)
        json["y_scale"] = static_cast<double>(e.scales[0]);
    else
        json["y_scale"] = std::vector<double>(e.scales.begin(), e.scales.end());
    if (!zeros && e.axis < 0) json["y_zero_point"] = points[0];
    if (!zeros && e.axis >= 0) json["y_zero_point"] = points;
    if (e.axis >= 0) json["axis"] = e.axis;
    json["output_dtype"] = fmt::format("{}int{}", isSigned ? "" : "u", storedBits(e.bits));
    return json;
}

OrderedJson quantsim(const ExportSource& source) {
    const QuantizationOptions& q = source.config.quantization;
    OrderedJson json;
    json["defaults"] = {
        {"ops", {{"is_output_quantized", "True"}, {"is_symmetric", text(q.activation.symmetric)}}},
        {"params", {{"is_quantized", "True"}, {"is_symmetric", text(q.weight.symmetric)}}},
        {"strict_symmetric", text(q.weight.symmetric && q.weight.restricted)},
        {"unsigned_symmetric", text(!q.activation.isSigned && q.activation.symmetric)},
        {"per_channel_quantization", text(q.weight.perChannel)}};
    json["params"] = {{"bias", {{"is_quantized", text(q.biasBits != kFloatBias)}}}};
    json["op_type"] = OrderedJson::object();
    std::map<std::string, bool> quantized;  // operator to whether any of its layers is quantized
    for (const LayerResult& layer : source.layers) {
        if (layer.state == LayerState::Folded || layer.state == LayerState::Fused) continue;
        quantized[layer.op] = quantized[layer.op] || layer.state == LayerState::Quantized;
    }
    for (const auto& [op, any] : quantized) {
        if (any) continue;
        json["op_type"][op] = {
            {"is_output_quantized", "False"},
            {"params", {{"weight", {{"is_quantized", "False"}}}, {"bias", {{"is_quantized", "False"}}}}}};
    }
    json["supergroups"] = OrderedJson::array();
    for (const char* first : {"Conv", "ConvTranspose", "Gemm", "Add"})
        for (const char* second : {"Relu", "Clip"})
            json["supergroups"].push_back({{"op_list", {first, second}}});
    // By default, AIMET merges some layers; the tensors between them then have no quantizer.
    json["supergroup_pass_list"] = OrderedJson::array();
    json["model_input"] = {{"is_input_quantized", "True"}};
    json["model_output"] = OrderedJson::object();
    return json;
}

/// Returns a Python module that creates AIMET's simulation with the quantizers of the preview.
std::string loader(const ExportSource& source) {
    const std::string stem = source.output.stem().string();
    return fmt::format(R"(#!/usr/bin/env python3
"""Creates AIMET's simulation of {0} with the encodings that were tuned in Quantloupe.

Usage: simulation(ENCODINGS) returns a QuantizationSimModel. Needs aimet-onnx 2.
"""
import contextlib
import pathlib
import warnings

import onnx
from aimet_onnx import quantsim

HERE = pathlib.Path(__file__).resolve().parent


def simulation(encodings=HERE / {1}):
    # Without constraints, Concat, AveragePool and Relu have separate quantizers for their inputs and outputs.
    constraints = getattr(quantsim, "_apply_constraints", None)
    if constraints is None:
        warnings.warn("this version of AIMET may share these quantizers, unlike the preview; 2.42 does not")
    with constraints(False) if constraints else contextlib.nullcontext():
        sim = quantsim.QuantizationSimModel(onnx.load(HERE / {2}), config_file=str(HERE / {3}))
    quantsim.load_encodings_to_sim(sim, str(encodings), strict=False)
    return sim
)",
                       inDocstring(source.model.filename().string()),
                       pythonString(source.output.filename().string()), pythonString(stem + ".float.onnx"),
                       pythonString(stem + ".quantsim.json"));
}

}  // namespace

ExportResult writeAimet(const ExportSource& source) {
    const TensorEncodings all = tensorEncodings(source);
    OrderedJson old = {{"version", "0.6.1"}}, current = {{"version", "1.0.0"}}, flat = {{"version", "2.0.0"}};
    for (const char* key : {"activation_encodings", "param_encodings"}) {
        old[key] = OrderedJson::object();
        current[key] = OrderedJson::array();
    }
    flat["encodings"] = OrderedJson::array();
    std::vector<std::string> odd;
    const auto add = [&](const TensorEncoding& e, const char* key, bool parameter) {
        old[key][e.tensor] = encodingEntries(e);
        current[key].push_back(entry100(e));
        flat["encodings"].push_back(entry200(e, parameter));
        if (storedBits(e.bits) != e.bits) odd.push_back(e.tensor);
    };
    for (const TensorEncoding& e : all.activations) add(e, "activation_encodings", false);
    for (const TensorEncoding& e : all.parameters) add(e, "param_encodings", true);
    old["quantizer_args"] = quantizerArguments(source.config);
    current["quantizer_args"] = quantizerArguments(source.config);

    ExportResult result;
    result.notices = ruleNotices(source, "AIMET");
    append(result.notices, refinementNotices(source, "AIMET"));
    append(result.notices, placementNotices(source, "AIMET"));
    if (!odd.empty())
        result.notices.push_back(fmt::format(
            "encodings 2.0.0 support 2, 4, 8 and 16 bits: tensors of other widths get the next larger "
            "integer type, which clips less: {}",
            shortList(odd)));
    if (source.config.quantization.biasBits != kFloatBias)
        result.notices.emplace_back(
            "AIMET's encodings leave biases in float, while the preview quantizes them");
    append(result.notices, includedTransformNotices(source.config));
    result.notices.emplace_back(
        "the quantsim configuration can disable only whole operator types; single layers in float are given "
        "by the encodings alone");
    result.notices.push_back(
        fmt::format("{}.load.py creates AIMET's simulation with these encodings; without the quantsim "
                    "configuration, AIMET merges MatMul with the Add after it, and does not find all tensors",
                    source.output.stem().string()));
    result.files.push_back({"", dumpedJson(current), nullptr, false});
    result.files.push_back({".0.6.1.encodings", dumpedJson(old), nullptr, false});
    result.files.push_back({".2.0.0.encodings", dumpedJson(flat), nullptr, false});
    result.files.push_back({".quantsim.json", dumpedJson(quantsim(source)), nullptr, false});
    result.files.push_back({".load.py", loader(source), nullptr, false});
    result.files.push_back({".float.onnx", "", source.prepared->transformed, false});
    return result;
}

}  // namespace quantloupe
