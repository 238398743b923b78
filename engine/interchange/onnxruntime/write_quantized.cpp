// SPDX-License-Identifier: Apache-2.0
// Writes the quantized model, with Q/DQ pairs for every ONNX runtime or with integer operators. Its metadata
// contains the configuration.

#include <set>

#include "base/error.h"
#include "base/text.h"
#include "config/config_json.h"
#include "interchange/onnxruntime/qoperator.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "quantize/qdq_writer.h"

namespace quantloupe {
namespace {

GraphPtr quantized(const ExportSource& source, const ExportOptions& options) {
    if (!source.plan) fail(ErrorKind::Internal, "a quantized model was requested without a plan");
    return writeQdq(*source.plan, configToJson(source.config), options);
}

}  // namespace

ExportResult writeQdqModel(const ExportSource& source) {
    ExportResult result{{{"", "", quantized(source, source.config.exports), false}},
                        roundingNotices(source.config, "QuantizeLinear")};
    append(result.notices, saturationNotices(source.config, source.plan->units, false));
    append(result.notices, biasNotices(*source.plan));
    return result;
}

ExportResult writeQOperator(const ExportSource& source) {
    // Integer operators need codes: weights are not stored as float.
    const QOperatorModel made = toQOperators(
        quantized(source, {.floatWeights = false, .fourBitTypes = source.config.exports.fourBitTypes}));
    ExportResult result{{}, roundingNotices(source.config, "QuantizeLinear")};
    std::set<std::string> inFloat;
    for (const LayerResult& layer : source.layers)
        if (layer.state == LayerState::Skipped || layer.state == LayerState::Float)
            inFloat.insert(layer.name);
    for (auto [reason, layers] : made.kept) {
        std::erase_if(layers, [&](const std::string& name) { return inFloat.contains(name); });
        if (layers.empty()) continue;
        result.notices.push_back(fmt::format("{} in float between Q/DQ pairs{} because {}: {}",
                                             layersStay(layers.size()), layers.size() == 1 ? "," : ", each",
                                             reason, shortList(layers)));
    }
    if (!made.roundedBiases.empty())
        result.notices.push_back(
            fmt::format("integer operators need int32 biases in the scale of their sums, so the biases of {} "
                        "were rounded: {}",
                        counted(made.roundedBiases.size(), "layer"), shortList(made.roundedBiases)));
    const QuantizationOptions& q = source.config.quantization;
    result.notices.emplace_back(
        q.activation.powerOfTwo
            ? "integer operators round in another order than Q/DQ pairs do, and scales that are powers of "
              "two make ties frequent: up to a quarter of the codes of sums and products differ from the "
              "preview by one; export Q/DQ pairs (format qdq) for the preview's results"
            : "integer operators round their sums once more than Q/DQ pairs do: a few codes at ties differ "
              "from the preview by one");
    append(result.notices, saturationNotices(source.config, source.plan->units, true));
    result.files.push_back({"", "", made.model, false});
    return result;
}

}  // namespace quantloupe
