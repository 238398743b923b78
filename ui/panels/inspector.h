// SPDX-License-Identifier: Apache-2.0
#pragma once
// Details of the selected layer: its attributes, its state and the reason for it, its sensitivity, and its
// comment.

#include <QFormLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>

#include "document/document.h"
#include "document/metric.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class DistributionSection;
class MetricRow;
class OverrideSection;

class Inspector : public PanelScrollArea {
    Q_OBJECT
  public:
    explicit Inspector(Document* document, QWidget* parent = nullptr);
    OverrideSection* overrides() const { return m_override; }
    DistributionSection* distributions() const { return m_distributions; }

    /// Wide enough for its sections.
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void toggleRequested();
    void layerChosen(quantloupe::NodeId layer);  ///< a link to another layer
    void layersChosen(std::vector<quantloupe::NodeId> layers);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override {
        PanelScrollArea::changeEvent(event);
        if (event->type() == QEvent::PaletteChange && m_shown.valid()) showResults();
    }

  private:
    void build();
    void showSelection();  ///< everything
    void showResults();    ///< the parts that an evaluation changes
    void showStructure(const Node& node);
    void showSeveral();
    void showKind(const Node& node, const LayerResult& layer);
    void showState(const LayerResult& layer);
    /// `host` is the layer that it is folded or fused into, or null.
    void showMetrics(const LayerResult& layer, const LayerResult* host);
    void showLatency(const LayerResult& layer);
    void commitComment();
    /// `tensor`: its name, below the value.
    void addFact(const QString& name, const QString& value, const std::string& tensor = {});

    Document* m_document;
    NodeId m_shown;
    GraphPtr m_shownGraph;  ///< of m_shown
    QWidget* m_body = nullptr;
    QLabel *m_empty, *m_name, *m_fullName, *m_kind, *m_state, *m_hint, *m_reason;
    QWidget* m_details;
    OverrideSection* m_override;
    DistributionSection* m_distributions;
    LinkButton* m_host;
    QPushButton *m_toggle, *m_toggleAll;
    QList<MetricRow*> m_metrics;
    MetricRow* m_latency = nullptr;
    SectionHeading *m_sensitivity, *m_attributesHeading;
    QFormLayout *m_facts, *m_attributes;
    QPlainTextEdit* m_comment;
    NodeId m_hostNode;
};

}  // namespace quantloupe::ui
