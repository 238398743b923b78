// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of queries to the session besides its evaluations (EvaluationJob::query()).

#include <QString>

namespace quantloupe::ui {

enum class QuerySlot {
    Suggestions,
    ParameterVariants,
    AccuracyPath,
    FlippedSamples,
    Comparison,
    Ranges,
    LayerDetails,
    LayerScales,
    Latency,
    Forecast,
    Divergence,
    Predictions,
    MetricProgram
};

/// Returns what a running query does, for the status line: "computing ranges".
QString queryText(QuerySlot slot);

}  // namespace quantloupe::ui
