// SPDX-License-Identifier: Apache-2.0
#pragma once
// The colors of the window, light and dark. Qt 6.4 does not say which the desktop wants: the lightness of
// the palette's window color decides. Painters ask themeOf(palette()) each time, so a palette change needs
// no more than a repaint. GUI thread.

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>

namespace quantloupe::ui {

struct Theme {
    bool dark = false;
    QColor window, panel, canvas;  ///< behind everything, of panels, of the graph
    QColor border, soft, hover;    ///< lines, quiet fills, pointed at
    QColor text, muted, faint;     ///< words, labels, hints
    QColor accent, accentText, accentSoft;
    QColor quantized, quantizedFill;
    QColor inFloat, inFloatFill;  ///< skipped, or not quantizable
    QColor io, ioFill;            ///< graph inputs and outputs
    QColor folded, foldedFill;
    QColor error, errorFill;
    QColor edge, edgeIn;  ///< edgeIn: into what is looked at; out of it they have the accent
};

const Theme& theme(bool dark);
const Theme& themeOf(const QPalette& palette);
/// The same colors for widgets that the style paints.
QPalette paletteOf(const Theme& theme);
/// The style sheet of the main window; sizes follow the font.
QString styleSheetOf(const Theme& theme, const QFont& font);

/// The application's font: the desktop's, or Inter where the desktop has no wish.
QFont applicationFont();
/// Of the same size, fixed pitch: for numbers in columns.
QFont numberFont(const QFont& base);
QFont scaledFont(const QFont& base, double factor, QFont::Weight weight = QFont::Normal);

/// `share` of one color on another: as if painted through, but opaque, which fills faster.
QColor blended(const QColor& over, const QColor& under, double share);

/// A sequential color map, even in lightness and safe for color-blind eyes (viridis); 0 is harmless, 1 the
/// worst.
QColor heatColor(double position);
/// A diverging one, safe for color-blind eyes: 0 is better (blue), 0.5 no difference, 1 worse (red).
QColor differenceColor(double position);

}  // namespace quantloupe::ui
