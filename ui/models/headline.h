// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of one configuration in a few words, for the summary bar, the graphs side by side and the
// desktop notification.

#include <QString>

#include "results/evaluation.h"

namespace quantloupe::ui {

inline const QString kNoNumber = QStringLiteral("\u2013");

/// The measure of accuracy: mAP, mIoU or top-1 with labels, agreement with the float model without.
struct Headline {
    QString floatValue, floatNote;
    QString value, note;  ///< of the quantized network
    QString difference;   ///< "−5.6 vs. float"
    QString interval;     ///< "±1.1"
    QString toolTip;
    double loss = 0;  ///< accuracy drop from float, for the color
    bool known = false;
    bool neutral = false;  ///< says nothing about quantization: shown without the colors of a judgment
};
/// `evaluating`: with no results yet, whether some are on their way.
Headline headlineOf(const Evaluation* evaluation, bool hasData, bool evaluating = true);

}  // namespace quantloupe::ui
