// SPDX-License-Identifier: Apache-2.0
#include "interchange/gather.h"

#include "base/error.h"
#include "base/text.h"
#include "config/skip_rules.h"
#include "interchange/export_precisions.h"
#include "interchange/wording.h"
#include "model/load_model.h"
#include "model/quantized_model.h"
#include "quantize/plan.h"
#include "quantize/refine/migrate_outliers.h"
#include "session/studies/skip_metrics.h"

namespace quantloupe {
namespace {

/// Stores the layers that threshold rules cover, so that resolving the configuration again gives the same
/// layers.
void fillThresholds(const Graph& graph, const Evaluation& evaluation, QuantizationConfig& config) {
    for (std::size_t i = 0; i < config.rules.size() && i < evaluation.covered.size(); ++i) {
        SkipRule& rule = config.rules[i];
        if (rule.kind != SkipKind::Threshold) continue;
        rule.layers.clear();
        for (std::size_t n = 0; n < evaluation.covered[i].size(); ++n)
            if (evaluation.covered[i][n]) rule.layers.push_back(graph.nodes()[n].name);
    }
}

}  // namespace

ExportSource gatherExport(Session& session, const QuantizationConfig& tuned, const FileFormat& format,
                          const EvaluationObserver& observer, const CancelToken& cancel) {
    const QuantizationConfig config = withoutOffRules(tuned);
    const bool calibrates = session.hasData() && !session.randomInputs();
    if (format.needs == FormatNeeds::Scales && !calibrates)
        failInput("the scales in this format need samples: open calibration data first");
    if (format.needs != FormatNeeds::Metrics)
        requireFloatModel(session.graph(), fmt::format("the format {}", format.title));
    // Reports mark numbers from random inputs; a configuration for another tool cannot.
    const bool measured = format.needs == FormatNeeds::Metrics ? session.hasData() : calibrates;
    if (!measured) requireSamplesForThresholds(config);
    const bool metrics = format.needs == FormatNeeds::Metrics && session.hasData();
    // Other tools have bits for a layer or a tensor, but no conversions between precisions.
    const bool preview = format.precisions == FormatPrecisions::Preview;
    const QuantizationConfig resolved = preview ? config : forOtherTools(session.graph(), config);
    const bool conversions = preview || format.precisions == FormatPrecisions::TensorBits ||
                             format.precisions == FormatPrecisions::Conversions;
    const QuantizationConfig network = conversions ? config : withoutConversions(resolved);
    session.findEvaluatedPart();
    ExportSource source;
    source.config = resolved;
    source.prepared = session.prepare(network);
    source.unmigrated =
        config.refine.migration > 0 && !calibrates && !migratableTensors(*source.prepared).empty();
    source.model = session.model().path;
    source.samplesTogether = session.samplesTogether();
    source.evaluation = session.evaluate(config, metrics ? Depth::Metrics : Depth::States, observer, cancel);
    source.layers = source.evaluation->layers;
    source.precisionNotices =
        precisionNotices(format, config, source.layers, source.prepared->conversions.size());
    fillThresholds(session.graph(), *source.evaluation, source.config);
    const bool quantizes = quantizationOperators(session.graph()) == 0;
    if (metrics && quantizes && format.showsAccuracy)
        source.path = session.accuracyPath(source.config, cancel);
    const bool scales = format.needs == FormatNeeds::Scales || format.needs == FormatNeeds::BetterScales;
    if (scales && calibrates) source.plan = session.plan(network, cancel);
    return source;
}

std::vector<std::string> saveQuantizedModel(Session& session, const QuantizationConfig& tuned,
                                            const std::filesystem::path& path, const CancelToken& cancel) {
    const QuantizationConfig config = withoutOffRules(tuned);
    const auto model = session.quantizedModel(config, cancel);
    const auto plan = session.plan(config, cancel);
    saveModel(*model, path);
    std::vector<std::string> notices = plan->notices;
    append(notices, roundingNotices(config, "QuantizeLinear"));
    append(notices, saturationNotices(config, plan->units, false));
    append(notices, biasNotices(*plan));
    return notices;
}

}  // namespace quantloupe
