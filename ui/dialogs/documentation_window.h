// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pages of docs/, read from disk: nothing is loaded from the network.

#include <QTextBrowser>
#include <QWidget>
#include <filesystem>
#include <optional>

namespace quantloupe::ui {

/// The page about a widget, for example "graph.md#selecting-layers": that of the nearest parent with a page.
QString documentationOf(const QWidget* widget);
/// Sets the page about a widget and everything in it.
void setDocumentation(QWidget* widget, const char* page);
/// The folder of the pages: ../share/doc/quantloupe/docs beside the program, or `fallback`; nothing without
/// pages.
std::optional<std::filesystem::path> findDocumentation(const std::filesystem::path& fallback);

class DocumentationWindow : public QWidget {
    Q_OBJECT
  public:
    explicit DocumentationWindow(const std::filesystem::path& folder, QWidget* parent = nullptr);
    /// "window.md#history": a page, and a heading as GitHub names it.
    void open(const QString& page);
    QTextBrowser* browser() const { return m_browser; }

  private:
    void follow(const QUrl& link);
    void scrollTo(const QString& heading);

    QTextBrowser* m_browser;
    std::filesystem::path m_folder;
};

}  // namespace quantloupe::ui
