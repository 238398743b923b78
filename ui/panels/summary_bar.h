// SPDX-License-Identifier: Apache-2.0
#pragma once
// The summary bar: float and quantized accuracy, their difference and its confidence interval, what stays in
// float, the latency if there is a profile, the user's metric if a program computes it, and undo, redo,
// export.

#include <QFrame>
#include <QLabel>
#include <QPushButton>

#include "document/document.h"

namespace quantloupe::ui {

class SummaryBar : public QFrame {
    Q_OBJECT
  public:
    explicit SummaryBar(Document* document, QWidget* parent = nullptr);
    QPushButton* undoButton() const { return m_undo; }
    QPushButton* redoButton() const { return m_redo; }
    QPushButton* improveButton() const { return m_improve; }
    QPushButton* exportButton() const { return m_export; }

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refresh();
    void refreshLatency();
    void refreshMetric();
    void fit();

    Document* m_document;
    QLabel *m_floatValue, *m_floatNote, *m_value, *m_note, *m_interval, *m_difference, *m_baseline, *m_status;
    QLabel *m_counts, *m_countsNote, *m_macs, *m_latency, *m_latencyNote, *m_metric, *m_metricNote;
    QWidget *m_layersPart, *m_macsPart, *m_latencyPart, *m_metricPart;
    QPushButton *m_undo, *m_redo, *m_improve, *m_export;
};

}  // namespace quantloupe::ui
