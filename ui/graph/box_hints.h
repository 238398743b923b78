// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts about the boxes on a canvas: tool tips, and the lines in a box at a high zoom.

#include <QCoreApplication>
#include <QStringList>

#include "document/document.h"
#include "graph/scale_texts.h"
#include "picture/picture.h"

namespace quantloupe::ui {

class GraphCanvas;

class BoxHints {
    Q_DECLARE_TR_FUNCTIONS(BoxHints)
  public:
    /// All must outlive this object.
    BoxHints(const Document* document, const GraphCanvas* canvas, const ScaleTexts* scales)
        : m_document(document), m_canvas(canvas), m_scales(scales) {}

    /// Returns the lines of text that the box of a layer shows at a high zoom; empty for other boxes.
    QStringList details(std::size_t box) const;
    QString toolTip(std::size_t box) const;

  private:
    QString layerTip(NodeId id, const PictureNode& node) const;
    QString groupTip(const PictureNode& node) const;
    QString metricLine(NodeId id) const;

    const Document* m_document;
    const GraphCanvas* m_canvas;
    const ScaleTexts* m_scales;
};

}  // namespace quantloupe::ui
