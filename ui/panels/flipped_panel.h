// SPDX-License-Identifier: Apache-2.0
#pragma once
// Images whose predicted class or score changed, or the images of a cell of the confusion matrix. For the
// selected image, shows the predictions of both networks, and the first layer at which the quantized network
// diverges from the float network.

#include <QLabel>
#include <QListView>

#include "models/flipped_model.h"
#include "panels/query_panel.h"
#include "panels/task_picture.h"
#include "session/stages/sample_divergence.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

/// The errors of a sample's layers in graph order, the first divergence marked.
class DivergencePlot : public QWidget {
    Q_OBJECT
  public:
    explicit DivergencePlot(QWidget* parent = nullptr);
    void setDivergence(const std::optional<SampleDivergence>& divergence);
    QSize sizeHint() const override { return {fontMetrics().height() * 14, fontMetrics().height() * 5}; }

  Q_SIGNALS:
    void layerClicked(quantloupe::NodeId layer);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

  private:
    int layerAt(double x) const;
    std::optional<SampleDivergence> m_divergence;
};

class FlippedPanel : public QueryPanel {
    Q_OBJECT
  public:
    explicit FlippedPanel(Document* document, QWidget* parent = nullptr);
    QListView* view() const { return m_view; }
    const std::optional<SampleDivergence>& divergence() const { return m_divergence; }
    TaskPicture* picture() const { return m_picture; }
    /// Shows these samples (positions in Evaluation::classes) instead of the changed ones.
    void showSamples(const QString& title, const std::vector<std::size_t>& samples);

  Q_SIGNALS:
    void layerChosen(quantloupe::NodeId layer);

  protected:
    EvaluationJob::Query makeQuery(const QuantizationConfig& config) override;
    void showAnswer(const QString& refusal) override;

  private:
    void forgetSample();
    void askDivergence();
    void askPredictions(std::size_t sample, const QString& name);
    void enlargePicture();
    void summarize();
    void showDivergence();

    FlippedSamples m_flipped;
    FlippedModel* m_model;
    QListView* m_view;
    QLabel *m_summary, *m_what;
    QWidget* m_side;  ///< about the current image
    LinkButton *m_layer, *m_changed;
    TaskPicture* m_picture;
    QString m_title;                    ///< of the chosen samples
    std::vector<std::size_t> m_chosen;  ///< empty: the changed images
    QImage m_image;
    DivergencePlot* m_plot;
    std::optional<SampleDivergence> m_divergence;
    QString m_sample;
};

}  // namespace quantloupe::ui
