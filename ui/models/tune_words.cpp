// SPDX-License-Identifier: Apache-2.0
#include "models/tune_words.h"

#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "document/layer_latency.h"
#include "document/metric.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

struct CostTexts {
    CostKind kind;
    const char *title, *meaning, *unit;  ///< translated when they are shown
};

constexpr CostTexts kCostTexts[] = {
    {CostKind::Milliseconds, QT_TRANSLATE_NOOP("Words", "milliseconds"),
     QT_TRANSLATE_NOOP("Words", "Time of one inference, from the latency profiles"),
     QT_TRANSLATE_NOOP("Words", "ms")},
    {CostKind::Bytes, QT_TRANSLATE_NOOP("Words", "bytes of weights"),
     QT_TRANSLATE_NOOP("Words", "Size of weights, biases and other constants"),
     QT_TRANSLATE_NOOP("Words", "bytes (k, M, G)")},
    {CostKind::BitOperations, QT_TRANSLATE_NOOP("Words", "bit operations"),
     QT_TRANSLATE_NOOP("Words", "Sum of MACs \u00b7 weight bits \u00b7 activation bits"),
     QT_TRANSLATE_NOOP("Words", "bit operations (M, G)")},
    {CostKind::Macs, QT_TRANSLATE_NOOP("Words", "MACs in float"),
     QT_TRANSLATE_NOOP("Words", "MACs of the layers that the search keeps in float"),
     QT_TRANSLATE_NOOP("Words", "MACs (k, M, G)")},
    {CostKind::Layers, QT_TRANSLATE_NOOP("Words", "layers in float"),
     QT_TRANSLATE_NOOP("Words", "Number of layers that the search keeps in float"),
     QT_TRANSLATE_NOOP("Words", "layers")},
    {CostKind::Parameters, QT_TRANSLATE_NOOP("Words", "parameters in float"),
     QT_TRANSLATE_NOOP("Words", "Parameters of the layers that the search keeps in float"),
     QT_TRANSLATE_NOOP("Words", "parameters (k, M, G)")}};

const CostTexts& textsOf(CostKind kind) { return *std::ranges::find(kCostTexts, kind, &CostTexts::kind); }

/// Sum of the layers that the search can keep in float; 0 if the cost is not a share.
double wholeOf(const TuneResult& result) {
    if (result.cost == TuneCost::Parameters || (result.cost == TuneCost::Macs && !result.quantized.macsKnown))
        return static_cast<double>(result.quantized.parameters);
    return result.cost == TuneCost::Macs ? static_cast<double>(result.quantized.macs) : 0;
}

bool isShare(const TuneResult& result) {
    return result.cost == TuneCost::Macs || result.cost == TuneCost::Parameters;
}

bool inDecibels(const TuneResult& result) { return result.metric == TaskMetric::Sqnr; }

bool isOwn(const TuneResult& result) { return result.metric == TaskMetric::User; }

/// The metric of the float network.
double floatMetric(const TuneResult& result) {
    if (isOwn(result)) return valueOf(result.floating, result.metric);
    return result.curve.front().metric + result.curve.front().drop;
}

/// 1 if larger values of the metric are better, otherwise -1.
double directionOf(const TuneResult& result) {
    return isOwn(result) && result.floating.lowerIsBetter ? -1 : 1;
}

}  // namespace

QString costTitle(CostKind kind) { return Words::tr(textsOf(kind).title); }
QString costMeaning(CostKind kind) { return Words::tr(textsOf(kind).meaning); }
QString costUnit(CostKind kind) { return Words::tr(textsOf(kind).unit); }

QString amountText(CostKind kind, double amount, int moreDigits) {
    if (kind == CostKind::Milliseconds) {
        const int decimals = amount >= 100 ? 0 : amount >= 10 ? 1 : amount >= 1 || amount <= 0 ? 2 : 4;
        return QStringLiteral("%1 ms").arg(amount, 0, 'f', decimals + moreDigits);
    }
    if (kind == CostKind::Layers) return QString::number(std::lround(amount));
    QString text = formatCount(static_cast<std::uint64_t>(std::llround(std::max(0.0, amount))), moreDigits);
    if (kind != CostKind::Bytes) return text;
    return text + (text.contains(QLatin1Char(' ')) ? QStringLiteral("B") : QStringLiteral(" B"));
}

std::optional<double> parseAmount(const QString& text) {
    static const QRegularExpression kAmount(
        QStringLiteral("^([0-9]{1,3}(?:,[0-9]{3})+(?:\\.[0-9]*)?|[0-9.]+)\\s*([kKMGT]?)\\s*(?:B|ms)?$"));
    const auto match = kAmount.match(text.trimmed());
    if (!match.hasMatch()) return std::nullopt;
    bool isNumber = false;
    const double number = QLocale::c().toDouble(match.captured(1).remove(QLatin1Char(',')), &isNumber);
    if (!isNumber || !(number >= 0)) return std::nullopt;
    const QString prefix = match.captured(2).toUpper();
    const auto power = prefix.isEmpty() ? 0 : QStringLiteral("KMGT").indexOf(prefix) + 1;
    return number * std::pow(1000.0, static_cast<double>(power));
}

QString taskMetricText(TaskMetric metric, double value) {
    if (metric == TaskMetric::User) return formatOwnMetric(value);
    return metric == TaskMetric::Sqnr ? formatDecibel(value) : formatRate(value);
}

double dropUnit(TaskMetric metric) { return metric == TaskMetric::User ? 1 : 0.01; }

QString dropText(TaskMetric metric, double drop) {
    return metric == TaskMetric::User ? formatOwnMetric(drop) : formatDecimal(drop / dropUnit(metric), 1);
}

TradeOffValues valuesOnAxis(const TuneResult& result) {
    const QString title = tuneMetricTitle(result);
    if (isOwn(result)) return {title, true, result.floating.lowerIsBetter};
    return {inDecibels(result) ? Words::tr("SQNR, dB") : Words::tr("%1, %").arg(title)};
}

QString tuneMetricTitle(const TuneResult& result) { return Words::tr(traitsOf(result.metric).title); }

double costOnAxis(const TuneResult& result, double amount) {
    if (!isShare(result)) return amount;
    const double whole = wholeOf(result);
    return whole > 0 ? 100 * amount / whole : 0;
}

double amountOnAxis(const TuneResult& result, double place) {
    return isShare(result) ? place / 100 * wholeOf(result) : place;
}

QString costAxisTitle(const TuneResult& result) {
    return isShare(result) ? Words::tr("%1, %").arg(costTitle(result.cost)) : costTitle(result.cost);
}

QString costAxisText(const TuneResult& result, double place, int moreDigits) {
    return isShare(result) ? QString::number(place, 'f', 1) : amountText(result.cost, place, moreDigits);
}

int digitsToTellApart(CostKind kind, std::vector<double> amounts) {
    constexpr int kMost = 6;
    std::ranges::sort(amounts);
    const auto looksTheSame = [&](int digits) {
        return std::ranges::adjacent_find(amounts, [&](double a, double b) {
                   return a != b && amountText(kind, a, digits) == amountText(kind, b, digits);
               }) != amounts.end();
    };
    int digits = 0;
    while (digits < kMost && looksTheSame(digits)) ++digits;
    return digits;
}

std::optional<double> targetOnAxis(const TuneResult& result) {
    if (!std::isfinite(result.maxDrop) || result.curve.empty()) return std::nullopt;
    if (!inDecibels(result))
        return metricOnAxis(result, floatMetric(result) - directionOf(result) * result.maxDrop);
    if (!(result.maxDrop > 0)) return std::nullopt;
    return -20 * std::log10(result.maxDrop);
}

double dropOnAxis(const TuneResult& result, double place) {
    if (inDecibels(result)) return std::pow(10.0, -place / 20);
    const double metric = isOwn(result) ? place : place / 100;
    return std::max(0.0, directionOf(result) * (floatMetric(result) - metric));
}

bool changesPrecision(const LayerResult& layer, const Precision& precision) {
    const Precision now = runningPrecision(layer);
    if (layer.weightBits == 0 && now.isInteger() && precision.isInteger())
        return now.activationBits != precision.activationBits;  // there are no weights
    return now != precision;
}

double metricOnAxis(const TuneResult& result, double metric) {
    return traitsOf(result.metric).rate ? 100 * metric : metric;
}

}  // namespace quantloupe::ui
