// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small line icons in the color of the theme, rendered from SVG in the requested size and pixel ratio.

#include <QColor>
#include <QIcon>

namespace quantloupe::ui {

enum class Symbol {
    Close,
    Folder,
    Open,
    Tail,
    Range,
    Downstream,
    Type,
    Pattern,
    Node,
    Pin,
    Fit,
    Dismiss,
    App
};
QIcon icon(Symbol symbol, const QColor& color);
/// The program's icon, in several sizes.
QIcon applicationIcon();
QPixmap pixmap(Symbol symbol, const QColor& color, int logicalSize, qreal pixelRatio);

}  // namespace quantloupe::ui
