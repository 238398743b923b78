// SPDX-License-Identifier: Apache-2.0
#pragma once
// The look of a layer's state as a label: the colors and the outline of its box in the graph.

#include <QString>

#include "results/evaluation.h"
#include "style/theme.h"

namespace quantloupe::ui {

/// Returns the style sheet of the label, with round ends of this radius in pixels.
QString stateStyleSheet(LayerState state, const Theme& colors, int radius);

}  // namespace quantloupe::ui
