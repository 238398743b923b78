// SPDX-License-Identifier: Apache-2.0
// import: converts the configuration of another tool. Reports everything that cannot be imported, one entry
// per line.

#include <fmt/format.h>

#include "commands.h"
#include "config/config_json.h"
#include "config/skip_rules.h"
#include "interchange/file_format.h"
#include "json_output.h"
#include "model/load_model.h"
#include "output_file.h"
#include "progress_line.h"

namespace quantloupe::cli {

void runImport(const Options& options) {
    requireWritable(options.output, options);
    if (!options.data.empty() || !options.calibrationData.empty() || options.samples > 0)
        notice("--data, --calibration-data and --samples have no effect: import needs no data");
    const LoadedModel model = loadModel(options.model);
    startOutputs(options, model);
    for (const std::string& text : model.notices) notice(text);
    const ImportResult imported =
        importFile(formatNamed(options.format, true), model.graph, options.config, options.foreign);
    resolveSkips(*model.graph, imported.config);  // throws for a rule that does not fit the model
    saveConfig(imported.config, options.output);
    for (const std::string& text : imported.left) notice("not imported: " + text);
    if (options.json) {
        printJson({{"output", options.output.string()},
                   {"format", options.format},
                   {"complete", imported.left.empty()},
                   {"taken", imported.taken},
                   {"left", imported.left}});
        return;
    }
    fmt::print("{}: {} imported{}\n", options.output.string(),
               imported.left.empty() ? "everything" : "partly",
               imported.left.empty() ? "" : fmt::format(", {} not imported", imported.left.size()));
    for (const std::string& text : imported.taken) fmt::print("  {}\n", text);
}

}  // namespace quantloupe::cli
