// SPDX-License-Identifier: Apache-2.0
// export: writes the tuned configuration for another tool, in one of the export formats of
// engine/interchange.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/short_text.h"
#include "commands.h"
#include "config/skip_metric_traits.h"
#include "interchange/gather.h"
#include "json_output.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"

namespace quantloupe::cli {
namespace {

/// Drops data that neither the export format nor a threshold rule nor outlier migration needs, so that it is
/// not opened.
Options withNeededData(Options options, FormatNeeds needs) {
    const bool thresholds = std::ranges::any_of(options.config.rules, [](const SkipRule& rule) {
        return rule.kind == SkipKind::Threshold && !rule.off && traitsOf(rule.metric).needsSamples();
    });
    if (needs == FormatNeeds::States && !thresholds && options.config.refine.migration == 0) {
        options.data.clear();
        options.calibrationData.clear();
        options.task = {};
    }
    return options;
}

}  // namespace

void runExport(const Options& options) {
    requireWritable(options.output, options);
    const FileFormat& format = formatNamed(options.format, false);
    if (!options.metricProgram.empty() && !format.showsAccuracy)
        throw UsageError(
            fmt::format("--metric-program: the format {} does not contain the accuracy", options.format));
    if (options.samples > 0 && format.needs != FormatNeeds::Metrics)
        notice(
            "--samples has no effect: only reports need an evaluation; the number of calibration samples is "
            "--set calibration.samples=N");
    OpenedSession opened = openSession(withNeededData(options, format.needs),
                                       {.wholeData = format.needs != FormatNeeds::Metrics});
    useMetricProgram(*opened.session, options);
    const bool samples = opened.session->hasData() && !opened.session->randomInputs();
    if (format.needs == FormatNeeds::Scales && !samples)
        failInput("the scales in the format {} need samples: give --calibration-data or --data",
                  options.format);
    ProgressLine progress;
    ExportSource source = gatherExport(*opened.session, options.config, format, progress.observer());
    progress.clear();
    source.output = options.output;
    source.calibrationData = options.calibrationData.empty() ? options.data : options.calibrationData;
    source.preprocess = preprocessOf(options);
    const ExportResult exported = exportTo(format, source);
    InputPaths keep = inputsOf(options, opened.session->model());
    keep.add("the configuration of --save-config", options.saveConfig);
    const auto paths = writeExport(exported, options.output, keep);

    for (const std::string& text : exported.notices) notice(text);
    if (options.json) {
        std::vector<std::string> files;
        for (const auto& path : paths) files.push_back(path.string());
        printJson({{"output", options.output.string()},
                   {"files", files},
                   {"format", options.format},
                   {"limits", format.limits},
                   {"notices", exported.notices}});
        return;
    }
    fmt::print("{}: written (preview: {} quantized, {} skipped)\n", options.output.string(),
               counted(source.evaluation->counts.quantized, "layer"), source.evaluation->counts.skipped);
    for (std::size_t i = 1; i < paths.size(); ++i) fmt::print("{}: additional file\n", paths[i].string());
}

}  // namespace quantloupe::cli
