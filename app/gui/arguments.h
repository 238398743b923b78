// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of the window.

#include <QCoreApplication>
#include <QString>

#include "screenshot.h"
#include "window/main_window.h"

namespace quantloupe {

struct Arguments {
    ui::OpenRequest request;
    bool demo = false;
    QString theme;                      ///< "system", "light", "dark" or empty
    std::filesystem::path savedConfig;  ///< kept up to date with the configuration; empty: none
    ScreenshotOptions screenshot;
};

/// Ends the program for --help, --version, --document and wrong usage.
Arguments readArguments(const QCoreApplication& application);

/// True for options that only print text. They must work without a display, where creating a QApplication
/// ends the program.
bool onlyPrintsText(int argc, char** argv);
/// True for --screenshot without a display: it is rendered offscreen.
bool pictureWithoutDisplay(int argc, char** argv);

}  // namespace quantloupe
