// SPDX-License-Identifier: Apache-2.0
// profile: measures the time of every layer of the quantized model in ONNX Runtime.

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/short_text.h"
#include "base/temporary_folder.h"
#include "commands.h"
#include "cost/latency_table.h"
#include "cost/layer_matcher.h"
#include "interchange/onnxruntime/profile_onnxruntime.h"
#include "interchange/reports/csv.h"
#include "json_output.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"

namespace quantloupe::cli {

void runProfile(const Options& options) {
    requireWritable(options.output, options);
    OpenedSession opened = openSession(options);
    Session& session = *opened.session;
    ProgressLine progress;
    progress.show({.stage = "quantized network"});
    const TemporaryFolder folder;
    const ProfileSource source = prepareProfile(session, options.config, folder.path() / "quantized.onnx");
    const NetworkWork& work = source.work;
    progress.show({.stage = "ONNX Runtime"});
    const RuntimeProfile profile = profileOnnxRuntime(source, options.profileRuns);
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
        OrderedJson json = {{"output", options.output.string()},
                            {"runtime", profile.runtime},
                            {"runs", profile.times.runs},
                            {"threads", 1},
                            {"ms", total},
                            {"layers_ms", sum},
                            {"unmatched_ms", unmatchedMs}};
        json["layers"] = OrderedJson::array();
        for (const auto& [layer, ms] : times)
            json["layers"].push_back({{"name", work[layer].name},
                                      {"precision", precisionName(work[layer].precision)},
                                      {"ms", ms}});
        json["unmatched"] = OrderedJson::array();
        for (const LatencyRow& row : unmatched)
            json["unmatched"].push_back({{"name", row.name}, {"ms", row.ms}});
        printJson(json);
        return;
    }
    fmt::print("{}: {:.3g} ms per inference, the median of {} runs in {} with one thread\n",
               options.model.filename().string(), total, profile.times.runs, profile.runtime);
    fmt::print("{} layers take {:.3g} ms", times.size(), sum);
    if (!unmatched.empty())
        fmt::print("; not part of a layer: {} added by the runtime ({:.3g} ms)",
                   counted(unmatched.size(), "node"), unmatchedMs);
    fmt::print("\n{}\n", options.output.string());
}

}  // namespace quantloupe::cli
