// SPDX-License-Identifier: Apache-2.0
#include "panels/state_style.h"

namespace quantloupe::ui {

QString stateStyleSheet(LayerState state, const Theme& colors, int radius) {
    const bool quantized = state == LayerState::Quantized,
               folded = state == LayerState::Folded || state == LayerState::Fused;
    const QColor color = quantized ? colors.quantized : folded ? colors.folded : colors.inFloat;
    const QColor fill = quantized ? colors.quantizedFill : folded ? colors.foldedFill : colors.inFloatFill;
    const QColor words = quantized ? colors.good : folded ? colors.muted : colors.warning;
    return QStringLiteral("QLabel { color: %1; background: %2; border: 1px %3 %4; border-radius: %5px; }")
        .arg(words.name(), fill.name(),
             state == LayerState::Skipped ? QStringLiteral("dashed") : QStringLiteral("solid"), color.name())
        .arg(radius);
}

}  // namespace quantloupe::ui
