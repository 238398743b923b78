// SPDX-License-Identifier: Apache-2.0
#pragma once
// Distributions of the selected layer's tensors before and after quantization, its channels before and after
// the transforms, and the layers that it is equalized with.

#include <QVBoxLayout>

#include "models/layer_insight.h"
#include "widgets/basics.h"
#include "widgets/channel_plot.h"
#include "widgets/histogram_plot.h"

namespace quantloupe::ui {

class DistributionSection : public QWidget {
    Q_OBJECT
  public:
    explicit DistributionSection(Document* document, QWidget* parent = nullptr);
    const LayerInsightModel* model() const { return m_model; }

  Q_SIGNALS:
    void layersChosen(std::vector<quantloupe::NodeId> layers);  ///< layers to select

  protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    struct Plot {
        QWidget* box = nullptr;
        SectionHeading* heading = nullptr;
        HistogramPlot* plot = nullptr;
    };
    Plot addPlot(const QString& title, const QString& key);
    void showPlot(const Plot& plot, const std::optional<TensorDetails>& tensor, const QString& waiting);
    void refresh();
    void showPartners(const LayerInsight* insight);
    void openNumbers();

    Document* m_document;
    LayerInsightModel* m_model;
    Plot m_weight, m_input, m_output;
    SectionHeading *m_channelHeading, *m_partnerHeading;
    QWidget *m_channelBox, *m_partnerBox;
    ChannelPlot* m_channels;
    QVBoxLayout* m_partners;
    std::vector<EqualizationPartners> m_shownPartners;
    QPushButton* m_numbers;
    QLabel* m_refusal;
};

}  // namespace quantloupe::ui
