// SPDX-License-Identifier: Apache-2.0
#include "style/icons.h"

#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace quantloupe::ui {

namespace {

/// The contents of a 16 by 16 SVG; strokes have the requested color.
const char* pathOf(Symbol symbol) {
    switch (symbol) {
        case Symbol::Close:
        case Symbol::Dismiss:
            return "<path d='M4 4 12 12M12 4 4 12'/>";
        case Symbol::Folder:
            return "<path d='M2 12.5V4h4l1.5 1.8H14v6.7z'/>";
        case Symbol::Open:
            return "<path d='M4 2h5l3 3v9H4z'/><path d='M9 2v3h3'/>";
        case Symbol::Tail:
            return "<path d='M2 8h8M7 5l3 3-3 3M13 4v8'/>";
        case Symbol::Range:
            return "<path d='M8 2.5v11M5.5 5 8 2.5 10.5 5M5.5 11 8 13.5 10.5 11'/>";
        case Symbol::Downstream:
            return "<path d='M4 3h8M8 3v10M5 10l3 3 3-3'/>";
        case Symbol::Type:
            return "<rect x='2.5' y='2.5' width='4.5' height='4.5'/>"
                   "<rect x='9' y='2.5' width='4.5' height='4.5'/>"
                   "<rect x='2.5' y='9' width='4.5' height='4.5'/>"
                   "<rect x='9' y='9' width='4.5' height='4.5'/>";
        case Symbol::Pattern:
            return "<path d='M8 2.5v7M5 4.2l6 3.6M11 4.2 5 7.8M3.5 13h.5'/>";
        case Symbol::Node:
            return "<circle cx='8' cy='8' r='4'/>";
        case Symbol::Pin:
            return "<path d='M3 8.5 6.5 12 13 4.5'/>";
        case Symbol::Fit:
            return "<path d='M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10'/>";
        case Symbol::App:
            return "<circle cx='7' cy='7' r='4.5'/><path d='M10.3 10.3 14 14M5 7h1.5V5.5h2V8.5H5.5'/>";
    }
    return "";
}

QByteArray drawing(Symbol symbol, const QColor& color) {
    return QByteArray("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><g fill='none' stroke='") +
           color.name().toLatin1() + "' stroke-width='1.4' stroke-linecap='round' stroke-linejoin='round'>" +
           pathOf(symbol) + "</g></svg>";
}

class SymbolEngine : public QIconEngine {
  public:
    SymbolEngine(Symbol symbol, const QColor& color) : m_symbol(symbol), m_color(color) {}
    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
        painter->save();
        if (mode == QIcon::Disabled) painter->setOpacity(0.4);
        QSvgRenderer(drawing(m_symbol, m_color)).render(painter, rect);
        painter->restore();
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap result(size);
        result.fill(Qt::transparent);
        QPainter painter(&result);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return result;
    }
    QIconEngine* clone() const override { return new SymbolEngine(m_symbol, m_color); }

  private:
    Symbol m_symbol;
    QColor m_color;
};

}  // namespace

QIcon icon(Symbol symbol, const QColor& color) { return QIcon(new SymbolEngine(symbol, color)); }

QIcon applicationIcon() {
    QIcon icon;
    for (const int size : {16, 24, 32, 48, 64, 128, 256})
        icon.addFile(QStringLiteral(":/ui/quantloupe-%1.png").arg(size), QSize(size, size));
    return icon;
}

QPixmap pixmap(Symbol symbol, const QColor& color, int logicalSize, qreal pixelRatio) {
    const int pixels = qRound(logicalSize * pixelRatio);
    QPixmap result(pixels, pixels);
    result.fill(Qt::transparent);
    QPainter painter(&result);
    QSvgRenderer(drawing(symbol, color)).render(&painter, QRectF(0, 0, pixels, pixels));
    painter.end();
    result.setDevicePixelRatio(pixelRatio);
    return result;
}

}  // namespace quantloupe::ui
