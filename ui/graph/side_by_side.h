// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shows the graph twice, on the left with the results of the reference configuration. Both sides share
// position, zoom, color scale and selection. The configuration and the result are shown above each side.

#include <QFrame>
#include <QObject>

#include "graph/graph_canvas.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class SideBySide : public QObject {
    Q_OBJECT
  public:
    /// Creates its widgets in `view`, which contains the canvas and calls place().
    SideBySide(Document* document, GraphCanvas* canvas, QWidget* view);

    bool shown() const { return m_other != nullptr; }
    void setShown(bool shown);
    GraphCanvas* other() const { return m_other; }  ///< null while hidden

    /// Divides the area. `top` is the position of the names, `margins` the space of overlays at the borders
    /// of the area.
    void place(const QRect& area, int top, const QMarginsF& margins);
    int height() const;  ///< height of the names; 0 while hidden
    QStringList names() const { return {m_nameThen->fullText(), m_nameNow->fullText()}; }

  Q_SIGNALS:
    void shownChanged(bool shown);
    void described();  ///< the names and their widths have changed

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
