// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bookmarked views of the graph: position and zoom, metric, collapsed blocks, selection. They are saved in
// the project.

#include <QJsonArray>
#include <QMenu>
#include <QObject>
#include <vector>

#include "document/document.h"
#include "graph/graph_canvas.h"

namespace quantloupe::ui {

/// A bookmarked view. Refers to layers by name, so that it stays valid after a new layout and for a reloaded
/// model.
struct Bookmark {
    QString name;
    Metric metric = Metric::LocalQs;
    double zoom = 1;
    QString at;     ///< layer nearest to the middle of the view
    QPointF aside;  ///< offset from the middle of its box to the middle of the view, in scene units
    std::vector<std::string> collapsed, opened, selected;
    std::string current;
    Arrangement arrangement = Arrangement::Down;
    bool tidy = false;
    bool operator==(const Bookmark&) const = default;
};

class Bookmarks : public QObject {
    Q_OBJECT
  public:
    static constexpr std::size_t kWithKey = 9;  ///< Ctrl+1 to Ctrl+9

    Bookmarks(Document* document, GraphCanvas* canvas, QObject* parent = nullptr);

    /// Adds the submenu and the entry that creates a bookmark.
    void addTo(QMenu* menu);
    const std::vector<Bookmark>& all() const { return m_bookmarks; }
    /// Adds the current view; replaces a bookmark with the same name.
    void add(const QString& name);
    void remove(std::size_t index);
    void go(std::size_t index);

    QJsonArray toJson() const;
    /// Ignores entries that are not bookmarks.
    void fromJson(const QJsonArray& json);

  private:
    void askForName();
    void fillMenu();
    void arrive();
    Bookmark seen(const QString& name) const;
    QString proposal() const;

    Document* m_document;
    GraphCanvas* m_canvas;
    QMenu* m_menu = nullptr;
    QAction* m_add = nullptr;
    std::vector<Bookmark> m_bookmarks;
    std::optional<Bookmark> m_going;  ///< bookmark to show after the graph is laid out
};

}  // namespace quantloupe::ui
