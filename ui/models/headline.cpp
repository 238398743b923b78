// SPDX-License-Identifier: Apache-2.0
#include "models/headline.h"

#include <cmath>

#include "base/short_text.h"
#include "document/metric.h"
#include "results/task_metric.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

/// The titles of task metrics, for translators.
[[maybe_unused]] constexpr const char* kMetricTitles[] = {
    QT_TRANSLATE_NOOP("Words", "top-1"),     QT_TRANSLATE_NOOP("Words", "mAP"),
    QT_TRANSLATE_NOOP("Words", "mIoU"),      QT_TRANSLATE_NOOP("Words", "token accuracy"),
    QT_TRANSLATE_NOOP("Words", "agreement"), QT_TRANSLATE_NOOP("Words", "SQNR"),
    QT_TRANSLATE_NOOP("Words", "metric")};

/// Without labels: uses the SQNR of the outputs where agreement would be meaningless.
void showSqnr(Headline& line, const Accuracy& quantized) {
    line.value = quantized.sqnrDb ? formatDecibel(*quantized.sqnrDb) : kNoNumber;
    line.neutral = true;  // how many decibels are enough depends on the network
    if (quantized.sqnrDb) line.note.prepend(Words::tr("SQNR \u00b7 "));
}

/// Removes the color from numbers that say nothing about quantization.
void markNeutral(Headline& line, const Evaluation& evaluation) {
    const Accuracy& quantized = *evaluation.quantized;
    const bool nothing = evaluation.counts.quantized == 0;
    if (!nothing && quantized.samples >= kFewSamples) return;
    line.neutral = true;
    if (const auto rate = taskRate(quantized); rate && rate->relative()) {
        line.note = samplesText(quantized.samples);
        showSqnr(line, quantized);
    }
    if (nothing)
        line.note.prepend(Words::tr("Nothing is quantized \u00b7 "));
    else
        line.toolTip.append(
            quantized.samples == 1
                ? Words::tr("\n1 sample is not enough for a reliable accuracy")
                : Words::tr("\n%1 samples are too few for a reliable accuracy").arg(quantized.samples));
}

/// The accuracy of the tensors before the nodes that are not evaluated.
void markPart(Headline& line, const Evaluation& evaluation) {
    if (evaluation.unevaluated.empty()) return;
    line.note.prepend(Words::tr("Partly evaluated \u00b7 "));
    line.toolTip.prepend(QString::fromStdString(evaluation.unevaluated) + QLatin1Char('\n'));
}

/// "500 images", "177 samples so far".
QString samplesText(const Accuracy& accuracy, DataKind data, bool soFar) {
    const QString count = formatNumber(accuracy.samples);
    if (data == DataKind::Images)
        return soFar ? Words::tr("%1 images so far").arg(count) : Words::tr("%1 images").arg(count);
    return soFar ? Words::tr("%1 samples so far").arg(count) : Words::tr("%1 samples").arg(count);
}

/// The result of random inputs, which are used if no data is open.
Headline randomInputsHeadline(const Evaluation& evaluation) {
    const Accuracy& quantized = *evaluation.quantized;
    Headline line;
    line.known = line.neutral = true;
    line.floatValue = kNoNumber;
    line.floatNote = Words::tr("no data");
    line.value = formatDecibel(*quantized.sqnrDb);
    line.note = (evaluation.counts.quantized == 0 ? Words::tr("Nothing is quantized \u00b7 %1 random inputs")
                                                  : Words::tr("SQNR \u00b7 %1 random inputs"))
                    .arg(quantized.samples);
    line.toolTip = Words::tr(
        "No data is open: ranges, sensitivities and this number come from random inputs.\nOpen a folder "
        "of samples to see the accuracy.");
    markPart(line, evaluation);
    return line;
}

/// The accuracy of the float network, while that of the quantized network is not known.
void addFloat(Headline& line, const Accuracy& floating, DataKind data, bool rough) {
    const auto rate = taskRate(floating);
    if (!rate || rate->relative()) return;
    line.floatValue = formatRate(rate->value);
    line.floatNote = Words::tr(rate->title());
    if (rough) line.floatNote += QStringLiteral(" \u00b7 ") + samplesText(floating, data, true);
}

/// The interval of the accuracy, and the other metrics of the task.
void addTaskDetails(Headline& line, const Accuracy& quantized) {
    if (quantized.top1Interval) {
        const double half = (quantized.top1Interval->high - quantized.top1Interval->low) / 2;
        line.interval = QStringLiteral("\u00b1") + QString::number(half * 100, 'f', 1);
        line.toolTip =
            Words::tr("95 % Wilson interval: %1 to %2")
                .arg(formatRate(quantized.top1Interval->low), formatRate(quantized.top1Interval->high));
    }
    for (const auto& [title, value] : {std::pair(Words::tr("\ntop-5: "), quantized.top5),
                                       std::pair(Words::tr("\nmAP@50: "), quantized.map50),
                                       std::pair(Words::tr("\npixel accuracy: "), quantized.pixelAccuracy)})
        if (value) line.toolTip += title + formatRate(*value);
    if (quantized.tokenAccuracy)
        line.toolTip +=
            Words::tr("\nagreement of the tokens: ") + formatRate(quantized.agreement.value_or(0));
}

void addPerplexity(const Accuracy& accuracy, QString& note) {
    if (accuracy.perplexity)
        note += Words::tr(" \u00b7 perplexity ") + formatDecimal(*accuracy.perplexity, 3);
}

/// With labels: the accuracy, compared with that of the float network.
void addAccuracy(Headline& line, const Evaluation& evaluation, const TaskValue& rate) {
    const QString title = Words::tr(rate.title());
    line.value = formatRate(rate.value);
    line.note.prepend(title + QStringLiteral(" \u00b7 "));
    line.floatNote = evaluation.rough ? Words::tr("%1 so far").arg(title) : title;
    addTaskDetails(line, *evaluation.quantized);
    addPerplexity(*evaluation.quantized, line.note);
    if (!evaluation.floating) return;
    addPerplexity(*evaluation.floating, line.floatNote);
    if (const auto floating = taskRate(*evaluation.floating)) {
        line.floatValue = formatRate(floating->value);
        line.loss = floating->value > 0 ? 1 - rate.value / floating->value : 0;
        line.difference = formatPoints(rate.value - floating->value) + Words::tr(" vs. float");
    }
}

/// Without labels: how similar the outputs are to those of the float network.
void addSimilarity(Headline& line, const Accuracy& quantized) {
    if (!quantized.agreement && !quantized.sqnrDb) return;
    line.floatValue = Words::tr("no labels");
    line.floatNote = Words::tr("reference");
    if (!quantized.agreement) return showSqnr(line, quantized);
    line.value = formatRate(*quantized.agreement);
    line.note.prepend(Words::tr("agreement \u00b7 "));
    line.loss = 1 - *quantized.agreement;
}

void addOutputDetails(Headline& line, const Accuracy& quantized) {
    if (quantized.agreement)
        line.toolTip += Words::tr("\nagreement with float: ") + formatRate(*quantized.agreement);
    if (quantized.sqnrDb) line.toolTip += Words::tr("\noutput SQNR: ") + formatDecibel(*quantized.sqnrDb);
    for (const OutputDifference& output : quantized.outputs)
        line.toolTip +=
            QStringLiteral("\n%1: %2")
                .arg(QString::fromStdString(shortName(output.name)), formatDecibel(output.sqnrDb));
}

}  // namespace

Headline headlineOf(const Evaluation* evaluation, DataKind data, bool evaluating) {
    if (evaluation && evaluation->randomInputs && evaluation->quantized && evaluation->quantized->sqnrDb)
        return randomInputsHeadline(*evaluation);
    Headline line;
    line.floatValue = line.value = kNoNumber;
    if (!evaluation && !evaluating) {
        line.note = Words::tr("not evaluated");
        return line;
    }
    if (data == DataKind::None) {
        line.floatNote = line.note = Words::tr("needs data");
        return line;
    }
    if (!evaluation || !evaluation->quantized) {
        if (evaluation && evaluation->floating)
            addFloat(line, *evaluation->floating, data, evaluation->rough);
        return line;
    }
    const Accuracy& quantized = *evaluation->quantized;
    line.known = true;
    line.note = samplesText(quantized, data, evaluation->rough);
    if (const auto rate = taskRate(quantized); rate && !rate->relative())
        addAccuracy(line, *evaluation, *rate);
    else
        addSimilarity(line, quantized);
    addOutputDetails(line, quantized);
    markNeutral(line, *evaluation);
    markPart(line, *evaluation);
    line.toolTip = line.toolTip.trimmed();
    return line;
}

QString samplesWord(DataKind data) {
    return data == DataKind::Images ? Words::tr("images") : Words::tr("samples");
}

QString latencyText(const LatencySum& sum) {
    QString ms = formatMilliseconds(sum.ms);
    if (!(sum.floatMs > 0)) return ms;
    const double percent = 100 * sum.change();
    const QString text = QString::number(std::abs(percent), 'f', 0);
    return QStringLiteral("%1, %2%3\u202f%")
        .arg(ms,
             text == QLatin1Char('0') ? QStringLiteral("\u00b1")
             : percent < 0            ? QStringLiteral("\u2212")
                                      : QStringLiteral("+"),
             text);
}

QString latencyDetails(const LatencySum& sum) {
    QString text = Words::tr(
                       "Sum of the layers' times per inference. In float: %1. Measured: %2 of %3 layers at "
                       "their precision.")
                       .arg(formatMilliseconds(sum.floatMs))
                       .arg(sum.measured)
                       .arg(sum.layers);
    if (sum.estimated())
        text += Words::tr(" %1 are estimated from the other measured layers.")
                    .arg(formatMilliseconds(sum.estimatedMs));
    return text;
}

}  // namespace quantloupe::ui
