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
    /// Colors of text, readable on every background of the window (WCAG AA): words, labels, hints; links,
    /// good news, warnings, errors. The state colors below are for shapes only.
    QColor text, muted, faint, accent, good, warning, error;
    QColor accentText, accentSoft;
    QColor quantized, quantizedFill;
    QColor inFloat, inFloatFill;  ///< skipped, or not quantizable
    QColor io, ioFill;            ///< graph inputs and outputs
    QColor folded, foldedFill;
    QColor errorFill;
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

/// How much a layer suffers: a ramp of one hue that no state has. 0 is harmless (close to the background), 1
/// the worst (farthest from it): pale to dark, or dark to pale in the dark theme.
QColor heatColor(double position, bool dark);
/// The color of a class of precisions (document/metric.h: PrecisionClass). Different from each other and from
/// the state colors, with normal vision and all color blindnesses.
QColor precisionColor(std::size_t precisionClass, bool dark);
/// 0 is better (gray), 0.5 no difference (close to the background), 1 worse (the hue of heatColor()).
QColor differenceColor(double position, bool dark);

}  // namespace quantloupe::ui
