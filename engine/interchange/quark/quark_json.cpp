// SPDX-License-Identifier: Apache-2.0
// Quark's QConfig as JSON for QConfig.from_dict of Quark 0.12 and later (tested with 0.13; 0.11 has no
// from_dict). Each tensor has all five keys (from_dict has no defaults), activations are called input_tensors
// ("activation" is ignored), exclusions are single names (subgraphs would have to be Python tuples), and
// CLE's parameters are only in algo_config.

#include "base/error.h"
#include "interchange/aimet/encodings_json.h"
#include "interchange/quark/quark_settings.h"

namespace quantloupe {
namespace {

OrderedJson tensor(bool symmetric, bool powerOfTwo, const std::string& calibration, bool perChannel,
                   bool isSigned, int bits) {
    return {{"symmetric", symmetric},
            {"scale_type", powerOfTwo ? "ScaleType.PowerOf2" : "ScaleType.Float32"},
            {"calibration_method", "CalibMethod." + calibration},
            {"quant_granularity", perChannel ? "QuantGranularity.Channel" : "QuantGranularity.Tensor"},
            {"data_type", fmt::format("{}Int{}", isSigned ? "" : "U", bits)}};
}

}  // namespace

std::string quarkJson(const ExportSource& source, const QuarkSettings& s) {
    const QuantizationOptions& q = source.config.quantization;
    OrderedJson json;
    json["global_config"]["input_tensors"] = tensor(q.activation.symmetric, s.powerOfTwo, s.calibration,
                                                    false, q.activation.isSigned, s.activationBits);
    json["global_config"]["weight"] =
        tensor(q.weight.symmetric, s.powerOfTwo, s.powerOfTwo ? s.calibration : "MinMax", q.weight.perChannel,
               q.weight.isSigned, s.weightBits);
    json["specific_layer_config"] = OrderedJson::array();
    json["layer_type_config"] = OrderedJson::array();
    json["exclude"] = s.excluded;
    json["algo_config"] = OrderedJson::array();
    if (s.includeCle) {
        const EqualizationOptions& e = source.config.transforms.equalization;
        json["algo_config"].push_back({{"name", "cle"},
                                       {"cle_steps", e.steps},
                                       {"cle_weight_threshold", e.weightThreshold},
                                       {"cle_scale_append_bias", e.appendBias},
                                       {"cle_total_layer_diff_threshold", e.totalLayerDiffThreshold}});
    }
    json["use_external_data_format"] = false;
    json["extra_options"] = OrderedJson::object();
    if (s.includeCle) json["extra_options"]["ReplaceClip6Relu"] = s.replaceClip6;
    quarkFlags(source.config, s, [&](const char* key, bool value) { json["extra_options"][key] = value; });
    if (s.powerOfTwo && !s.npu) {  // such scales enable Quark's NPU mode, whatever else is set
        if (q.biasBits != kFloatBias) json["extra_options"]["Int32Bias"] = true;
        for (const char* key : {"SimulateDPU", "NPULimitationCheck"}) json["extra_options"][key] = false;
    }
    quarkCalibration(source.config, [&](std::string_view key, const OrderedJson& value) {
        json["extra_options"][std::string(key)] = value;
    });
    return dumpedJson(json, 4);
}

}  // namespace quantloupe
