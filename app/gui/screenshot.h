// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders the window for the documentation, bug reports and tests, without user interaction or a display.

#include <QSize>
#include <QString>
#include <QStringList>
#include <chrono>

#include "window/main_window.h"

namespace quantloupe {

struct ScreenshotOptions {
    QString path;          ///< of the PNG file
    QSize size;            ///< window size; empty: default
    QStringList select;    ///< layers; empty: the one with the largest loss
    QString until;         ///< previews skipping from the first selected layer until this one
    QStringList commands;  ///< menu entries by name, run in this order as from the command palette
    std::chrono::milliseconds patience{600'000};  ///< time without progress after which it fails
};

/// Saves the picture when everything that the window shows is available, and exits the program, with an error
/// if that fails. Call it before a model is opened. The same input gives the same picture: durations are
/// omitted, and nothing is measured in the background unless a command turns it on.
void screenshotWhenReady(ui::MainWindow& window, const ScreenshotOptions& options);

}  // namespace quantloupe
