// SPDX-License-Identifier: Apache-2.0
// transform: the float model after its transforms, as an ONNX file. Only the migration of outliers reads data.

#include <fmt/format.h>

#include "commands.h"
#include "json_output.h"
#include "model/load_model.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"

namespace quantloupe::cli {

void runTransform(const Options& options) {
    requireWritable(options.output, options);
    Options withoutData = options;
    if (options.config.refine.migration == 0) withoutData.calibrationData.clear();  // nothing else asks for data
    OpenedSession opened = openSession(withoutData);
    const auto prepared = opened.session->prepare(options.config);
    saveModel(*prepared->transformed, options.output);

    for (const std::string& text : prepared->notices) notice(text);
    if (!options.json) {
        fmt::print("{}: {} nodes removed, {} batch norms folded, {} Clip(0, 6) replaced, {} sets equalized, outliers of {} inputs migrated\n",
                   options.output.string(), prepared->removedNodes, prepared->foldedBatchNorms, prepared->replacedClips,
                   prepared->sets.size(), prepared->migrations.size());
        return;
    }
    Json document = {{"output", options.output.string()},
                     {"removed_nodes", prepared->removedNodes},
                     {"folded_batch_norms", prepared->foldedBatchNorms},
                     {"replaced_clips", prepared->replacedClips}};
    document["equalization_sets"] = Json::array();
    for (const EqualizationSet& set : prepared->sets) {
        Json names = Json::array();
        for (const NodeId layer : set.layers) names.push_back(prepared->source->node(layer).name);
        document["equalization_sets"].push_back({{"layers", std::move(names)}, {"enabled", set.enabled}});
    }
    document["migrations"] = Json::array();
    for (const MigratedInput& migrated : prepared->migrations) {
        Json names = Json::array();
        for (const NodeId layer : migrated.readers) names.push_back(prepared->source->node(layer).name);
        document["migrations"].push_back(
            {{"layers", std::move(names)},
             {"divided", migrated.producer.valid() ? Json(prepared->source->node(migrated.producer).name) : Json()},
             {"factors", migrated.factors}});
    }
    document["notices"] = prepared->notices;
    printJson(document);
}

}  // namespace quantloupe::cli
