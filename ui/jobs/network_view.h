// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples as images of the network's inputs, which make wrong scales, swapped colors and transposed axes
// visible.

#include <QImage>
#include <QList>
#include <utility>

#include "data/dataset.h"

namespace quantloupe::ui {

/// Of the first few samples, and the span of their values; both empty where the samples are no images of 1 or
/// 3 channels, channels first or last. Any thread. Throws Error for a sample that cannot be read.
std::pair<QList<QImage>, QString> networkViews(const Dataset& data);

}  // namespace quantloupe::ui
