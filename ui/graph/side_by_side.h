// SPDX-License-Identifier: Apache-2.0
#pragma once
// The graph twice, at the left with the results of the reference configuration: both show the same place at
// the same zoom, on one scale of colors, with one selection. Each has its configuration and result written
// over it.

#include <QFrame>
#include <QObject>

#include "graph/graph_canvas.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class SideBySide : public QObject {
    Q_OBJECT
  public:
    /// Makes its widgets in `view`, which holds the canvas and says where they go.
    SideBySide(Document* document, GraphCanvas* canvas, QWidget* view);

    bool shown() const { return m_other != nullptr; }
    void setShown(bool shown);
    GraphCanvas* other() const { return m_other; }  ///< null while it is not shown

    /// Divides the area; `top` is where the names go, `margins` the space that overlays take at the borders
    /// of the area.
    void place(const QRect& area, int top, const QMarginsF& margins);
    int height() const;  ///< height of the names; 0 while hidden
    QStringList names() const { return {m_nameThen->fullText(), m_nameNow->fullText()}; }

  Q_SIGNALS:
    void shownChanged(bool shown);
    void described();  ///< the names have changed, and with them their width

  private:
    void follow(const GraphCanvas* from, GraphCanvas* to);
    void describe();
    QFrame* makeTag(ElidedLabel*& label);

    Document* m_document;
    GraphCanvas* m_canvas;
    GraphCanvas* m_other = nullptr;
    QWidget* m_view;
    QFrame *m_line, *m_tagThen, *m_tagNow;
    ElidedLabel *m_nameThen, *m_nameNow;
    bool m_following = false;
};

}  // namespace quantloupe::ui
