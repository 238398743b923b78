// SPDX-License-Identifier: Apache-2.0
#pragma once
// Properties of the metrics of threshold rules: one row per metric.

#include <array>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "config/quantization_config.h"

namespace quantloupe {

/// What is quantized while a metric is measured.
enum class MetricBasis : std::uint8_t {
    Weights,      ///< only the layer's weight
    Alone,        ///< only the layer's unit
    Network,      ///< the whole network
    LeaveOneOut,  ///< the whole network except the layer
};

/// The value of a metric: a member of TensorDifference (results/evaluation.h), or LayerResult::leaveOneOut.
enum class MetricQuantity : std::uint8_t { Qs, Cosine, Sqnr, AbsoluteL2, Gain };

struct SkipMetricTraits {
    SkipMetric metric;
    std::string_view key;    ///< in files and on the command line
    std::string_view title;  ///< in the description of a rule
    MetricBasis basis;
    MetricQuantity quantity;

    /// Whether a small value means that the layer is sensitive.
    constexpr bool lowIsBad() const {
        return quantity == MetricQuantity::Cosine || quantity == MetricQuantity::Sqnr;
    }
    /// Whether the metric is computed on samples.
    constexpr bool needsSamples() const { return basis != MetricBasis::Weights; }
    /// Whether the value of a layer depends on which other layers are quantized.
    constexpr bool dependsOnRules() const {
        return basis == MetricBasis::Network || basis == MetricBasis::LeaveOneOut;
    }
};

inline constexpr auto kSkipMetricTraits = [] {
    using enum SkipMetric;
    using Basis = MetricBasis;
    using Value = MetricQuantity;
    return std::to_array<SkipMetricTraits>({
        {WeightQs, "weight.qs", "QS of the weight", Basis::Weights, Value::Qs},
        {WeightSqnr, "weight.sqnr_db", "SQNR (dB) of the weight", Basis::Weights, Value::Sqnr},
        {LocalQs, "local.qs", "local QS", Basis::Alone, Value::Qs},
        {LocalCosine, "local.cosine", "local cosine similarity", Basis::Alone, Value::Cosine},
        {LocalSqnr, "local.sqnr_db", "local SQNR (dB)", Basis::Alone, Value::Sqnr},
        {LocalAbsoluteL2, "local.absolute_l2", "local absolute L2 error", Basis::Alone, Value::AbsoluteL2},
        {CumulativeQs, "cumulative.qs", "cumulative QS", Basis::Network, Value::Qs},
        {CumulativeCosine, "cumulative.cosine", "cumulative cosine similarity", Basis::Network,
         Value::Cosine},
        {CumulativeSqnr, "cumulative.sqnr_db", "cumulative SQNR (dB)", Basis::Network, Value::Sqnr},
        {SkipMetric::LeaveOneOut, "leave_one_out", "leave-one-out gain", Basis::LeaveOneOut, Value::Gain},
    });
}();

inline const SkipMetricTraits& traitsOf(SkipMetric metric) {
    for (const SkipMetricTraits& traits : kSkipMetricTraits)
        if (traits.metric == metric) return traits;
    fail(ErrorKind::Internal, "a metric of threshold rules has no traits");
}

}  // namespace quantloupe
