// SPDX-License-Identifier: Apache-2.0
#pragma once
// The time of every layer at every precision, from measured profiles. What was not measured is estimated: a
// layer takes a * MACs + b * bytes, where the bytes are those of its constants and activations at the
// precision. a and b are at least 0 and have the least squared error on the measured layers of that
// precision. If fewer than three are known, they are those of the precision with the closest bits that has
// three or, if there is none, of all layers. So without measurements, a lower precision is only assumed to
// save memory traffic, not computation.

#include <map>
#include <memory>

#include "cost/latency_file.h"
#include "cost/layer_work.h"
#include "cost/nonnegative_fit.h"
#include "model/graph.h"

namespace quantloupe {

/// A profile and the precision that was measured.
struct LatencySource {
    LatencyFile file;
    /// Of the rows that do not say theirs. Empty: each layer has its LayerWork::precision.
    std::optional<Precision> precision;
};

struct LatencyCell {
    double ms = 0;
    bool estimated = false;
};

class LatencyTable {
  public:
    /// If several sources have the same layer and precision, the last one counts. Throws Error if no name
    /// of a source matches a layer.
    LatencyTable(const Graph& source, NetworkWork work, const std::vector<LatencySource>& sources);

    /// The time of a layer of the source graph; 0 if another layer computes it.
    LatencyCell at(std::size_t layer, const Precision& precision) const;
    /// Number of measured layers of all precisions.
    std::size_t measured() const { return m_known.size(); }
    /// Sum of |estimate - measurement| / sum of measurements, over the measured layers.
    double estimateError() const;
    /// Names that match no layer, with their times.
    const std::vector<LatencyRow>& unmatched() const { return m_unmatched; }
    /// "64 measured layers; 23 names (0.41 ms) match no layer: Transpose_token_120, ..."
    std::string summary() const;

  private:
    using Key = std::pair<std::size_t, Precision>;

    void read(const LatencySource& source, const class LayerMatcher& matcher);
    void fit();
    Precision effective(std::size_t layer, const Precision& precision) const;
    double estimate(std::size_t layer, const Precision& precision) const;
    FitRow featuresOf(std::size_t layer, const Precision& precision) const;

    NetworkWork m_work;
    std::map<Key, double> m_known;
    std::vector<std::pair<std::optional<Precision>, FitRow>> m_wholes;  ///< times of whole networks
    std::map<Precision, std::array<double, 2>> m_fits;
    std::array<double, 2> m_commonFit{};
    std::vector<LatencyRow> m_unmatched;
};

/// Returns the times of one profile per layer of the network, summed over the names that match it. A time
/// that several layers share is divided by their MACs, or equally without MACs.
std::map<std::size_t, double> timesByLayer(const LatencyFile& file, const LayerMatcher& matcher,
                                           const NetworkWork& work,
                                           std::vector<LatencyRow>* unmatched = nullptr);

}  // namespace quantloupe
