// SPDX-License-Identifier: Apache-2.0
#include "document/metric.h"

#include <algorithm>
#include <cmath>

#include "data/with_thousands.h"
#include "session/studies/evaluation_gain.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

const QString kMinus = QStringLiteral("\u2212");
const QString kThinSpace = QStringLiteral("\u202f");

QString number(double value, int digits) {
    QString text = QString::number(std::abs(value), 'f', digits);
    return value < 0 && text.toDouble() != 0 ? kMinus + text : text;
}

QString signedNumber(double value, int digits) {
    const QString text = number(value, digits);
    return text.startsWith(kMinus) ? text : QLatin1Char('+') + text;
}

QString formatGain(double value, TaskMetric unit) {
    if (traitsOf(unit).rate) return formatPoints(value);
    if (unit == TaskMetric::Sqnr) return signedNumber(value, 2) + QStringLiteral(" dB");
    return (value < 0 ? QString() : QStringLiteral("+")) + formatOwnMetric(value);
}

/// Operators that pass their input on have the bits of the input, whatever their own settings are.
int activationBitsOf(const LayerResult& layer) {
    return layer.precision.isInteger() ? layer.precision.activationBits : layer.activationBits;
}

struct MetricTexts {
    Metric metric;
    const char* key;
    const char* name;
    const char* meaning;
};

/// In the order of the enumeration.
constexpr std::array kTexts = {
    MetricTexts{Metric::None, "state", QT_TRANSLATE_NOOP("Words", "State"),
                QT_TRANSLATE_NOOP("Words", "Layer states only")},
    MetricTexts{Metric::LocalQs, "local.qs", QT_TRANSLATE_NOOP("Words", "QS local"),
                QT_TRANSLATE_NOOP("Words",
                                  "Quantization sensitivity with only this layer quantized: relative error "
                                  "of its output; 0 means no error")},
    MetricTexts{Metric::CumulativeQs, "cumulative.qs", QT_TRANSLATE_NOOP("Words", "QS cumulative"),
                QT_TRANSLATE_NOOP("Words",
                                  "Quantization sensitivity with the whole network quantized: relative "
                                  "error accumulated up to this layer")},
    MetricTexts{Metric::WeightQs, "weight.qs", QT_TRANSLATE_NOOP("Words", "QS weight"),
                QT_TRANSLATE_NOOP("Words", "Relative error of the layer's weight alone: needs no data")},
    MetricTexts{Metric::LeaveOneOut, "leave_one_out", QT_TRANSLATE_NOOP("Words", "Leave-one-out"),
                QT_TRANSLATE_NOOP("Words",
                                  "Gain if only this layer is kept in float: accuracy in points, SQNR in dB "
                                  "if there is no accuracy, or the metric of your program; evaluated in the "
                                  "background when idle")},
    MetricTexts{Metric::Sqnr, "local.sqnr_db", QT_TRANSLATE_NOOP("Words", "SQNR"),
                QT_TRANSLATE_NOOP("Words",
                                  "Signal-to-quantization-noise ratio with only this layer quantized, in "
                                  "decibels; higher is better")},
    MetricTexts{Metric::Macs, "macs", QT_TRANSLATE_NOOP("Words", "MACs"),
                QT_TRANSLATE_NOOP("Words", "Multiply-accumulate operations per sample")},
    MetricTexts{Metric::Cosine, "local.cosine", QT_TRANSLATE_NOOP("Words", "Cosine"),
                QT_TRANSLATE_NOOP("Words",
                                  "Cosine similarity of the layer's output to its float output with only "
                                  "this layer quantized; 1 means no loss")},
    MetricTexts{Metric::RangeRatio, "weight_range_ratio", QT_TRANSLATE_NOOP("Words", "Weight range ratio"),
                QT_TRANSLATE_NOOP("Words",
                                  "Ratio of the largest to the smallest range of the weight's output "
                                  "channels, all of which a single scale must cover; equalization and "
                                  "per-channel scales help where it is high")},
    MetricTexts{Metric::Bits, "bits", QT_TRANSLATE_NOOP("Words", "Bits"),
                QT_TRANSLATE_NOOP("Words",
                                  "Precision of the layer: bits of weights (W) and activations (A), float16 "
                                  "(F16) or float32 (F32)")},
    MetricTexts{Metric::Difference, "difference", QT_TRANSLATE_NOOP("Words", "Difference"),
                QT_TRANSLATE_NOOP("Words",
                                  "Current cumulative QS minus the cumulative QS of the baseline or, without "
                                  "one, of the previous configuration: gray is better, magenta is worse")},
    MetricTexts{Metric::Latency, "latency", QT_TRANSLATE_NOOP("Words", "Latency"),
                QT_TRANSLATE_NOOP("Words",
                                  "Time of the layer per inference at its precision, from the latency "
                                  "profiles; \u2248 marks estimates")}};

const MetricTexts& textsOf(Metric metric) { return kTexts[static_cast<std::size_t>(metric)]; }

static_assert([] {
    for (std::size_t i = 0; i < kTexts.size(); ++i)
        if (kTexts[i].metric != static_cast<Metric>(i)) return false;
    return kTexts.size() == kMetrics.size();
}());

}  // namespace

QString metricKey(Metric metric) { return QString::fromLatin1(textsOf(metric).key); }

std::optional<Metric> metricOfKey(const QString& key) {
    const auto found = std::ranges::find_if(kTexts, [&](const MetricTexts& texts) {
        return key == QLatin1String(texts.key) || key == QLatin1String(texts.name);  // of earlier versions
    });
    return found == kTexts.end() ? std::nullopt : std::optional(found->metric);
}

QString metricName(Metric metric) { return Words::tr(textsOf(metric).name); }

QString metricShortName(Metric metric) {
    if (metric == Metric::CumulativeQs) return Words::tr("Cumulative");
    if (metric == Metric::RangeRatio) return Words::tr("Range ratio");
    return metricName(metric);
}

QString metricMeaning(Metric metric) { return Words::tr(textsOf(metric).meaning); }

std::optional<double> metricValue(const LayerResult& layer, Metric metric) {
    switch (metric) {
        case Metric::None:
            break;
        case Metric::LocalQs:
            if (layer.local) return layer.local->qs;
            break;
        case Metric::CumulativeQs:
            if (layer.cumulative) return layer.cumulative->qs;
            break;
        case Metric::WeightQs:
            if (layer.weight) return layer.weight->qs;
            break;
        case Metric::LeaveOneOut:
            return layer.leaveOneOut;
        case Metric::Sqnr:
            if (layer.local) return layer.local->sqnrDb;
            break;
        case Metric::Macs:
            if (layer.macs > 0) return static_cast<double>(layer.macs);
            break;
        case Metric::Cosine:
            if (layer.local && !std::isnan(layer.local->cosine)) return layer.local->cosine;
            break;
        case Metric::RangeRatio:
            return layer.weightRangeRatio;
        case Metric::Bits:
            if (layer.state == LayerState::Skipped) return layer.precision == Precision::float16() ? 16 : 32;
            if (layer.state != LayerState::Quantized) break;
            if (layer.weightBits > 0) return layer.weightBits;
            if (layer.activationBits > 0) return layer.activationBits;
            break;
        case Metric::Difference:
        case Metric::Latency:
            break;
    }
    return std::nullopt;
}

TaskMetric gainMetricOf(const Evaluation* evaluation) {
    return evaluation && evaluation->quantized ? gainMetric(*evaluation) : TaskMetric::Top1;
}

QString formatOwnMetric(double value) { return withMinusSigns(QString::number(value, 'g', 5)); }

QString formatMetric(double value, Metric metric, TaskMetric gainMetric) {
    switch (metric) {
        case Metric::None:
            return {};
        case Metric::LocalQs:
        case Metric::CumulativeQs:
        case Metric::WeightQs:
            return formatQs(value);
        case Metric::LeaveOneOut:
            return formatGain(value, gainMetric);
        case Metric::Sqnr:
            return formatDecibel(value);
        case Metric::Macs:
            return formatCount(static_cast<std::uint64_t>(value));
        case Metric::Cosine:
            return QString::number(value, 'f', 5);
        case Metric::RangeRatio:
            return QStringLiteral("\u00d7") + QString::number(value, 'f',
                                                              value >= 100  ? 0
                                                              : value >= 10 ? 1
                                                                            : 2);
        case Metric::Bits:
            return QString::number(static_cast<int>(value));
        case Metric::Difference: {
            const QString text = number(value, 3);
            return text.startsWith(kMinus) || text.toDouble() == 0 ? text : QLatin1Char('+') + text;
        }
        case Metric::Latency:
            return formatMilliseconds(value);
    }
    return {};
}

QString formatBits(const LayerResult& layer) {
    if (layer.precision == Precision::float16()) return QStringLiteral("F16");
    if (layer.state == LayerState::Skipped) return QStringLiteral("F32");
    const QString activation = QStringLiteral("A%1").arg(activationBitsOf(layer));
    return layer.weightBits == 0 ? activation : QStringLiteral("W%1%2").arg(layer.weightBits).arg(activation);
}

PrecisionClass precisionClassOf(const LayerResult& layer) {
    if (layer.precision == Precision::float16()) return PrecisionClass::Float16;
    if (layer.state != LayerState::Quantized) return PrecisionClass::Float32;
    const int activation = activationBitsOf(layer), weight = layer.weightBits == 0 ? 8 : layer.weightBits;
    if (weight > 8) return PrecisionClass::WideWeights;
    if (weight < 8 || activation < 8) return PrecisionClass::FewBits;
    return activation > 8 ? PrecisionClass::WideActivations : PrecisionClass::EightBits;
}

QString precisionClassName(PrecisionClass precisionClass) {
    switch (precisionClass) {
        case PrecisionClass::FewBits:
            return QStringLiteral("<8");
        case PrecisionClass::EightBits:
            return QStringLiteral("8");
        case PrecisionClass::WideActivations:
            return QStringLiteral("A>8");
        case PrecisionClass::WideWeights:
            return QStringLiteral("W>8");
        case PrecisionClass::Float16:
            return QStringLiteral("F16");
        case PrecisionClass::Float32:
            return QStringLiteral("F32");
    }
    return {};
}

QString formatMetricDifference(double value, double baseline, Metric metric, TaskMetric gainMetric) {
    if (!std::isfinite(value) || !std::isfinite(baseline)) return {};
    if (metric == Metric::LeaveOneOut) return formatGain(value - baseline, gainMetric);
    const int digits = metric == Metric::Sqnr ? 1 : metric == Metric::Cosine ? 5 : 3;
    return signedNumber(value - baseline, digits);
}

QString formatQs(double value) {
    if (std::isinf(value)) return QStringLiteral("\u221e");
    if (std::isnan(value)) return QStringLiteral("\u2013");
    return QString::number(value, 'f', value >= 100 ? 0 : value >= 10 ? 1 : 3);
}

QString formatDecibel(double value) {
    if (std::isinf(value)) return (value < 0 ? kMinus : QString()) + QStringLiteral("\u221e dB");
    if (std::isnan(value)) return QStringLiteral("\u2013");
    return number(value, 1) + QStringLiteral(" dB");
}

QString formatNumber(std::size_t number) { return QString::fromStdString(withThousands(number)); }

QString formatDecimal(double value, int digits) { return number(value, digits); }

QString formatCount(std::uint64_t count, int moreDecimals) {
    const auto value = static_cast<double>(count);
    if (count >= 1'000'000'000)
        return QString::number(value / 1e9, 'f', 2 + moreDecimals) + QStringLiteral(" G");
    if (count >= 1'000'000)
        return QString::number(value / 1e6, 'f', (count >= 100'000'000 ? 0 : 1) + moreDecimals) +
               QStringLiteral(" M");
    if (count >= 10'000) return QString::number(value / 1e3, 'f', 1 + moreDecimals) + QStringLiteral(" k");
    QString text = QString::number(count);
    if (text.size() > 3) text.insert(text.size() - 3, QLatin1Char(','));
    return text;
}

QString formatRate(double rate) {
    return QString::number(rate * 100, 'f', 1) + kThinSpace + QLatin1Char('%');
}

QString formatPoints(double rate) { return signedNumber(rate * 100, 1); }

bool isVisibleLoss(double change) { return std::round(change * 10) < 0; }

QString formatSeconds(double seconds) {
    if (seconds < 1) return QString::number(std::lround(seconds * 1000)) + QStringLiteral(" ms");
    return QString::number(seconds, 'f', seconds < 10 ? 2 : 1) + QStringLiteral(" s");
}

QString formatMilliseconds(double ms) {
    if (ms > 0 && ms < 0.0005) return QStringLiteral("< 0.001 ms");
    const int digits = ms >= 100 ? 0 : ms >= 10 ? 1 : ms >= 1 ? 2 : 3;
    return QString::number(ms, 'f', digits) + QStringLiteral(" ms");
}

QString stateText(LayerState state) {
    switch (state) {
        case LayerState::Quantized:
            return Words::tr("quantized");
        case LayerState::Skipped:
            return Words::tr("skipped");
        case LayerState::Float:
            return Words::tr("float");
        case LayerState::Folded:
            return Words::tr("folded");
        case LayerState::Fused:
            return Words::tr("fused");
    }
    return {};
}

}  // namespace quantloupe::ui
