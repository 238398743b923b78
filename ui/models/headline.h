// SPDX-License-Identifier: Apache-2.0
#pragma once
// A short summary of the result of a configuration, for the summary bar, the side-by-side graphs and the
// desktop notification.

#include <QString>

#include "document/layer_latency.h"
#include "jobs/evaluation_job.h"
#include "results/evaluation.h"

namespace quantloupe::ui {

inline const QString kNoNumber = QStringLiteral("\u2013");

/// The accuracy metric: with labels mAP, mIoU or top-1, without labels the agreement with the float model.
struct Headline {
    QString floatValue, floatNote;
    QString value, note;  ///< of the quantized network
    QString difference;   ///< "−5.6 vs. float"
    QString interval;     ///< "±1.1"
    QString toolTip;
    double loss = 0;  ///< fraction of the float accuracy that is lost, for the color
    bool known = false;
    bool neutral = false;  ///< says nothing about quantization, so it is shown in a neutral color
};
/// `evaluating`: if there are no results yet, whether an evaluation is running.
Headline headlineOf(const Evaluation* evaluation, DataKind data, bool evaluating = true);

/// "images" or "samples".
QString samplesWord(DataKind data);

/// "12.4 ms, −38 %": compared with float; without the difference if nothing is known about float.
QString latencyText(const LatencySum& sum);
/// Describes which part is measured, and the latency in float.
QString latencyDetails(const LatencySum& sum);

}  // namespace quantloupe::ui
