// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mouse, wheel, pinch and keys on the canvas. Drag or wheel pans, Ctrl+wheel or pinch zooms to the cursor; a
// click selects, Ctrl adds to the selection, Shift selects all layers on any path from the current layer,
// Shift+drag draws a rubber band; arrow keys follow the edges, a double click centers.

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QObject>
#include <QWheelEvent>
#include <optional>

#include "document/document.h"
#include "graph/canvas_selection.h"
#include "graph/canvas_view.h"
#include "graph/until_choice.h"

namespace quantloupe::ui {

class CanvasInput : public QObject {
    Q_OBJECT
  public:
    /// `widget`: the canvas. The other objects must outlive this one.
    CanvasInput(Document* document, const ShownPicture* shown, CanvasView* view, CanvasSelection* selection,
                UntilChoice* until, QWidget* widget);

    void press(const QMouseEvent* event);
    void move(const QMouseEvent* event);
    void release(const QMouseEvent* event);
    void doubleClick(const QMouseEvent* event);
    void wheel(QWheelEvent* event);
    void contextMenu(const QContextMenuEvent* event);
    void leave();
    bool zoomGesture(QEvent* event);  ///< returns false if the event is not a zoom gesture
    bool key(QKeyEvent* event);       ///< returns false if the key has no meaning here
    /// Updates what is under the mouse after the graph has moved.
    void hoverAgain();

  Q_SIGNALS:
    /// The mouse is over this box; empty: over none, or the keyboard is used.
    void hovered(std::optional<std::size_t> box);
    void bandChanged();
    void toggleRequested();
    void menuRequested(QPoint global);
    void foldRequested(std::size_t group, bool collapse);

  private:
    enum class Drag { None, Click, Pan, Band };

    void select(std::size_t box, Qt::KeyboardModifiers modifiers);
    void enter(Qt::KeyboardModifiers modifiers);
    void walk(int key);

    Document* m_document;
    const ShownPicture* m_shown;
    CanvasView* m_view;
    CanvasSelection* m_selection;
    UntilChoice* m_until;
    QWidget* m_widget;
    Drag m_drag = Drag::None;
    QPointF m_pressed, m_last;
    std::optional<QPointF> m_pointer;  ///< position of the mouse, until the keyboard is used
};

}  // namespace quantloupe::ui
