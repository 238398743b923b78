// SPDX-License-Identifier: Apache-2.0
// run: writes the outputs for each sample, one array per graph output.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/short_text.h"
#include "commands.h"
#include "data/numpy_file.h"
#include "json_output.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"
#include "timed_dataset.h"

namespace quantloupe::cli {
namespace {

double peakRssMib() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void runRun(const Options& options) {
    requireWritable(options.output, options);
    const auto start = std::chrono::steady_clock::now();
    OpenedSession opened = openSession(options, {.wholeData = !options.quantized});
    const Graph& graph = opened.session->graph();

    const auto startForward = std::chrono::steady_clock::now();
    const auto arrays =
        opened.session->outputs(options.quantized ? std::optional(options.config) : std::nullopt);
    const double working = secondsSince(startForward);
    if (!opened.session->mixingNotice().empty()) notice(opened.session->mixingNotice());

    std::map<std::string, ConstantPtr> named;
    for (std::size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i]) named[graph.tensor(graph.outputs()[i]).name] = arrays[i];
    saveNpz(named, options.output);

    const std::size_t samples = opened.session->sampleCount();
    // All workers decode samples in parallel; this is the decoding share of the wall time.
    const auto& data = static_cast<const TimedDataset&>(*opened.data);
    const double workers =
        options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    const double decode = std::min(working, data.seconds() / workers);
    if (!options.json) {
        fmt::print("{}: {}, {:.2f} s\n", options.output.string(), counted(samples, "sample"),
                   secondsSince(start));
        return;
    }
    printJson({{"output", options.output.string()},
               {"samples", samples},
               {"seconds",
                {{"load", opened.loadSeconds},
                 {"decode", decode},
                 {"forward", working - decode},
                 {"total", secondsSince(start)}}},
               {"peak_rss_mib", peakRssMib()}});
}

}  // namespace quantloupe::cli
