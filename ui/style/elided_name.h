// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFontMetricsF>
#include <QString>

namespace quantloupe::ui {

/// Shortens the name of a layer to a width. The numbered block and the end stay as long as possible, because
/// they tell layers apart: "encoder/layer.3/output/dense" becomes "…layer.3/output/dense", then
/// "layer.3/o…/dense", "layer.3/…/dense", and "l….3/…/dense". The window finds layers by such names, too
/// (LayerNames::matches).
QString elidedName(const QString& name, const QFontMetricsF& metrics, double width);

}  // namespace quantloupe::ui
