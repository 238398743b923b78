// SPDX-License-Identifier: Apache-2.0
// profile: measures the time of every layer of the quantized model in ONNX Runtime.

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/temporary_folder.h"
#include "commands.h"
#include "cost/latency_table.h"
#include "cost/layer_matcher.h"
#include "interchange/onnxruntime/profile_onnxruntime.h"
#include "interchange/reports/csv.h"
#include "json_output.h"
#include "model/load_model.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"
#include "session/evaluation_data.h"
#include "session/studies/layer_work.h"

namespace quantloupe::cli {

void runProfile(const Options& options) {
    requireWritable(options.output, options);
    OpenedSession opened = openSession(options);
    Session& session = *opened.session;
    ProgressLine progress;
    progress.show({.stage = "quantized network"});
    const EvaluationPtr evaluation = session.evaluate(options.config, Depth::Rough);
    const NetworkWork work = networkWork(session, *evaluation);
    const TemporaryFolder folder;
    const std::filesystem::path model = folder.path() / "quantized.onnx";
    saveModel(*session.quantizedModel(options.config), model);
    progress.show({.stage = "ONNX Runtime"});
    const RuntimeProfile profile = profileOnnxRuntime(model, *evaluationData(session),
                                                      inputSpecsOf(session.graph()), options.profileRuns);
    progress.clear();

    std::vector<LatencyRow> unmatched;
    const auto times = timesByLayer(profile.times, LayerMatcher(session.graph(), work), work, &unmatched);
    std::string csv = "layer,precision,ms\n";
    double sum = 0, unmatchedMs = 0;
    for (const auto& [layer, ms] : times) {
        csv += fmt::format("{},{},{:.6g}\n", csvCell(work[layer].name), precisionName(work[layer].precision),
                           ms);
        sum += ms;
    }
    for (const LatencyRow& row : unmatched) unmatchedMs += row.ms;
    writeFileAtomically(options.output, csv);

    const double total = profile.times.networkMs.value_or(sum + unmatchedMs);
    if (options.json) {
        Json json = {{"output", options.output.string()},
                     {"runtime", profile.runtime},
                     {"runs", profile.times.runs},
                     {"threads", 1},
                     {"ms", total},
                     {"layers_ms", sum},
                     {"unmatched_ms", unmatchedMs}};
        json["layers"] = Json::array();
        for (const auto& [layer, ms] : times)
            json["layers"].push_back({{"name", work[layer].name},
                                      {"precision", precisionName(work[layer].precision)},
                                      {"ms", ms}});
        json["unmatched"] = Json::array();
        for (const LatencyRow& row : unmatched)
            json["unmatched"].push_back({{"name", row.name}, {"ms", row.ms}});
        printJson(json);
        return;
    }
    fmt::print("{}: {:.3g} ms per inference, the median of {} runs in {} with one thread\n",
               options.model.filename().string(), total, profile.times.runs, profile.runtime);
    fmt::print("{} layers take {:.3g} ms", times.size(), sum);
    if (!unmatched.empty())
        fmt::print("; {} nodes that the runtime added belong to no layer: {:.3g} ms", unmatched.size(),
                   unmatchedMs);
    fmt::print("\n{}\n", options.output.string());
}

}  // namespace quantloupe::cli
