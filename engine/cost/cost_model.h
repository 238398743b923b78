// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cost of a network, given the precision of each layer.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/choices.h"
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
/// The costs that need no measured profile.
const Choices<CostKind>& costsWithoutProfile();
/// The cost that a search minimizes if the user does not choose one. `precisions`: the search also chooses
/// between precisions other than float32; `measured`: the times of layers are known.
CostKind usualCost(bool precisions, bool measured);
/// Returns whether only layers in float have a cost.
bool countsFloat(CostKind kind);
/// Formats a cost: "12.4 ms", "1.71 MB", "0.92 G bit operations", "12.3 M MACs in float", "3 layers in
/// float".
std::string costText(CostKind kind, double amount);

class CostModel {
  public:
    /// Throws Error for milliseconds without a latency table, and for bit operations if the MACs of a layer
    /// are unknown.
    CostModel(CostKind kind, NetworkWork work, std::shared_ptr<const LatencyTable> latency = nullptr);

    CostKind kind() const { return m_kind; }
    const NetworkWork& work() const { return m_work; }
    /// Returns the cost of a layer of the source graph, with all constants that it reads; 0 if another layer
    /// computes it. If the MACs of a layer are unknown, parameters are counted instead of MACs.
    double of(std::size_t layer, const Precision& precision) const;
    /// Returns whether of() is an estimate instead of a measurement; only possible for milliseconds.
    bool estimated(std::size_t layer, const Precision& precision) const;
    /// Returns what the sum of the layers' costs contains more than once: constants that several layers read
    /// at the same precision. `precisions`: one per layer.
    double saved(std::span<const Precision> precisions) const;
    /// Returns the cost of the network, with the given precisions or with those of the work.
    double total(std::span<const Precision> precisions) const;
    double total() const;

  private:
    double counted(const SharedConstant& constant, const Precision& precision) const;

    CostKind m_kind;
    NetworkWork m_work;
    std::shared_ptr<const LatencyTable> m_latency;
    bool m_macsKnown = true;
};

}  // namespace quantloupe
