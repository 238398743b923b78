// SPDX-License-Identifier: Apache-2.0
#include "style/theme.h"

#include <QFontDatabase>
#include <QFontInfo>
#include <algorithm>
#include <array>
#include <cmath>

namespace quantloupe::ui {

namespace {

Theme makeLight() {
    Theme t;
    t.dark = false;
    t.window = QColor(0xf6f7f9), t.panel = QColor(0xffffff), t.canvas = QColor(0xfbfcfd);
    t.border = QColor(0xdfe3e8), t.soft = QColor(0xf1f3f5), t.hover = QColor(0xe6eaef);
    t.text = QColor(0x1f2933), t.muted = QColor(0x56626f), t.faint = QColor(0x5f6b78);
    t.good = QColor(0x17703c), t.warning = QColor(0x7a5a00), t.error = QColor(0xb52f2f);
    t.accent = QColor(0x2459bf), t.accentText = QColor(0xffffff), t.accentSoft = QColor(0xe6effd);
    t.quantized = QColor(0x2e9e5b), t.quantizedFill = QColor(0xe8f6ee);
    t.inFloat = QColor(0xd9a400), t.inFloatFill = QColor(0xfff6d6);
    t.io = QColor(0x2f6fde), t.ioFill = QColor(0xe6effd);
    t.folded = QColor(0x8b96a3), t.foldedFill = QColor(0xf1f3f5);
    t.errorFill = QColor(0xfdecec);
    t.edge = QColor(0xa3adb8), t.edgeIn = QColor(0x7b4fc4);
    return t;
}

Theme makeDark() {
    Theme t;
    t.dark = true;
    t.window = QColor(0x1b1f24), t.panel = QColor(0x23282f), t.canvas = QColor(0x1e2329);
    t.border = QColor(0x363d46), t.soft = QColor(0x2c323a), t.hover = QColor(0x363d46);
    t.text = QColor(0xe4e8ed), t.muted = QColor(0xaab4be), t.faint = QColor(0x9fabb6);
    t.good = QColor(0x5fd08d), t.warning = QColor(0xe6b93a), t.error = QColor(0xff8a82);
    t.accent = QColor(0x7fabff), t.accentText = QColor(0x10151c), t.accentSoft = QColor(0x1f2f4a);
    t.quantized = QColor(0x4cc27d), t.quantizedFill = QColor(0x1f3a2b);
    t.inFloat = QColor(0xe6b93a), t.inFloatFill = QColor(0x3d3418);
    t.io = QColor(0x6ea0ff), t.ioFill = QColor(0x1f2f4a);
    t.folded = QColor(0x7f8b97), t.foldedFill = QColor(0x2a3038);
    t.errorFill = QColor(0x45262a);
    t.edge = QColor(0x69747f), t.edgeIn = QColor(0xb99aff);
    return t;
}

}  // namespace

const Theme& theme(bool dark) {
    static const Theme lightTheme = makeLight();
    static const Theme darkTheme = makeDark();
    return dark ? darkTheme : lightTheme;
}

const Theme& themeOf(const QPalette& palette) {
    return theme(palette.color(QPalette::Window).lightness() < 128);
}

QPalette paletteOf(const Theme& t) {
    QPalette p;
    const auto all = [&p](QPalette::ColorRole role, const QColor& color) { p.setColor(role, color); };
    all(QPalette::Window, t.window);
    all(QPalette::WindowText, t.text);
    all(QPalette::Base, t.panel);
    all(QPalette::AlternateBase, t.soft);
    all(QPalette::Text, t.text);
    all(QPalette::Button, t.panel);
    all(QPalette::ButtonText, t.text);
    all(QPalette::BrightText, t.error);
    all(QPalette::ToolTipBase, t.panel);
    all(QPalette::ToolTipText, t.text);
    all(QPalette::PlaceholderText, t.faint);
    all(QPalette::Highlight, t.accent);
    all(QPalette::HighlightedText, t.accentText);
    all(QPalette::Link, t.accent);
    all(QPalette::Light, t.soft);
    all(QPalette::Midlight, t.soft);
    all(QPalette::Mid, t.border);
    all(QPalette::Dark, t.border);
    all(QPalette::Shadow, t.dark ? QColor(Qt::black) : QColor(0xc5ccd4));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, t.faint);
    return p;
}

QFont applicationFont() {
    QFont font = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
    // Without a desktop theme, Qt falls back to the "sans" font of fontconfig, which is not a choice of the
    // user.
    const QString family = QFontInfo(font).family();
    const bool fallback =
        family.startsWith(QLatin1String("DejaVu")) || family.startsWith(QLatin1String("Bitstream"));
    if (fallback && QFontDatabase::hasFamily(QStringLiteral("Inter")))
        font.setFamily(QStringLiteral("Inter"));
    if (font.pointSizeF() > 0 && font.pointSizeF() < 9.5) font.setPointSizeF(9.5);
    return font;
}

QFont numberFont(const QFont& base) {
    // slow, because it queries fontconfig
    static const bool noto = QFontDatabase::hasFamily(QStringLiteral("Noto Sans Mono"));
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    if (noto) font.setFamily(QStringLiteral("Noto Sans Mono"));
    if (base.pointSizeF() > 0)
        font.setPointSizeF(base.pointSizeF() * 0.96);
    else
        font.setPixelSize(base.pixelSize());
    return font;
}

QColor blended(const QColor& over, const QColor& under, double share) {
    const auto mix = [share](int a, int b) {
        return static_cast<int>(std::lround(share * a + (1 - share) * b));
    };
    return {mix(over.red(), under.red()), mix(over.green(), under.green()), mix(over.blue(), under.blue())};
}

QColor textColorOn(const QColor& color) {
    // Relative luminance of WCAG 2; at 0.179, black and white have the same contrast.
    const auto linear = [](double channel) {
        return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    const double luminance =
        0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
    return luminance > 0.179 ? Qt::black : Qt::white;
}

QFont scaledFont(const QFont& base, double factor, QFont::Weight weight) {
    QFont font = base;
    if (base.pointSizeF() > 0)
        font.setPointSizeF(base.pointSizeF() * factor);
    else
        font.setPixelSize(std::max(1, static_cast<int>(std::lround(base.pixelSize() * factor))));
    font.setWeight(weight);
    return font;
}

namespace {

template <std::size_t N>
QColor between(const std::array<unsigned, N>& stops, double position) {
    if (!(position > 0)) position = 0;  // also for NaN
    const double place = std::min(position, 1.0) * static_cast<double>(stops.size() - 1);
    const auto lower = std::min(static_cast<std::size_t>(place), stops.size() - 2);
    const double share = place - static_cast<double>(lower);
    const QColor a(stops[lower]), b(stops[lower + 1]);
    const auto mix = [share](int x, int y) { return static_cast<int>(std::lround(x + share * (y - x))); };
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

}  // namespace

QColor heatColor(double position, bool dark) {
    static constexpr std::array<unsigned, 8> kLight = {0xf8d3e8, 0xeeb0d5, 0xe08bbf, 0xcf62a6,
                                                       0xb53b8a, 0x931c72, 0x6a0f56, 0x42093a};
    static constexpr std::array<unsigned, 8> kDark = {0x4a1f42, 0x6e2a5f, 0x93397d, 0xb64c9a,
                                                      0xd568b6, 0xeb90cd, 0xf8bbe2, 0xffe3f5};
    return between(dark ? kDark : kLight, position);
}

QColor precisionColor(std::size_t precisionClass, bool dark) {
    static constexpr std::array<unsigned, 6> kLight = {0xd0622b, 0x9c7a9a, 0x422cfb,
                                                       0x9c0ea3, 0x173d1a, 0x400242};
    static constexpr std::array<unsigned, 6> kDark = {0xfe1f5a, 0xa177b3, 0x786efb,
                                                      0xbbf7a7, 0x4efeec, 0xfddb1a};
    return QColor((dark ? kDark : kLight).at(precisionClass));
}

QColor differenceColor(double position, bool dark) {
    static constexpr std::array<unsigned, 5> kLight = {0x1d2a2a, 0x74807f, 0xdfe3e8, 0xe07ab9, 0xb02a8a};
    static constexpr std::array<unsigned, 5> kDark = {0xffffff, 0x9aa3ad, 0x454d57, 0xa8478f, 0xe566b8};
    return between(dark ? kDark : kLight, position);
}

}  // namespace quantloupe::ui
