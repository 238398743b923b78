// SPDX-License-Identifier: Apache-2.0
#pragma once
// Drawings in a printed text document. A drawing higher than a page continues in the next column and then on
// the next page, and is split between boxes. Rendered as pixels, because Qt's PDF writer turns each letter of
// an SVG into a path, which takes hundreds of megabytes.

#include <QByteArray>
#include <QObject>
#include <QTextFormat>
#include <QTextObjectInterface>
#include <memory>
#include <vector>

class QSvgRenderer;

namespace quantloupe::ui {

class PaperDrawing {
  public:
    /// Of A4 across without its margins and a heading, at 96 units an inch.
    static constexpr double kWidth = 980, kHeight = 600;

    /// No pages if it is no drawing. Boxes are the SVG's rects that are less than half a page high.
    explicit PaperDrawing(const QByteArray& svg);
    PaperDrawing(PaperDrawing&& other) noexcept;
    ~PaperDrawing();

    std::size_t pages() const { return (m_cuts.size() + m_columns - 1) / m_columns; }
    QSizeF pageSize(std::size_t page) const;
    void paint(QPainter& painter, QPointF at, std::size_t page) const;

    /// Where columns begin, in units of the page, from the drawing's top.
    const std::vector<double>& cuts() const { return m_cuts; }
    double scale() const { return m_scale; }

  private:
    double end(std::size_t column) const;

    std::unique_ptr<QSvgRenderer> m_drawing;
    QSizeF m_size;  ///< all of it, on paper
    double m_scale = 1;
    std::size_t m_columns = 1;  ///< a page
    std::vector<double> m_cuts;
};

/// Paints the pages of drawings where a text document has their objects.
class PaperDrawings : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
  public:
    static constexpr int kObject = QTextFormat::UserObject + 1;

    explicit PaperDrawings(const std::vector<PaperDrawing>& drawings) : m_drawings(drawings) {}
    static QTextCharFormat format(std::size_t drawing, std::size_t page);

    QSizeF intrinsicSize(QTextDocument* document, int position, const QTextFormat& format) override;
    void drawObject(QPainter* painter, const QRectF& rect, QTextDocument* document, int position,
                    const QTextFormat& format) override;

  private:
    const std::vector<PaperDrawing>& m_drawings;
};

}  // namespace quantloupe::ui
