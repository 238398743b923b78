// SPDX-License-Identifier: Apache-2.0
#pragma once
// Asks the session for the scales of the layers while the canvas is zoomed in so far that it shows them.

#include <QHash>
#include <QObject>
#include <QString>
#include <QTimer>
#include <optional>

#include "document/document.h"
#include "session/studies/layer_scales.h"

namespace quantloupe::ui {

class ScaleTexts : public QObject {
    Q_OBJECT
  public:
    explicit ScaleTexts(Document* document, QObject* parent = nullptr);
    /// Bits of weight and output, with their scales once they are known: "W8 scale 0.004 · A8 scale 0.02,
    /// zero point 3".
    QString of(const LayerResult& layer) const;
    /// From now on the texts are wanted, or no longer.
    void setWanted(bool wanted);

  Q_SIGNALS:
    void changed();

  private:
    void ask();
    /// Model or data have changed.
    void forget();

    Document* m_document;
    QTimer m_delay;
    bool m_wanted = false;
    int m_generation = 0;  ///< of model and data
    std::optional<QuantizationConfig> m_answered;
    QHash<std::uint32_t, LayerScale> m_scales;  ///< by index of the node
};

}  // namespace quantloupe::ui
