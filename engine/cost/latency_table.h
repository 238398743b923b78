// SPDX-License-Identifier: Apache-2.0
#pragma once
// The time of every layer at every precision, from measured profiles. What was not measured is estimated: a
// layer takes a * MACs + b * bytes, where the bytes are those of its constants and activations at the
// precision. a and b are at least 0 and have the least squared error on the measured layers of that
// precision. If fewer than three with MACs are known, they are those of the precision with the closest bits
// that has three or, if there is none, of all layers. So without measurements, a lower precision is only
// assumed to save memory traffic, not computation.

#include <map>

#include "cost/latency_file.h"
#include "cost/layer_work.h"
#include "cost/nonnegative_fit.h"
#include "model/graph.h"

namespace quantloupe {

/// A profile and the precision that was measured.
struct LatencySource {
    LatencyFile file;
    /// The precision of rows without one. Empty: LayerWork::precision of each layer.
    std::optional<Precision> precision;
    std::string name = {};  ///< for people: "w8a8.csv"
};

struct LatencyCell {
    double ms = 0;
    bool estimated = false;
};

class LatencyTable {
  public:
    /// If several sources contain the same layer and precision, the last one is used. Rows of one source for
    /// the same layer and precision are added. If a layer without weights was measured at several precisions
    /// that are equivalent for it, the last one is used. Throws Error if no name of a source matches a layer.
    LatencyTable(const Graph& source, NetworkWork work, const std::vector<LatencySource>& sources);

    /// Returns the time of a layer of the source graph; 0 if another layer computes it.
    LatencyCell at(std::size_t layer, const Precision& precision) const;
    /// Whether the layer is computed separately, so that it has a time.
    bool computes(std::size_t layer) const { return m_work[layer].host == layer; }
    /// Number of measured layers of all precisions.
    std::size_t measured() const { return m_known.size(); }
    /// Sum of |estimate - measurement| / sum of measurements, over the measured layers.
    double estimateError() const;
    /// Names that match no layer, with their times.
    const std::vector<LatencyRow>& unmatched() const { return m_unmatched; }
    /// "64 measured layer times; 23 names match no layer and are not counted (0.41 ms): Transpose_token_120,
    /// ..."
    std::string summary() const;

  private:
    using Key = std::pair<std::size_t, Precision>;  ///< see effective()
    struct Known {
        double ms = 0;
        Precision stated;  ///< of the other layers of the profile, too, so it counts for the fit
    };

    void read(const LatencySource& source, const class LayerMatcher& matcher);
    void fit();
    Precision effective(std::size_t layer, const Precision& precision) const;
    double estimate(std::size_t layer, const Precision& precision) const;
    FitRow featuresOf(std::size_t layer, const Precision& precision) const;

    NetworkWork m_work;
    std::map<Key, Known> m_known;
    std::vector<std::pair<std::optional<Precision>, FitRow>> m_wholes;  ///< times of whole networks
    std::map<Precision, std::array<double, 2>> m_fits;
    std::array<double, 2> m_commonFit{};
    std::vector<LatencyRow> m_unmatched;
};

/// Returns the times of one profile by layer of the network, summed over the names that match the layer. A
/// time that belongs to several layers is divided in proportion to their MACs, or equally if they have none.
std::map<std::size_t, double> timesByLayer(const LatencyFile& file, const LayerMatcher& matcher,
                                           const NetworkWork& work,
                                           std::vector<LatencyRow>* unmatched = nullptr);

/// Returns the profile with the precision of everything that it measures, so that it stays valid when the
/// configuration changes. A row without a precision becomes one row for each layer that it measures, at the
/// layer's precision in `work`. The time of a whole network counts for the precision of most layers.
LatencySource withPrecisions(LatencySource source, const Graph& graph, const NetworkWork& work);

}  // namespace quantloupe
