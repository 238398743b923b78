// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names and one-line descriptions of the configuration's choices in the window.

#include <QString>
#include <span>

#include "config/quantization_config.h"
#include "style/words.h"

namespace quantloupe::ui {

template <typename Value>
struct ChoiceText {
    Value value;
    const char* nameWord;
    const char* meaningWord;

    QString name() const { return Words::tr(nameWord); }
    QString meaning() const { return Words::tr(meaningWord); }
};

std::span<const ChoiceText<CalibrationMethod>> calibrationMethodTexts();
std::span<const ChoiceText<WeightMethod>> weightMethodTexts();
std::span<const ChoiceText<ReplaceRelu6>> replaceRelu6Texts();
std::span<const ChoiceText<EqualizationProfile>> equalizationTexts();
std::span<const ChoiceText<BiasCorrection>> biasCorrectionTexts();
std::span<const ChoiceText<int>> biasBitsTexts();
std::span<const ChoiceText<Placement>> placementTexts();
std::span<const ChoiceText<OperatorSet>> operatorSetTexts();
std::span<const ChoiceText<TieRounding>> tieRoundingTexts();

/// Returns the index of a value; -1 if it is not in the list.
template <typename Value>
int indexOf(std::span<const ChoiceText<Value>> texts, Value value) {
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (texts[i].value == value) return static_cast<int>(i);
    return -1;
}

/// Returns the name of a value; empty if it is not in the list.
template <typename Value>
QString choiceLabel(std::span<const ChoiceText<Value>> texts, Value value) {
    const int index = indexOf(texts, value);
    return index < 0 ? QString() : texts[static_cast<std::size_t>(index)].name();
}

}  // namespace quantloupe::ui
