// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers of the reference configuration: the pinned baseline or, without one, the previously evaluated
// configuration. A project stores no layer results, so its baseline is evaluated again when idle. Results for
// other data are discarded. GUI thread.

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
    static constexpr std::size_t kMost = 64;  ///< maximum number of stored configurations

    explicit LayerReference(Document* document);

    /// Null if there is none.
    EvaluationPtr evaluation() const;
    /// Null if there is none.
    const std::vector<LayerResult>* layers() const;
    const LayerResult* layer(NodeId node) const;
    /// "the baseline", "the previous configuration"; empty if there is none.
    QString name() const;
    /// Returns one clause that explains why there is no reference; empty if there is one.
    QString whyNone() const;
    /// Returns the layer's results in the pinned baseline; null if no baseline is pinned or it is not
    /// evaluated yet.
    const LayerResult* baselineLayer(NodeId node) const;

    /// The baseline's configuration if it is waiting to be evaluated.
    std::optional<QuantizationConfig> missing() const;
    /// Stores the result of evaluating missing(), whose version in the history is `version`; null: the
    /// evaluation failed and is not tried again.
    void adoptBaseline(const std::string& version, EvaluationPtr evaluation);

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
