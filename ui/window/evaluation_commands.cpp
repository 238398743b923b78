// SPDX-License-Identifier: Apache-2.0
#include "window/evaluation_commands.h"

#include "dialogs/latency_dialog.h"
#include "dialogs/metric_program_dialog.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

EvaluationCommands::EvaluationCommands(Document* document, MessageBar* message, SummaryBar* summary,
                                       GraphGestures* gestures, DemoTour* tour, ModelActions* modelActions,
                                       QMainWindow* window)
    : QObject(window),
      m_document(document),
      m_message(message),
      m_gestures(gestures),
      m_tour(tour),
      m_window(window) {
    QMenu* menu = window->menuBar()->addMenu(tr("Eval&uation"));
    addRunning(menu, modelActions);
    menu->addSeparator();
    addImproving(menu, summary, modelActions);
    menu->addSeparator();
    addLatency(menu, modelActions);
}

void EvaluationCommands::addRunning(QMenu* menu, ModelActions* modelActions) {
    modelActions->add(addCommand(menu, tr("&Evaluate Again"), QKeySequence(Qt::Key_F5), {},
                                 [this] { m_document->evaluate(); }));
    QAction* pause = modelActions->add(menu->addAction(tr("&Pause")));
    pause->setShortcut(keySequence("P"));
    pause->setToolTip(tr("Pauses all evaluations, also those in the background. No results are lost."));
    pause->setCheckable(true);
    connect(pause, &QAction::triggered, m_document->job(), &EvaluationJob::setPaused);
    connect(m_document->job(), &EvaluationJob::pausedChanged, pause, &QAction::setChecked);
    modelActions->add(addCommand(menu, tr("&Cancel"), QKeySequence(Qt::Key_Escape),
                                 tr("Stops the evaluation and the exports"), [this] { cancel(); }));
    QAction* manual = menu->addAction(tr("&Manual Evaluation"));
    manual->setCheckable(true);
    manual->setShortcut(keySequence("Ctrl+Shift+H"));
    manual->setToolTip(tr("Edits are not evaluated until you press F5 or turn this off"));
    connect(manual, &QAction::toggled, m_document, &Document::setManualEvaluation);
    connect(m_document, &Document::manualEvaluationChanged, manual,
            [this, manual] { manual->setChecked(m_document->manualEvaluation()); });
}

void EvaluationCommands::cancel() {
    if (m_tour->stop() || m_gestures->cancel()) return;
    if (m_document->job()->busy() || m_document->job()->paused())
        m_document->cancel();
    else
        m_message->dismiss();
}

void EvaluationCommands::addImproving(QMenu* menu, SummaryBar* summary, ModelActions* modelActions) {
    QAction* improve =
        modelActions->add(addCommand(menu, tr("&Improve Accuracy\u2026"), keySequence("I"),
                                     tr("Suggestions, the search for precisions, and AMCT's workflow"),
                                     [this] { Q_EMIT improveRequested(); }));
    modelActions->add(addCommand(
        menu, tr("Search &for Precisions"), {},
        tr("Finds the cheapest precision of each layer that keeps the accuracy drop within the target"),
        [this] { Q_EMIT searchRequested(); }));
    modelActions->add(
        addCommand(menu, tr("Metric P&rogram\u2026"), {},
                   tr("Runs your own program on the outputs of the float and the quantized network"), [this] {
                       if (!m_metricProgram) m_metricProgram = new MetricProgramDialog(*m_document, m_window);
                       bringToFront(m_metricProgram);
                   }));
    connect(summary->improveButton(), &QPushButton::clicked, improve, &QAction::trigger);
    summary->improveButton()->setToolTip(improve->toolTip());
    modelActions->add(summary->improveButton());
}

void EvaluationCommands::addLatency(QMenu* menu, ModelActions* modelActions) {
    modelActions->add(addCommand(menu, tr("Import &Latency Profile\u2026"), {},
                                 tr("Times of layers from ONNX Runtime, TensorRT, Qualcomm, Hailo or a CSV"),
                                 [this] { showLatency()->chooseProfile(); }));
    modelActions->add(addCommand(menu, tr("Mea&sure Latency"), {},
                                 tr("Measures the time of each layer of this configuration in ONNX Runtime"),
                                 [this] { showLatency()->measure(); }));
}

LatencyDialog* EvaluationCommands::showLatency() {
    if (!m_latency) m_latency = new LatencyDialog(*m_document, m_window);
    bringToFront(m_latency);
    return m_latency;
}

}  // namespace quantloupe::ui
