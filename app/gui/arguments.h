// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of the window. What is opened is described by the options of quantloupe-cli
// (app/cli/options.h).

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

/// Ends the program for --help, --version, --document and wrong usage. Needs no QApplication, which would end
/// the program without a display; `argv` no longer contains Qt's own options if there is one.
Arguments readArguments(int argc, char** argv);

/// True for options that only print text.
bool onlyPrintsText(int argc, char** argv);
/// True for --screenshot without a display: it is rendered offscreen.
bool pictureWithoutDisplay(int argc, char** argv);

}  // namespace quantloupe
