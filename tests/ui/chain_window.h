// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by tests of a window on the small network of ui_test_support.h.

#include "window_test_support.h"

namespace quantloupe::test {

/// The window, with settings of its own. Tests inherit from it and call openChain() before each test.
class ChainWindow {
  protected:
    /// Clears the settings, writes the model and opens it; returns false if that fails.
    bool openChain() {
        keepSettingsIn(m_folder);
        QSettings().clear();
        m_path = writeModel(m_folder);
        m_window = openWindow(m_path, {1300, 850});
        return m_window != nullptr;
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_path;
    std::unique_ptr<ui::MainWindow> m_window;
};

}  // namespace quantloupe::test
