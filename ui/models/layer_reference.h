// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers of another configuration to compare with: of the pinned baseline, or of the one that was measured before.
// A project keeps no numbers of layers: those of its baseline are measured again once nothing else is to be done.
// Numbers of other data are forgotten. GUI thread.

#include <QObject>
#include <deque>
#include <optional>
#include <string>

#include "session/evaluation.h"

namespace quantloupe::ui {

class Document;

class LayerReference : public QObject {
    Q_OBJECT
  public:
    static constexpr std::size_t kMost = 64;  ///< configurations that are remembered

    explicit LayerReference(Document* document);

    /// Null if there is none.
    EvaluationPtr evaluation() const;
    /// Null if there is none.
    const std::vector<LayerResult>* layers() const;
    const LayerResult* layer(NodeId node) const;
    /// "the baseline", "the configuration before"; empty if there is none.
    QString name() const;
    /// One clause: why there is none; empty if there is one.
    QString whyNone() const;
    /// The layer's results under the pinned baseline; null if none is pinned or it is not measured yet.
    const LayerResult* baselineLayer(NodeId node) const;

    /// The baseline's configuration if it waits to be measured.
    std::optional<QuantizationConfig> missing() const;
    /// What measuring it gave; null: it could not be done, and is not tried again.
    void adoptBaseline(EvaluationPtr evaluation);

  Q_SIGNALS:
    void changed();

  private:
    struct Measured {
        std::string version;
        EvaluationPtr evaluation;
    };
    void forget();
    void remember();
    void keep(std::string version, EvaluationPtr evaluation);
    const Measured* reference() const;
    const Measured* find(const std::string& version) const;

    Document* m_document;
    std::deque<Measured> m_measured;  ///< the newest last, each once
    std::string m_refused;            ///< version of a baseline that could not be measured
};

}  // namespace quantloupe::ui
