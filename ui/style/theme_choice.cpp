// SPDX-License-Identifier: Apache-2.0
#include "style/theme_choice.h"

#include <QApplication>
#include <QSettings>

#include "style/theme.h"

namespace quantloupe::ui {

namespace {

const QString kThemeKey = QStringLiteral("theme");
const QString kLight = QStringLiteral("light"), kDark = QStringLiteral("dark");

}  // namespace

ThemeChoice chosenTheme() {
    const QString text = QSettings().value(kThemeKey).toString();
    return text == kLight ? ThemeChoice::Light : text == kDark ? ThemeChoice::Dark : ThemeChoice::System;
}

void chooseTheme(ThemeChoice choice) {
    if (choice == ThemeChoice::System)
        QSettings().remove(kThemeKey);
    else
        QSettings().setValue(kThemeKey, choice == ThemeChoice::Dark ? kDark : kLight);
    applyThemeChoice(choice);
}

void applyThemeChoice(ThemeChoice choice) {
    QApplication::setPalette(choice == ThemeChoice::System ? QPalette()
                                                           : paletteOf(theme(choice == ThemeChoice::Dark)));
}

}  // namespace quantloupe::ui
