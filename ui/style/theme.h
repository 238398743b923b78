// SPDX-License-Identifier: Apache-2.0
#pragma once
// The colors of the window, light and dark. Qt 6.4 does not provide the desktop's choice, so the lightness of
// the palette's window color is used. Painters call themeOf(palette()) each time, so a palette change only
// needs a repaint. GUI thread.

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>

namespace quantloupe::ui {

struct Theme {
    bool dark = false;
    QColor window, panel, canvas;  ///< backgrounds of the window, the panels and the graph
    QColor border, soft, hover;    ///< lines, subtle fills, hovered items
    /// Colors of text that are readable on every background of the window (WCAG AA): text, labels, hints;
    /// links, success, warnings, errors. The state colors below are only for shapes.
    QColor text, muted, faint, accent, good, warning, error;
    QColor accentText, accentSoft;
    QColor quantized, quantizedFill;
    QColor inFloat, inFloatFill;  ///< skipped, or not quantizable
    QColor io, ioFill;            ///< graph inputs and outputs
    QColor folded, foldedFill;
    QColor errorFill;
    QColor edge, edgeIn;  ///< edgeIn: edges into the hovered layer; edges out of it have the accent color
};

const Theme& theme(bool dark);
const Theme& themeOf(const QPalette& palette);
/// The same colors for widgets that the style paints.
QPalette paletteOf(const Theme& theme);
/// The style sheet of the main window; sizes follow the font.
QString styleSheetOf(const Theme& theme, const QFont& font);

/// Returns the application's font: the font of the desktop, or Inter if the desktop does not set one.
QFont applicationFont();
/// Returns a fixed-pitch font of the same size, for numbers in columns.
QFont numberFont(const QFont& base);
QFont scaledFont(const QFont& base, double factor, QFont::Weight weight = QFont::Normal);

/// Returns a color as if `over` were painted on `under` with the opacity `share`. The result is opaque, which
/// is faster to fill.
QColor blended(const QColor& over, const QColor& under, double share);

/// Returns black or white, whichever is more readable on the color (a contrast of 4.5 or more).
QColor textColorOn(const QColor& color);

/// Returns the color of a sensitivity: a scale of one hue that no state has. 0 is harmless (close to the
/// background), 1 is the worst (farthest from the background): pale to dark, or dark to pale in the dark
/// theme.
QColor heatColor(double position, bool dark);
/// Returns the color of a group of precisions (PrecisionClass in document/metric.h). The colors differ from
/// each other and from the state colors, with normal vision and all kinds of color blindness.
QColor precisionColor(std::size_t precisionClass, bool dark);
/// Returns the color of a difference: 0 is better (gray), 0.5 no difference (close to the background), 1
/// worse (the hue of heatColor()).
QColor differenceColor(double position, bool dark);

}  // namespace quantloupe::ui
