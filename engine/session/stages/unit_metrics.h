// SPDX-License-Identifier: Apache-2.0
#pragma once
// Local and cumulative metrics of the units of one plan, with the session's results of earlier evaluations.
// Internal to engine/session.

#include "session/session_parts.h"

namespace quantloupe {

class UnitMetrics {
  public:
    /// Computes the versions of all metrics. Needs data.
    UnitMetrics(SessionParts& parts, std::shared_ptr<const Prepared> prepared, const UnitList& units,
                std::shared_ptr<const Plan> plan);

    /// Fills in the metrics that are already known: after a layer is skipped, all local metrics and the
    /// cumulative metrics of the layers before it.
    void fillKnown(std::vector<LayerResult>& layers) const;
    /// Measures the metrics that are missing in `layers` and fills them in. If this runs the prepared float
    /// network and none of its `outputs` are known, also fills in the outputs.
    void measure(std::vector<LayerResult>& layers, const RunControl& control, NetworkOutputs& outputs);

  private:
    /// Returns the version of a local metric: the unit's output in the float network, which depends on its
    /// inputs and computation, and its quantizers.
    Version localVersion(std::size_t unit) const;
    LayerResult& layerOf(std::vector<LayerResult>& layers, std::size_t unit) const;

    SessionParts& m_parts;
    std::shared_ptr<const Prepared> m_prepared;
    const UnitList& m_units;
    std::shared_ptr<const Plan> m_plan;
    std::vector<Version> m_float;       ///< one per unit: its output in the float network
    std::vector<Version> m_cumulative;  ///< one per unit: its output in the float and the quantized network
};

}  // namespace quantloupe
