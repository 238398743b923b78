// SPDX-License-Identifier: Apache-2.0
#pragma once
// Queries the scales of the layers from the session while the canvas is zoomed in far enough to show them.

#include <QHash>
#include <QObject>
#include <QString>
#include <optional>

#include "document/document.h"
#include "session/studies/layer_scales.h"

namespace quantloupe::ui {

class ScaleTexts : public QObject {
    Q_OBJECT
  public:
    explicit ScaleTexts(Document* document, QObject* parent = nullptr);
    /// Returns the bits of weight and output, with their scales if they are known: "W8 scale 0.004 · A8 scale
    /// 0.02, zero point 3".
    QString of(const LayerResult& layer) const;
    /// Sets whether the texts are needed.
    void setWanted(bool wanted);

  Q_SIGNALS:
    void changed();

  private:
    void query();
    /// Discards the scales after the model or the data have changed.
    void forget();

    Document* m_document;
    Delay m_delay{150};
    bool m_wanted = false;
    int m_generation = 0;  ///< of model and data
    std::optional<QuantizationConfig> m_answered;
    QHash<std::uint32_t, LayerScale> m_scales;  ///< by index of the node
};

}  // namespace quantloupe::ui
