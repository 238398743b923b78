// SPDX-License-Identifier: Apache-2.0
#pragma once
// The document's latency profiles, and the time of each layer that follows from them: measured, or estimated
// if no profile has the layer at its precision (cost/latency_table.h). The project stores the profiles.
//
// The table is computed on the engine's thread whenever profiles or hosts of layers change; precisions are
// looked up in it at once. GUI thread.

#include <QObject>
#include <memory>
#include <optional>
#include <vector>

#include "base/version.h"
#include "cost/latency_table.h"
#include "results/evaluation.h"

namespace quantloupe::ui {

class Document;

/// The time of one inference, as the sum over all layers.
struct LatencySum {
    double ms = 0;
    double floatMs = 0;      ///< with every layer in float32
    double estimatedMs = 0;  ///< the part of `ms` that is not measured
    std::size_t layers = 0, measured = 0;
    bool estimated() const { return measured < layers; }
    double change() const { return floatMs > 0 ? ms / floatMs - 1 : 0; }
};

class LayerLatency : public QObject {
    Q_OBJECT
  public:
    explicit LayerLatency(Document* document);

    const std::vector<LatencySource>& sources() const { return m_sources; }
    /// Null without a profile, or until the first evaluation has finished.
    std::shared_ptr<const LatencyTable> table() const { return m_table; }
    /// The layer's time at its present precision; empty if it is not known or if another layer computes it.
    std::optional<LatencyCell> of(const LayerResult& layer) const;
    std::vector<std::optional<double>> valuesOf(const std::vector<LayerResult>& layers) const;
    /// Empty without a table.
    std::optional<LatencySum> sum(const std::vector<LayerResult>& layers) const;

    /// Adds a profile; its times replace those of earlier ones. Times without a precision are those of the
    /// current configuration. Reports how much was added and which names match no layer, or why the profile
    /// cannot be used. A profile measured here is merged with the one of the same name.
    void add(LatencySource source);
    void remove(std::size_t index);
    /// Sets the profiles of a project.
    void restore(std::vector<LatencySource> sources);

  Q_SIGNALS:
    void changed();  ///< profiles or table

  private:
    struct Built {
        std::vector<LatencySource> sources;
        std::shared_ptr<const LatencyTable> table;
        QStringList problems;
    };
    Version hostsVersion() const;
    void update();
    void adopt(const Built& built, std::size_t added);

    Document* m_document;
    std::vector<LatencySource> m_sources;
    std::vector<LatencySource> m_waiting;  ///< added, and not yet in the table
    std::shared_ptr<const LatencyTable> m_table;
    std::optional<Version> m_builtFor;  ///< hosts of the table; empty: it is outdated
};

/// The precision that a layer runs at.
Precision runningPrecision(const LayerResult& layer);

}  // namespace quantloupe::ui
