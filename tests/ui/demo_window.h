// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by tests of dialogs on the demo.

#include "base/atomic_file.h"
#include "support/demo.h"
#include "window_test_support.h"

namespace quantloupe::test {

/// A window on the demo. Tests inherit from it and call openDemoWindow() before the first test.
class DemoWindow {
  protected:
    /// Returns false if the demo could not be evaluated. Nothing is evaluated while the window is idle.
    bool openDemoWindow() {
        keepSettingsIn(m_folder);
        QSettings().setValue(QStringLiteral("measureWhileIdle"), false);
        m_window =
            std::make_unique<ui::MainWindow>(std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "resources");
        m_window->setAskBeforeClosing(false);
        if (qEnvironmentVariable("QUANTLOUPE_SCREENSHOTS_THEME") == QLatin1String("dark"))
            QApplication::setPalette(ui::paletteOf(ui::theme(true)));
        m_window->resize(1280, 860);
        m_window->show();
        return m_window->openDemo() && waitForEvaluation();
    }
    ui::Document& document() { return *m_window->document(); }
    bool waitForEvaluation() {
        return QTest::qWaitFor(
            [&] {
                return !document().evaluating() && document().evaluation() &&
                       document().evaluation()->complete;
            },
            1800000);
    }
    std::filesystem::path file(const char* name) const {
        return m_folder.filePath(QString::fromLatin1(name)).toStdString();
    }
    std::filesystem::path written(const char* name, const std::string& text) {
        writeFileAtomically(file(name), text);
        return file(name);
    }
    /// Writes a shell script that can be run, and returns its path.
    QString writtenProgram(const char* name, const std::string& commands) {
        const std::filesystem::path path = written(name, "#!/bin/sh\n" + commands);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return QString::fromStdString(path.string());
    }
    /// Saves screenshots of the window to the folder QUANTLOUPE_SCREENSHOTS, if set, for manual review.
    static void shoot(QWidget* widget, const char* name) {
        const QString folder = qEnvironmentVariable("QUANTLOUPE_SCREENSHOTS");
        if (folder.isEmpty()) return;
        QTest::qWait(100);
        widget->grab().save(folder + QLatin1Char('/') + QLatin1String(name) + QLatin1String(".png"));
    }

    QTemporaryDir m_folder;
    std::unique_ptr<ui::MainWindow> m_window;
};

}  // namespace quantloupe::test
