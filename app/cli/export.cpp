// SPDX-License-Identifier: Apache-2.0
// export: the configuration as another tool reads it.

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "commands.h"
#include "interchange/amct.h"
#include "json_output.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"

namespace quantloupe::cli {

void runExport(const Options& options) {
    requireWritable(options.output);
    Options withoutData = options;
    withoutData.calibrationData.clear();
    OpenedSession opened = openSession(withoutData);
    const EvaluationPtr states = opened.session->evaluate(options.config, Depth::States);
    const auto prepared = opened.session->prepare(options.config);
    const AmctExport exported = exportAmct(*prepared, options.config, states->layers);
    writeFileAtomically(options.output, exported.json);

    for (const std::string& text : exported.notices) notice(text);
    if (options.json) {
        printJson({{"output", options.output.string()},
                   {"dialect", options.dialect},
                   {"notices", exported.notices}});
    } else {
        fmt::print("{}: {} layers enabled, {} skipped\n", options.output.string(), states->counts.quantized,
                   states->counts.skipped);
    }
}

}  // namespace quantloupe::cli
