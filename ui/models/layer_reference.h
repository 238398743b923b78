// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers of another configuration to compare with: of the pinned baseline, or of the one that was measured before.
// Only those that this window has measured itself: a project keeps no numbers of layers. GUI thread.

#include <QObject>
#include <deque>
#include <memory>

#include "document.h"

namespace quantloupe::ui {

class LayerReference : public QObject {
    Q_OBJECT
  public:
    static constexpr std::size_t kMost = 64;  ///< configurations that are remembered

    explicit LayerReference(Document* document, QObject* parent = nullptr);

    /// Null if there is none.
    const std::vector<LayerResult>* layers() const;
    /// "the baseline", "the configuration before"; empty if there is none.
    QString name() const;

  Q_SIGNALS:
    void changed();

  private:
    struct Measured {
        std::string version;
        EvaluationPtr evaluation;
    };
    void remember();
    const Measured* reference() const;
    const Measured* find(const std::string& version) const;

    Document* m_document;
    std::deque<Measured> m_measured;  ///< the newest last, each once
    GraphPtr m_graph;
};

}  // namespace quantloupe::ui
