// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shows the pages of docs/, which are read from disk. Nothing is loaded from the network.

#include <QTextBrowser>
#include <QWidget>
#include <filesystem>
#include <optional>

namespace quantloupe::ui {

/// Returns the page about a widget or its nearest parent that has one, for example
/// "graph.md#selecting-layers".
QString documentationOf(const QWidget* widget);
/// Sets the page about a widget and its children.
void setDocumentation(QWidget* widget, const char* page);
/// Returns the folder of the pages: ../share/doc/quantloupe/docs relative to the program, or `fallback`;
/// empty if neither contains pages.
std::optional<std::filesystem::path> findDocumentation(const std::filesystem::path& fallback);

class DocumentationWindow : public QWidget {
    Q_OBJECT
  public:
    explicit DocumentationWindow(const std::filesystem::path& folder, QWidget* parent = nullptr);
    /// Opens a page at a heading, which is named as on GitHub: "window.md#history".
    void open(const QString& page);

  private:
    void follow(const QUrl& link);
    void scrollTo(const QString& heading);

    QTextBrowser* m_browser;
    std::filesystem::path m_folder;
};

}  // namespace quantloupe::ui
