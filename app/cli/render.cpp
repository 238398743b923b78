// SPDX-License-Identifier: Apache-2.0
// render: draws the colored graph; with data, each layer shows its sensitivity.

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/short_text.h"
#include "commands.h"
#include "json_output.h"
#include "open_session.h"
#include "output_file.h"
#include "picture/picture.h"
#include "picture/write_picture.h"
#include "progress_line.h"
#include "session/studies/skip_metrics.h"

namespace quantloupe::cli {

void runRender(const Options& options) {
    const std::string extension = options.output.extension().string();
    if (extension != ".svg" && extension != ".dot") {
        throw UsageError(fmt::format("render writes .svg or .dot, not '{}'", options.output.string()));
    }
    requireWritable(options.output, options);
    const bool hasData = !options.data.empty() || !options.calibrationData.empty();
    if (!hasData) requireSamplesForThresholds(options.config);
    OpenedSession opened = openSession(options);

    ProgressLine progress;
    const Depth depth = hasData ? Depth::Metrics : Depth::States;
    const EvaluationPtr result = opened.session->evaluate(options.config, depth, progress.observer());
    progress.show({.stage = "drawing"});
    const Graph& graph = opened.session->graph();
    const std::string text =
        extension == ".dot" ? pictureToDot(graph, result->layers) : graphToSvg(graph, result->layers);
    writeFileAtomically(options.output, text);
    progress.clear();
    if (options.json) {
        printJson({{"output", options.output.string()}, {"counts", toJson(result->counts)}});
    } else {
        fmt::print("{}: {}\n", options.output.string(), counted(graph.nodeCount(), "layer"));
    }
}

}  // namespace quantloupe::cli
