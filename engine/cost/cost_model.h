// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cost of a network whose layers have given precisions.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/latency_table.h"

namespace quantloupe {

enum class CostKind {
    Macs,           ///< MACs in float, per sample
    Parameters,     ///< parameters of layers in float
    Layers,         ///< number of layers in float
    Bytes,          ///< of weights, biases and other constants
    BitOperations,  ///< MACs times weight bits times activation bits, per sample
    Milliseconds,   ///< per inference, from measured profiles
};

std::string_view costName(CostKind kind);  ///< "macs", "parameters", "layers", "bytes", "bops", "ms"
std::optional<CostKind> costNamed(std::string_view name);
const std::vector<CostKind>& costKinds();  ///< in the order in which they are offered
/// Whether only the layers in float cost something.
bool countsFloat(CostKind kind);
/// "12.4 ms", "1.71 MB", "0.92 G bit operations", "12.3 M MACs in float", "3 layers in float"
std::string costText(CostKind kind, double amount);

class CostModel {
  public:
    /// Throws Error if milliseconds are wanted without a latency table.
    CostModel(CostKind kind, NetworkWork work, std::shared_ptr<const LatencyTable> latency = nullptr);

    CostKind kind() const { return m_kind; }
    const NetworkWork& work() const { return m_work; }
    /// The cost of a layer of the source graph; 0 if another layer computes it. If the MACs of a layer are
    /// unknown, parameters are counted instead of MACs.
    double of(std::size_t layer, const Precision& precision) const;
    /// Whether of() is an estimate instead of a measurement; only for milliseconds.
    bool estimated(std::size_t layer, const Precision& precision) const;
    /// Sum over all layers, at the given precisions (one per layer) or at those of the work.
    double total(std::span<const Precision> precisions) const;
    double total() const;

  private:
    CostKind m_kind;
    NetworkWork m_work;
    std::shared_ptr<const LatencyTable> m_latency;
    bool m_macsKnown = true;
};

}  // namespace quantloupe
