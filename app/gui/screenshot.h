// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pictures of the window for README, documentation and reports of bugs, made without a person and without a screen.

#include <QSize>
#include <QString>
#include <QStringList>

#include "main_window.h"

namespace quantloupe {

struct ScreenshotOptions {
    QString path;          ///< of the PNG file
    QSize size;            ///< of the window; empty: as it opens
    QStringList select;    ///< layers; none: the one that suffers most
    QString until;         ///< shows what "skip until" this layer would cover, from the first that is selected
    QStringList commands;  ///< names of menu entries, done one after the other, as the command palette does
};

/// Ends the program: with the picture once everything is in, or with the error. Where nothing is opened, of the empty window.
void screenshotWhenReady(ui::MainWindow& window, const ScreenshotOptions& options, bool opens);

}  // namespace quantloupe
