// SPDX-License-Identifier: Apache-2.0
#include "window/demo_tour.h"

#include <utility>

#include "document/demo.h"
#include "window/tour.h"

namespace quantloupe::ui {

DemoTour::DemoTour(Document* document, const WindowPanels& panels, FileCommands* files, ViewCommands* view,
                   const std::filesystem::path& resources, QWidget* window)
    : QObject(window),
      m_document(document),
      m_panels(panels),
      m_files(files),
      m_view(view),
      m_resources(resources),
      m_window(window) {
    connect(document, &Document::modelChanged, this, [this] {
        if (m_tour) m_tour->stop();
        const auto demo = findDemo(m_resources);
        if (std::exchange(m_waits, false) && demo && m_document->model()->path == demo->model) run();
    });
    connect(document, &Document::failed, this, [this](const Failure& failure) {
        if (failure.during == Failure::During::Loading) m_waits = false;
    });
    connect(panels.start, &StartPage::tourRequested, this, &DemoTour::start);
}

void DemoTour::start() {
    const auto demo = findDemo(m_resources);
    if (!demo) return;
    // The texts of the tour describe the demo as it is when it is opened.
    const bool open = m_document->model() && m_document->model()->path == demo->model;
    if (open && m_document->undoStack()->index() == 0) return run();
    if (!m_files->mayDiscard()) return;
    m_waits = m_files->openDemo();
}

bool DemoTour::stop() {
    if (!m_tour || !m_tour->running()) return false;
    m_tour->stop();
    return true;
}

/// Waits for the first metrics if there are none yet.
void DemoTour::selectMostSensitive() {
    if (m_view->selectMostSensitive()) return;
    auto* wait = new QObject(this);  // its connection ends with it
    connect(m_document, &Document::layersChanged, wait, [this, wait] {
        const bool useless = !m_tour->running() || !m_document->selection().empty();
        if (useless || m_view->selectMostSensitive()) wait->deleteLater();
    });
}

void DemoTour::run() {
    for (QWidget* panel : {static_cast<QWidget*>(m_panels.tuning), static_cast<QWidget*>(m_panels.inspector),
                           static_cast<QWidget*>(m_panels.work)})
        showPanel(panel, true);
    m_panels.work->showTab(WorkTabs::Layers);
    if (!m_tour) m_tour = new Tour(m_window);
    m_tour->start(
        {{tr("The graph"),
          tr("Each box is a layer. Quantized layers are green, layers in float yellow, inputs and outputs "
             "blue. The magenta field of a layer shows how much its output changes when only this layer is "
             "quantized. The legend has the scale; zoom in to see the number."),
          m_panels.graph},
         {tr("What quantization costs"),
          tr("With 4-bit weights, the demo loses a quarter of its accuracy. This bar shows the accuracy of "
             "the float and of the quantized network after every change."),
          m_panels.summary},
         {tr("The worst layers first"),
          tr("The table lists the layers that can be quantized, the most sensitive one first; it is selected "
             "now. The filter finds layers by name, operator or number, and fades all others in the graph."),
          m_panels.work, [this] { selectMostSensitive(); }},
         {tr("Keep a layer in float"),
          tr("Press Space in the graph or the table, or click Keep in Float here. The layer turns yellow at "
             "once, and the new accuracy follows. Ctrl+Z undoes this."),
          m_panels.inspector},
         {tr("Improve and export"),
          tr("Improve Accuracy\u2026 finds changes that improve the accuracy, for example the cheapest "
             "layers to keep in float. Export\u2026 writes the quantized model, or a configuration for "
             "another tool."),
          m_panels.summary}});
}

}  // namespace quantloupe::ui
