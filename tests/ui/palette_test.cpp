// SPDX-License-Identifier: Apache-2.0
// The colors of the window: texts are readable (WCAG 2.1 AA), and the ramp of the sensitivities is never
// mistaken for a state, with normal vision or with one of the three color blindnesses.
#include <QRegularExpression>
#include <QTest>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "style/theme.h"

using namespace quantloupe::ui;

namespace {

using Linear = std::array<double, 3>;

Linear linear(const QColor& color) {
    const auto channel = [](double c) {
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return {channel(color.redF()), channel(color.greenF()), channel(color.blueF())};
}

double luminance(const QColor& color) {
    const Linear c = linear(color);
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

/// WCAG 2.1, contrast ratio.
double contrast(const QColor& a, const QColor& b) {
    const double one = luminance(a), other = luminance(b);
    return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

/// Simulations of complete color blindness in linear RGB: Machado, Oliveira and Fernandes, "A
/// Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, severity 1.
struct Vision {
    const char* name;
    double matrix[3][3];
};
constexpr Vision kVisions[] = {
    {"normal", {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {"protanopia",
     {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {"deuteranopia",
     {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {"tritanopia",
     {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}};

/// CIELAB (D65) of the color as this vision sees it.
std::array<double, 3> lab(const QColor& color, const Vision& vision) {
    const Linear c = linear(color);
    Linear seen{};
    for (int i = 0; i < 3; ++i) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) sum += vision.matrix[i][k] * c[k];
        seen[i] = std::clamp(sum, 0.0, 1.0);
    }
    const double x = 0.4124564 * seen[0] + 0.3575761 * seen[1] + 0.1804375 * seen[2];
    const double y = 0.2126729 * seen[0] + 0.7151522 * seen[1] + 0.0721750 * seen[2];
    const double z = 0.0193339 * seen[0] + 0.1191920 * seen[1] + 0.9503041 * seen[2];
    const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
    const double fx = f(x / 0.95047), fy = f(y), fz = f(z / 1.08883);
    return {116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)};
}

/// CIE76; 2.3 is a just noticeable difference.
double difference(const QColor& a, const QColor& b, const Vision& vision) {
    const auto one = lab(a, vision), other = lab(b, vision);
    return std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

constexpr int kSteps = 40;

}  // namespace

class PaletteTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void themes_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }

    void textIsReadableOnEveryBackground_data() { themes_data(); }
    void textIsReadableOnEveryBackground() {
        QFETCH(const bool, dark);
        const Theme& t = theme(dark);
        const std::pair<const char*, QColor> texts[] = {
            {"text", t.text}, {"muted", t.muted},     {"faint", t.faint}, {"accent", t.accent},
            {"good", t.good}, {"warning", t.warning}, {"error", t.error}};
        const std::pair<const char*, QColor> backgrounds[] = {{"window", t.window},
                                                              {"panel", t.panel},
                                                              {"canvas", t.canvas},
                                                              {"soft", t.soft},
                                                              {"hover", t.hover},
                                                              {"accentSoft", t.accentSoft},
                                                              {"errorFill", t.errorFill},
                                                              {"quantizedFill", t.quantizedFill},
                                                              {"inFloatFill", t.inFloatFill},
                                                              {"ioFill", t.ioFill},
                                                              {"foldedFill", t.foldedFill}};
        for (const auto& [text, color] : texts)
            for (const auto& [background, under] : backgrounds)
                QVERIFY2(contrast(color, under) >= 4.5, qPrintable(QStringLiteral("%1 on %2: %3")
                                                                       .arg(QLatin1String(text))
                                                                       .arg(QLatin1String(background))
                                                                       .arg(contrast(color, under))));
        QVERIFY(contrast(t.accentText, t.accent) >= 4.5);
    }

    /// No rule uses a color that is meant for shapes.
    void theStyleSheetUsesTextColorsForText_data() { themes_data(); }
    void theStyleSheetUsesTextColorsForText() {
        QFETCH(const bool, dark);
        const Theme& t = theme(dark);
        const QColor allowed[] = {t.text, t.muted,   t.faint, t.accent,
                                  t.good, t.warning, t.error, t.accentText};
        static const QRegularExpression color(QStringLiteral("[{;\\s](?:selection-)?color:\\s*([^;}]+)"));
        auto found = color.globalMatch(styleSheetOf(t, QFont()));
        int count = 0;
        while (found.hasNext()) {
            const QString name = found.next().captured(1).trimmed();
            QVERIFY2(std::ranges::find(allowed, QColor(name)) != std::end(allowed), qPrintable(name));
            ++count;
        }
        QVERIFY(count > 20);
    }

    void theRampHasOneHueAndEvenSteps_data() { themes_data(); }
    void theRampHasOneHueAndEvenSteps() {
        QFETCH(const bool, dark);
        for (const Vision& vision : kVisions) {
            double before = lab(heatColor(0, dark), vision)[0];
            for (int i = 1; i <= kSteps; ++i) {
                const QColor color = heatColor(static_cast<double>(i) / kSteps, dark);
                const double now = lab(color, vision)[0];
                QVERIFY2(dark ? now > before + 0.5 : now < before - 0.5,
                         qPrintable(QStringLiteral("%1 at %2").arg(QLatin1String(vision.name)).arg(i)));
                before = now;
                const int hue = color.hslHue();
                QVERIFY2(hue > 295 && hue < 335, qPrintable(QString::number(hue)));
            }
        }
        // The worst stands out, and even the harmless end is not the background.
        const Theme& t = theme(dark);
        for (const QColor& under : {t.canvas, t.panel, t.quantizedFill, t.inFloatFill}) {
            QVERIFY(contrast(heatColor(1, dark), under) >= 4.5);
            QVERIFY(contrast(heatColor(0.5, dark), under) >= 2.5);
        }
        // The outline of a bar, which shows its maximum length.
        QVERIFY(contrast(t.faint, t.quantizedFill) >= 3 && contrast(t.faint, t.panel) >= 3);
    }

    void rampDiffersFromStatesInEveryVision_data() { themes_data(); }
    void rampDiffersFromStatesInEveryVision() {
        QFETCH(const bool, dark);
        const Theme& t = theme(dark);
        const std::pair<const char*, QColor> states[] = {
            {"quantized", t.quantized}, {"float", t.inFloat}, {"input, output", t.io}};
        for (const Vision& vision : kVisions)
            for (const auto& [state, color] : states)
                for (int i = 0; i <= kSteps; ++i) {
                    const double position = static_cast<double>(i) / kSteps;
                    for (const QColor& shown : {heatColor(position, dark), differenceColor(position, dark)}) {
                        const double apart = difference(shown, color, vision);
                        QVERIFY2(apart > 12, qPrintable(QStringLiteral("%1 and %2 with %3: %4")
                                                            .arg(shown.name(), QLatin1String(state),
                                                                 QLatin1String(vision.name))
                                                            .arg(apart)));
                    }
                }
    }

    /// The precisions differ from each other and from the states.
    void precisionsDifferInEveryVision_data() { themes_data(); }
    void precisionsDifferInEveryVision() {
        QFETCH(const bool, dark);
        const Theme& t = theme(dark);
        constexpr std::size_t kClasses = 6;
        for (const Vision& vision : kVisions)
            for (std::size_t i = 0; i < kClasses; ++i) {
                const QColor color = precisionColor(i, dark);
                for (std::size_t k = 0; k < i; ++k)
                    QVERIFY2(difference(color, precisionColor(k, dark), vision) > 25,
                             qPrintable(QStringLiteral("%1 and %2 with %3")
                                            .arg(color.name(), precisionColor(k, dark).name(),
                                                 QLatin1String(vision.name))));
                for (const QColor& state : {t.quantized, t.inFloat, t.io})
                    QVERIFY2(difference(color, state, vision) > 12, qPrintable(color.name()));
                for (const QColor& under : {t.panel, t.quantizedFill, t.inFloatFill})
                    QVERIFY2(contrast(color, under) >= 3, qPrintable(color.name()));
            }
    }

    void betterAndWorseHaveDifferentColors_data() { themes_data(); }
    void betterAndWorseHaveDifferentColors() {
        QFETCH(const bool, dark);
        for (const Vision& vision : kVisions) {
            QVERIFY(difference(differenceColor(0, dark), differenceColor(1, dark), vision) > 25);
            QVERIFY(difference(differenceColor(0.25, dark), differenceColor(0.75, dark), vision) > 12);
            QVERIFY(difference(differenceColor(0, dark), differenceColor(0.5, dark), vision) > 25);
            QVERIFY(difference(differenceColor(1, dark), differenceColor(0.5, dark), vision) > 25);
        }
    }
};

QTEST_MAIN(PaletteTest)
#include "palette_test.moc"
