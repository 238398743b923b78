// SPDX-License-Identifier: Apache-2.0
#pragma once
// Details of the selected layer besides its metrics: the distributions of its tensors, per channel, and the
// layers that it is equalized with. Queried when no edit is being evaluated; the previous answer is kept
// until there is a new one. GUI thread.

#include <QObject>
#include <memory>

#include "document/document.h"
#include "model/constant.h"
#include "session/studies/layer_details.h"

namespace quantloupe::ui {

/// An equalization group that contains the layer.
struct EqualizationPartners {
    std::vector<std::string> layers;  ///< layers of the group in order, as named in equalization.off
    std::vector<NodeId> nodes;
    double lowest = 1, highest = 1;  ///< smallest and largest of all factors
    bool enabled = true;
};

struct LayerInsight {
    NodeId node;
    QuantizationConfig config;  ///< the configuration of this insight
    std::optional<LayerDetails> details;
    QString refusal;  ///< why there are no details
    std::vector<EqualizationPartners> partners;
    /// factors of the first junction by which the layer's outputs are divided; empty: none
    std::vector<float> factors;
    ConstantPtr before, after;  ///< weight of the layer before and after the transforms; null: none
};

class LayerInsightModel : public QObject {
    Q_OBJECT
  public:
    explicit LayerInsightModel(Document* document, QObject* parent = nullptr);
    /// Returns null until the first answer, and if the answer belongs to another layer than the current one.
    const LayerInsight* insight() const;
    bool stale() const;
    /// Whether an answer is on its way.
    bool querying() const { return m_querying; }
    /// Turns queries off while the panel is not visible.
    void setWanted(bool wanted);

  Q_SIGNALS:
    void changed();

  private:
    void plan();
    void query();

    Document* m_document;
    std::shared_ptr<const LayerInsight> m_insight;
    Delay m_delay{120};  ///< moving with the arrow keys causes no queries
    bool m_wanted = false, m_querying = false;
    bool m_queryAgain = false;  ///< other work has cancelled the query
};

}  // namespace quantloupe::ui
