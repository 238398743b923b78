// SPDX-License-Identifier: Apache-2.0
#include "panels/range_view.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "document/metric.h"
#include "style/elided_name.h"
#include "style/theme.h"
#include "style/words.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

/// Paints the visible rows.
class RangeStrips : public QWidget {
  public:
    RangeStrips(RangeView* view, QSortFilterProxyModel* rows) : m_view(view), m_rows(rows) {
        setMouseTracking(true);
    }
    double rowHeight() const { return fontMetrics().height() * 1.7; }
    void updateSize() {
        setMinimumHeight(qRound(rowHeight() * (m_rows->rowCount() + 1)));
        update();
    }
    NodeId nodeAt(int row) const {
        if (row < 0 || row >= m_rows->rowCount()) return {};
        return NodeId(static_cast<std::size_t>(m_rows->mapToSource(m_rows->index(row, 0)).row()));
    }

  protected:
    void paintEvent(QPaintEvent* event) override {
        const Theme& colors = themeOf(palette());
        QPainter painter(this);
        painter.setOpacity(m_view->stale() ? 0.6 : 1);
        const int first = std::max(0, static_cast<int>(event->rect().top() / rowHeight()) - 1);
        const int last =
            std::min(m_rows->rowCount() - 1, static_cast<int>(event->rect().bottom() / rowHeight()));
        paintHead(painter, colors);
        for (int row = first; row <= last; ++row) paintRow(painter, colors, row);
    }
    void mouseReleaseEvent(QMouseEvent* event) override {
        const NodeId node = nodeAt(rowAt(event->position().y()));
        if (node.valid()) m_view->document()->select(node);
    }
    bool event(QEvent* event) override {
        if (event->type() != QEvent::ToolTip) return QWidget::event(event);
        const auto* help = static_cast<QHelpEvent*>(event);
        const NodeId node = nodeAt(rowAt(help->pos().y()));
        const LayerRanges* ranges = node.valid() ? m_view->rangesOf(node) : nullptr;
        if (!ranges) {
            QToolTip::hideText();
            return true;
        }
        QString text;
        if (ranges->weight)
            text = Words::tr("weights: step %1, representable range %2 to %3\n")
                       .arg(ranges->weight->step, 0, 'g', 3)
                       .arg(ranges->weight->low, 0, 'g', 3)
                       .arg(ranges->weight->high, 0, 'g', 3);
        text += Words::tr("output: observed range %1 to %2; step %3, representable range %4 to %5")
                    .arg(ranges->outputMin, 0, 'g', 3)
                    .arg(ranges->outputMax, 0, 'g', 3)
                    .arg(ranges->output.step, 0, 'g', 3)
                    .arg(ranges->output.low, 0, 'g', 3)
                    .arg(ranges->output.high, 0, 'g', 3);
        QToolTip::showText(help->globalPos(), withMinusSigns(text), this);
        return true;
    }

  private:
    int rowAt(double y) const { return static_cast<int>(std::floor(y / rowHeight())) - 1; }
    double left() const { return fontMetrics().height() * 17.0; }
    /// Weights at the left, outputs at the right.
    QRectF strip(int row, bool output) const {
        const double gap = fontMetrics().height(), width = (this->width() - left() - 2 * gap) / 2;
        return {left() + (output ? width + gap : 0), rowHeight() * (row + 1) + rowHeight() * 0.15, width,
                rowHeight() * 0.7};
    }
    static double placeOf(double magnitude, const QRectF& box) {
        if (!(magnitude > 0)) return box.left();
        const double power =
            std::clamp(std::log2(magnitude) - kLeastPower, 0.0, static_cast<double>(kPowers));
        return box.left() + power / static_cast<double>(kPowers) * box.width();
    }

    void paintHead(QPainter& painter, const Theme& colors) const {
        painter.setPen(colors.muted);
        for (const bool output : {false, true}) {
            const QRectF box = strip(-1, output);
            painter.setFont(font());
            painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                             output ? Words::tr("output") : Words::tr("weights"));
            painter.setFont(scaledFont(numberFont(font()), 0.8));
            static const std::pair<int, QString> kMarks[] = {{-8, QStringLiteral("2\u207b\u2078")},
                                                             {0, QStringLiteral("1")},
                                                             {8, QStringLiteral("2\u2078")}};
            for (const auto& [power, text] : kMarks) {
                const double x = placeOf(std::ldexp(1.0, power), box);
                painter.drawText(QRectF(x - 30, box.top(), 60, box.height()),
                                 Qt::AlignHCenter | Qt::AlignBottom, text);
            }
        }
    }

    /// Hatches the values that become 0, and those that are clipped.
    void paintLost(QPainter& painter, const Theme& colors, const RangeStrip& strip, const QRectF& box) const {
        const double zero = placeOf(strip.step / 2, box),
                     end = placeOf(std::max(std::abs(strip.low), std::abs(strip.high)), box);
        QColor lost = colors.dark ? colors.window : colors.hover;
        painter.fillRect(QRectF(box.left(), box.top(), zero - box.left(), box.height()),
                         QBrush(colors.edge, Qt::BDiagPattern));
        painter.fillRect(QRectF(end, box.top(), box.right() - end, box.height()),
                         QBrush(colors.edge, Qt::BDiagPattern));
        lost.setAlpha(120);
        painter.fillRect(QRectF(box.left(), box.top(), zero - box.left(), box.height()), lost);
        painter.fillRect(QRectF(end, box.top(), box.right() - end, box.height()), lost);
    }

    void paintRow(QPainter& painter, const Theme& colors, int row) const {
        const NodeId node = nodeAt(row);
        const LayerResult* layer = m_view->document()->layer(node);
        if (!layer) return;
        if (m_view->document()->isSelected(node))
            painter.fillRect(QRectF(0, rowHeight() * (row + 1), width(), rowHeight()), colors.accentSoft);
        const double unit = fontMetrics().height();
        painter.setFont(font());
        painter.setPen(colors.text);
        painter.drawText(
            QRectF(unit, rowHeight() * (row + 1), left() - unit * 2, rowHeight()),
            Qt::AlignLeft | Qt::AlignVCenter,
            elidedName(m_view->document()->layerName(node), QFontMetricsF(font()), left() - unit * 2));
        const LayerRanges* ranges = m_view->rangesOf(node);
        if (!ranges) return;
        const double bar = strip(row, false).width() / static_cast<double>(kPowers);
        if (ranges->weight) {
            const QRectF box = strip(row, false);
            painter.fillRect(box, colors.soft);
            const auto most = *std::ranges::max_element(ranges->weights);
            for (std::size_t p = 0; p < kPowers; ++p) {
                if (ranges->weights[p] == 0) continue;
                const double height = std::log1p(static_cast<double>(ranges->weights[p])) /
                                      std::log1p(static_cast<double>(most)) * box.height();
                painter.fillRect(QRectF(box.left() + static_cast<double>(p) * bar, box.bottom() - height,
                                        std::max(1.0, bar - 1), height),
                                 colors.accent);
            }
            paintLost(painter, colors, *ranges->weight, box);
        }
        const QRectF box = strip(row, true);
        painter.fillRect(box, colors.soft);
        const double seen = std::max(std::abs(ranges->outputMin), std::abs(ranges->outputMax));
        const double from = placeOf(ranges->output.step / 2, box), to = placeOf(seen, box);
        painter.fillRect(
            QRectF(from, box.top() + box.height() * 0.25, std::max(1.0, to - from), box.height() * 0.5),
            colors.quantized);
        paintLost(painter, colors, ranges->output, box);
    }

    RangeView* m_view;
    QSortFilterProxyModel* m_rows;
};

RangeView::RangeView(Document* document, QSortFilterProxyModel* rows, QWidget* parent)
    : QueryPanel(document, QuerySlot::Ranges, parent) {
    m_strips = new RangeStrips(this, rows);
    m_strips->setObjectName(QStringLiteral("panelBody"));
    auto* scroll = new PanelScrollArea;
    scroll->setWidget(m_strips);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(scroll);
    const auto update = [this] { m_strips->updateSize(); };
    connect(rows, &QAbstractItemModel::modelReset, this, update);
    connect(rows, &QAbstractItemModel::rowsInserted, this, update);
    connect(rows, &QAbstractItemModel::rowsRemoved, this, update);
    connect(rows, &QAbstractItemModel::layoutChanged, this, update);
    connect(document, &Document::selectionChanged, m_strips, qOverload<>(&QWidget::update));
}

const LayerRanges* RangeView::rangesOf(NodeId node) const {
    const auto found = std::ranges::find(m_ranges, node, &LayerRanges::node);
    return found == m_ranges.end() ? nullptr : &*found;
}

EvaluationJob::Query RangeView::makeQuery(const QuantizationConfig& config) {
    return [this, config](Session& session, const CancelToken& cancel) -> std::function<void()> {
        return [this, ranges = rangeOverview(session, config, cancel)] { m_ranges = ranges; };
    };
}

void RangeView::showAnswer(const QString& refusal) {
    if (!answered()) m_ranges.clear();
    if (!refusal.isEmpty()) document()->say(MessageKind::Error, sentence(refusal));
    m_strips->updateSize();
}

}  // namespace quantloupe::ui
