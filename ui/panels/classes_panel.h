// SPDX-License-Identifier: Apache-2.0
#pragma once
// The results of each class in the float and the quantized network, and the confusion matrix of a classifier.
// A click on a cell of the matrix shows its images.

#include <QScrollArea>
#include <QTableWidget>
#include <array>

#include "analysis/class_results.h"
#include "document/document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

/// Labels (rows) by predicted classes (columns), with the names of up to 30 classes. The color of a cell is
/// its share of the row; new confusions of the quantized network are outlined.
class ConfusionView : public QWidget {
    Q_OBJECT
  public:
    explicit ConfusionView(QWidget* parent = nullptr);
    /// `things`: what the samples are called, "images" or "samples".
    void setCells(std::vector<ConfusionCell> cells, const std::vector<QString>& names, const QString& things);
    /// Shortens the names, so that a small panel shows more cells.
    void setCompact(bool compact);
    /// Returns the cell of these classes; null if it is empty.
    const ConfusionCell* cell(std::int32_t label, std::int32_t predicted) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  Q_SIGNALS:
    void cellClicked(int label, int predicted);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

  private:
    int side() const;
    bool isNamed() const { return m_names.size() <= 30; }  ///< otherwise there is no room for names
    /// Room for the names of rows and columns, where the cells begin.
    QPoint origin() const;
    void paintNames(QPainter& painter) const;
    const ConfusionCell* cellAt(QPointF at) const;
    QString describe(const ConfusionCell& cell) const;

    std::vector<ConfusionCell> m_cells;
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> m_places;
    std::map<std::int32_t, std::size_t> m_rowSums;
    std::vector<QString> m_names;
    QString m_things;
    bool m_compact = false;
};

class ClassesPanel : public QWidget {
    Q_OBJECT
  public:
    explicit ClassesPanel(Document* document, QWidget* parent = nullptr);
    QTableWidget* table() const { return m_table; }
    ConfusionView* confusion() const { return m_confusion; }
    /// Enough for the narrow form, to which the table changes when there is less than it needs now.
    QSize minimumSizeHint() const override {
        return {fontMetrics().height() * 20, fontMetrics().height() * 4};
    }

  Q_SIGNALS:
    /// Positions in Evaluation::classes.
    void samplesChosen(QString title, std::vector<std::size_t> samples);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refresh();
    void fitContent();

    Document* m_document;
    ElidedLabel* m_summary;
    QTableWidget* m_table;
    int m_longestName = 0;  ///< width of the longest name; the table's size hints cover only visible rows
    std::array<int, 5> m_widths{};  ///< of the columns with numbers, also of those that are hidden
    QScrollArea* m_scroll;
    ConfusionView* m_confusion;
    EvaluationPtr m_shown;
};

}  // namespace quantloupe::ui
