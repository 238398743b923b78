// SPDX-License-Identifier: Apache-2.0
// quantize: the quantized model as an ONNX file with QuantizeLinear and DequantizeLinear.

#include <fmt/format.h>

#include "commands.h"
#include "json_output.h"
#include "model/load_model.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"

namespace quantloupe::cli {

void runQuantize(const Options& options) {
    requireWritable(options.output, options);
    OpenedSession opened = openSession(options);
    const EvaluationPtr states = opened.session->evaluate(options.config, Depth::States);
    for (const std::string& text : states->notices) notice(text);
    const GraphPtr quantized = opened.session->quantizedModel(options.config);
    saveModel(*quantized, options.output);

    const StateCounts& counts = states->counts;
    if (options.json) {
        printJson(
            {{"output", options.output.string()}, {"counts", toJson(counts)}, {"notices", states->notices}});
    } else {
        fmt::print("{}: {} layers quantized, {} skipped, {} float\n", options.output.string(),
                   counts.quantized, counts.skipped, counts.floating);
    }
}

}  // namespace quantloupe::cli
