// SPDX-License-Identifier: Apache-2.0
#pragma once
// The theme that the user chose, stored in the settings.

namespace quantloupe::ui {

enum class ThemeChoice { System, Light, Dark };

ThemeChoice chosenTheme();
void chooseTheme(ThemeChoice choice);
/// Sets the application's palette; all windows follow. System: the desktop's palette.
void applyThemeChoice(ThemeChoice choice);

}  // namespace quantloupe::ui
