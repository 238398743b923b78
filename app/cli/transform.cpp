// SPDX-License-Identifier: Apache-2.0
// transform: writes the float model after the transforms as an ONNX file. Only outlier migration and
// threshold rules need data.

#include <fmt/format.h>

#include "base/error.h"
#include "base/short_text.h"
#include "commands.h"
#include "data/numpy_file.h"
#include "json_output.h"
#include "model/load_model.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"
#include "session/studies/skip_metrics.h"
#include "transform/own_constants.h"

namespace quantloupe::cli {
namespace {

/// Writes LAYER.weight.before, LAYER.weight.after, LAYER.bias.before and so on for every layer with a
/// constant weight. A tensor that the transforms add (a bias) or remove (a folded layer) has only one of the
/// two.
void saveWeights(const Prepared& prepared, const std::filesystem::path& path) {
    std::map<std::string, ConstantPtr> arrays;
    const auto add = [&arrays](const Graph& graph, const Node& node, const std::string& layer,
                               const char* when) {
        if (node.op != "Conv" && node.op != "ConvTranspose" && node.op != "Gemm" && node.op != "MatMul")
            return;
        for (const auto& [input, what] : {std::pair{std::size_t(1), "weight"}, {std::size_t(2), "bias"}})
            if (const TensorId id = node.input(input); id.valid() && graph.tensor(id).constant)
                arrays[fmt::format("{}.{}.{}", layer, what, when)] = graph.tensor(id).constant;
    };
    for (const Node& node : prepared.source->nodes()) add(*prepared.source, node, node.name, "before");
    for (std::size_t n = 0; n < prepared.source->nodeCount(); ++n) {
        const NodeId after = prepared.layerMappings[n].prepared;
        if (after.valid())
            add(*prepared.graph, prepared.graph->node(after), prepared.source->nodes()[n].name, "after");
    }
    if (arrays.empty())
        failInput("the model has no layer with constant weights, so there is nothing to write to '{}'",
                  path.string());
    saveNpz(arrays, path);
}

}  // namespace

void runTransform(const Options& options) {
    requireWritable(options.output, options);
    if (options.samples > 0) notice("--samples has no effect: transform evaluates nothing");
    Options withoutData = options;
    // Threshold rules affect the result only if skipped layers are excluded from equalization.
    const bool bySkips = options.config.transforms.equalization.excludeSkipped;
    if (bySkips && options.calibrationData.empty())
        requireSamplesForThresholds(options.config, "--calibration-data");
    if (options.config.refine.migration > 0 && options.calibrationData.empty())
        throw UsageError("transform needs samples for the migration of outliers: --calibration-data DATA");
    if (options.config.refine.migration == 0 && !bySkips && !options.calibrationData.empty()) {
        notice(
            "--calibration-data has no effect: only the migration of outliers, and equalization without "
            "skipped layers, need samples");
        withoutData.calibrationData.clear();
    }
    OpenedSession opened = openSession(withoutData, {.wholeData = true});
    const auto prepared = opened.session->prepare(options.config);
    saveModel(*withSharedConstants(prepared->transformed), options.output);
    if (!options.weights.empty()) saveWeights(*prepared, options.weights);

    for (const std::string& text : prepared->notices) notice(text);
    if (prepared->replacedClips > 0)
        notice(fmt::format(
            "Relu only equals Clip(0, 6) if no value exceeds 6: check with analyze how much the {} "
            "replaced ones change the outputs",
            prepared->replacedClips));
    if (!options.json) {
        fmt::print(
            "{}: {} removed, {} folded, {} Clip(0, 6) replaced, {} equalized, outliers of {} migrated\n",
            options.output.string(), counted(prepared->removedNodes, "node"),
            counted(prepared->foldedBatchNorms, "batch norm"), prepared->replacedClips,
            counted(prepared->sets.size(), "group"), counted(prepared->migrations.size(), "input"));
        return;
    }
    OrderedJson document = {{"output", options.output.string()},
                            {"removed_nodes", prepared->removedNodes},
                            {"folded_batch_norms", prepared->foldedBatchNorms},
                            {"replaced_clips", prepared->replacedClips}};
    document["equalization_sets"] = OrderedJson::array();
    for (const EqualizationSet& set : prepared->sets) {
        OrderedJson names = OrderedJson::array();
        for (const NodeId layer : set.layers) names.push_back(prepared->source->node(layer).name);
        document["equalization_sets"].push_back({{"layers", std::move(names)}, {"enabled", set.enabled}});
    }
    document["migrations"] = OrderedJson::array();
    for (const MigratedInput& migrated : prepared->migrations) {
        OrderedJson names = OrderedJson::array();
        for (const NodeId layer : migrated.readers) names.push_back(prepared->source->node(layer).name);
        document["migrations"].push_back(
            {{"layers", std::move(names)},
             {"divided", migrated.producer.valid()
                             ? OrderedJson(prepared->source->node(migrated.producer).name)
                             : OrderedJson()},
             {"factors", migrated.factors}});
    }
    document["notices"] = prepared->notices;
    printJson(document);
}

}  // namespace quantloupe::cli
