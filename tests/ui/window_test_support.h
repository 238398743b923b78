// SPDX-License-Identifier: Apache-2.0
#pragma once
// A window on a model, with separate settings.

#include "ui_test_support.h"
#include "window/main_window.h"

namespace quantloupe::test {

/// Shows the window with the model's graph laid out and focused; returns null if that fails.
inline std::unique_ptr<ui::MainWindow> openWindow(const std::filesystem::path& model, QSize size) {
    auto window = std::make_unique<ui::MainWindow>();
    window->setAskBeforeClosing(false);
    window->resize(size);
    window->show();
    ui::GraphCanvas* canvas = window->graphView()->canvas();
    if (!openAndWait(*window->document(), model) ||
        !QTest::qWaitFor([&] { return canvas->picture() != nullptr; }, 20000))
        return nullptr;
    canvas->setFocus();
    return window;
}

/// Returns the action with this text, without "&" and "\u2026"; null if there is none.
inline QAction* actionNamed(const QList<QAction*>& actions, const char* name) {
    for (QAction* action : actions)
        if (action->text().remove(QLatin1Char('&')).remove(QChar(0x2026)) == QLatin1String(name))
            return action;
    return nullptr;
}

}  // namespace quantloupe::test
