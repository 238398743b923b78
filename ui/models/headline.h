// SPDX-License-Identifier: Apache-2.0
#pragma once
// One configuration's result in a few words: for the strip at the top, the graphs side by side, the word on the desktop.

#include <QString>

#include "session/evaluation.h"

namespace quantloupe::ui {

inline const QString kNoNumber = QStringLiteral("\u2013");

/// What stands for the accuracy: top-1 with labels, agreement with the float model without.
struct Headline {
    QString floatValue, floatNote;
    QString value, note;  ///< of the quantized network
    QString difference;   ///< "−5.6 to float"
    QString interval;     ///< "±1.1"
    QString toolTip;
    double loss = 0;  ///< rate lost against float, for the color
    bool known = false;
    bool neutral = false;  ///< says nothing about quantization: shown without the colors of a judgment
};
/// `evaluating`: with no results yet, whether some are on their way.
Headline headlineOf(const Evaluation* evaluation, bool hasData, bool evaluating = true);

}  // namespace quantloupe::ui
