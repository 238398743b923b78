// SPDX-License-Identifier: Apache-2.0
#pragma once
// Drawings in a printed text document. A drawing that is higher than a page is split between boxes and
// continues in the next column and then on the next page. It is rendered as pixels, because Qt's PDF writer
// converts each letter of an SVG into a path, which takes hundreds of megabytes.

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
    /// The area of an A4 page in landscape format without margins and a heading, at 96 units per inch.
    static constexpr double kWidth = 980, kHeight = 600;

    /// Reads an SVG; without pages if it is not a drawing. Boxes are the rects of the SVG that are less than
    /// half a page high.
    explicit PaperDrawing(const QByteArray& svg);
    PaperDrawing(PaperDrawing&& other) noexcept;
    ~PaperDrawing();

    std::size_t pages() const { return (m_cuts.size() + m_columns - 1) / m_columns; }
    QSizeF pageSize(std::size_t page) const;
    void paint(QPainter& painter, QPointF at, std::size_t page) const;

    /// Start positions of the columns, in page units from the top of the drawing.
    const std::vector<double>& cuts() const { return m_cuts; }
    double scale() const { return m_scale; }

  private:
    double end(std::size_t column) const;

    std::unique_ptr<QSvgRenderer> m_drawing;
    QSizeF m_size;  ///< size of the whole drawing on paper
    double m_scale = 1;
    std::size_t m_columns = 1;  ///< columns per page
    std::vector<double> m_cuts;
};

/// Paints the pages of drawings at the positions of their objects in a text document.
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
