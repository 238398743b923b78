// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders the window for the documentation and bug reports, without user interaction or a display.

#include <QSize>
#include <QString>
#include <QStringList>

#include "window/main_window.h"

namespace quantloupe {

struct ScreenshotOptions {
    QString path;          ///< of the PNG file
    QSize size;            ///< window size; empty: default
    QStringList select;    ///< layers; empty: the one with the largest loss
    QString until;         ///< previews skipping from the first selected layer until this one
    QStringList commands;  ///< menu entries by name, run in this order as from the command palette
};

/// Saves the picture when all results are available and exits the program, with an error if that fails.
/// `opens` is false if no model is opened: then the picture shows the empty window.
void screenshotWhenReady(ui::MainWindow& window, const ScreenshotOptions& options, bool opens);

}  // namespace quantloupe
