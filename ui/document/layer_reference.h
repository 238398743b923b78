// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers of the reference configuration: of the pinned baseline, or of the previously evaluated
// configuration. A project stores no layer results: those of its baseline are evaluated again when idle.
// Results on other data are dropped. GUI thread.

#include <QObject>
#include <deque>
#include <optional>
#include <string>

#include "results/evaluation.h"

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
    /// "the baseline", "the previous configuration"; empty if there is none.
    QString name() const;
    /// Explains in one clause why there is none; empty if there is one.
    QString whyNone() const;
    /// The layer's results with the pinned baseline; null if none is pinned or it is not evaluated yet.
    const LayerResult* baselineLayer(NodeId node) const;

    /// The baseline's configuration if it is waiting to be evaluated.
    std::optional<QuantizationConfig> missing() const;
    /// Stores the result of that evaluation; null: it failed and is not tried again.
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
    std::string m_refused;            ///< version of a baseline that could not be evaluated
};

}  // namespace quantloupe::ui
