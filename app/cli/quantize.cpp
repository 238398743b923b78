// SPDX-License-Identifier: Apache-2.0
// quantize: the quantized model as an ONNX file with QuantizeLinear and DequantizeLinear.

#include <fmt/format.h>

#include "base/short_text.h"
#include "commands.h"
#include "interchange/gather.h"
#include "json_output.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"

namespace quantloupe::cli {

void runQuantize(const Options& options) {
    if (options.data.empty() && options.calibrationData.empty())
        throw UsageError("quantize needs calibration samples: --calibration-data DATA, or --data DATA");
    if (options.samples > 0)
        notice(
            "--samples has no effect: quantize evaluates nothing; the number of calibration samples is --set "
            "calibration.samples=N");
    requireWritable(options.output, options);
    OpenedSession opened = openSession(options, {.wholeData = true});
    const std::vector<std::string> saved =
        saveQuantizedModel(*opened.session, options.config, options.output);
    // Only now is it known which part of the network can be evaluated, and therefore quantized.
    const EvaluationPtr states = opened.session->evaluate(options.config, Depth::Structure);
    std::vector<std::string> notices = states->notices;
    notices.insert(notices.end(), saved.begin(), saved.end());
    for (const std::string& text : notices) notice(text);

    const StateCounts& counts = states->counts;
    const std::size_t samples = opened.session->calibrationSampleCount(options.config);
    if (options.json) {
        printJson({{"output", options.output.string()},
                   {"counts", toJson(counts)},
                   {"calibration_samples", samples},
                   {"notices", notices}});
    } else {
        fmt::print("{}: {} quantized, {} skipped, {} float; calibrated on {} of {}\n",
                   options.output.string(), counted(counts.quantized, "layer"), counts.skipped,
                   counts.floating, samples, counted(opened.calibrationSize, "sample"));
    }
}

}  // namespace quantloupe::cli
