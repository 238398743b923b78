// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares predicted with measured effects of random edits.

#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "analysis/rank_correlation.h"
#include "config/layer_choices.h"
#include "session/studies/forecast.h"
#include "session/studies/leave_one_out.h"

namespace quantloupe::test {

struct PredictionTrial {
    std::size_t edits = 0, ofSqnr = 0, covered = 0;
    std::vector<double> predicted, measured;  ///< of the edits for which a prediction was shown

    double rank() const { return spearman(predicted, measured).value_or(0); }
    double coverage() const { return static_cast<double>(covered) / static_cast<double>(predicted.size()); }
};

/// Keeps one to three random layers in float, or quantizes them again, `edits` times; at most 15 are in float
/// at once. Throws std::logic_error if the preview of an edit and the edit itself show different predictions.
inline PredictionTrial predictRandomEdits(Session& session, const QuantizationConfig& base, int edits,
                                          unsigned seed) {
    EvaluationPtr before = session.evaluate(base, Depth::Accuracy);
    session.measureInBackground(base);
    std::vector<std::string> names;
    for (const LayerResult& layer : before->layers)
        if (layer.state == LayerState::Quantized) names.push_back(layer.name);

    std::mt19937 random(seed);
    std::set<std::string> skipped;
    PredictionTrial trial;
    for (int edit = 0; edit < edits; ++edit) {
        std::set<std::string> next = skipped;
        for (std::size_t i = 0, count = 1 + random() % 3; i < count; ++i) {
            const std::string& name = names[random() % names.size()];
            if (!next.insert(name).second) next.erase(name);
        }
        if (next.size() > 15) next.clear();
        const QuantizationConfig wanted = withLayersSkipped(base, {next.begin(), next.end()});
        const std::optional<ExpectedEffect> early = forecast(session, wanted);
        const EvaluationPtr after = session.evaluate(wanted, Depth::Accuracy);
        ++trial.edits;
        if (early.has_value() != after->expected.has_value() ||
            (early && early->median != after->expected->median))
            throw std::logic_error("the preview and the edit show different predictions");
        if (after->expected) {
            const double change =
                after->expected->ofSqnr
                    ? *after->quantized->sqnrDb - *before->quantized->sqnrDb
                    : metricGain(*before->quantized, *after->quantized, taskMetric(*after->quantized).metric);
            trial.ofSqnr += after->expected->ofSqnr ? 1 : 0;
            trial.predicted.push_back(after->expected->median);
            trial.measured.push_back(change);
            if (change >= after->expected->low && change <= after->expected->high) ++trial.covered;
        }
        before = after;
        skipped = next;
    }
    return trial;
}

}  // namespace quantloupe::test
