// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shows samples as images of the network's inputs, which make wrong scales, swapped colors and transposed
// axes visible.

#include <QImage>
#include <QList>
#include <utility>

#include "data/dataset.h"

namespace quantloupe::ui {

/// Returns images of the first samples and the range of their values. Both are empty if the samples are not
/// images with 1 or 3 channels, channels first or last. Any thread. Throws Error for a sample that cannot be
/// read.
std::pair<QList<QImage>, QString> networkViews(const Dataset& data);

}  // namespace quantloupe::ui
