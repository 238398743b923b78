// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Evaluation menu: evaluating, pausing, improving the accuracy, and latency.

#include <QMainWindow>
#include <QObject>

#include "document/document.h"
#include "graph/graph_gestures.h"
#include "panels/message_bar.h"
#include "panels/summary_bar.h"
#include "window/demo_tour.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

class LatencyDialog;
class MetricProgramDialog;

class EvaluationCommands : public QObject {
    Q_OBJECT
  public:
    /// Escape ends the tour or a gesture before it stops the evaluation.
    EvaluationCommands(Document* document, MessageBar* message, SummaryBar* summary, GraphGestures* gestures,
                       DemoTour* tour, ModelActions* modelActions, QMainWindow* window);

  Q_SIGNALS:
    /// The user wants to see the panel that improves the accuracy.
    void improveRequested();
    void searchRequested();

  private:
    void addRunning(QMenu* menu, ModelActions* modelActions);
    void addImproving(QMenu* menu, SummaryBar* summary, ModelActions* modelActions);
    void addLatency(QMenu* menu, ModelActions* modelActions);
    void cancel();
    LatencyDialog* showLatency();

    Document* m_document;
    MessageBar* m_message;
    GraphGestures* m_gestures;
    DemoTour* m_tour;
    QWidget* m_window;
    LatencyDialog* m_latency = nullptr;  ///< created on first use, as the next one
    MetricProgramDialog* m_metricProgram = nullptr;
};

}  // namespace quantloupe::ui
