// SPDX-License-Identifier: Apache-2.0
// The quantized model itself, which every ONNX runtime reads: with Q/DQ pairs, or with operators on integers. Its metadata hold the
// configuration.

#include "base/error.h"
#include "config/config_json.h"
#include "interchange/qoperator.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "quantize/qdq_writer.h"

namespace quantloupe {
namespace {

GraphPtr quantized(const ExportSource& source) {
    if (!source.plan) fail(ErrorKind::Internal, "a quantized model was asked for without a plan");
    return writeQdq(*source.plan, configToJson(source.config));
}

}  // namespace

ExportResult writeQdqModel(const ExportSource& source) { return {{{"", "", quantized(source), false}}, roundingNotices(source.config, "QuantizeLinear")}; }

ExportResult writeQOperator(const ExportSource& source) {
    const QOperatorModel made = toQOperators(quantized(source));
    ExportResult result{{}, roundingNotices(source.config, "QuantizeLinear")};
    for (const auto& [reason, layers] : made.kept)
        result.notices.push_back(fmt::format("{} on computing in float between Q/DQ pairs, because {}: {}",
                                             layers.size() == 1 ? "1 layer goes" : fmt::format("{} layers go", layers.size()), reason,
                                             shortList(layers)));
    if (!made.roundedBiases.empty())
        result.notices.push_back(fmt::format("the operators on integers have biases of int32 in the scale of their sums, to which those of {} were rounded: {}",
                                             counted(made.roundedBiases.size(), "layer"), shortList(made.roundedBiases)));
    result.notices.emplace_back("operators on integers round their sums once more than Q/DQ pairs do: single codes at ties differ from the preview by one");
    result.files.push_back({"", "", made.model, false});
    return result;
}

}  // namespace quantloupe
