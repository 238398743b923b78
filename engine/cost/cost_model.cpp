// SPDX-License-Identifier: Apache-2.0
#include "cost/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"

namespace quantloupe {
namespace {

constexpr std::pair<CostKind, std::string_view> kNames[] = {
    {CostKind::Macs, "macs"},   {CostKind::Parameters, "parameters"}, {CostKind::Layers, "layers"},
    {CostKind::Bytes, "bytes"}, {CostKind::BitOperations, "bops"},    {CostKind::Milliseconds, "ms"}};

std::string withPrefix(double amount) {
    for (const auto& [factor, prefix] : {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}})
        if (amount >= factor) return fmt::format("{:.3g} {}", amount / factor, prefix);
    return fmt::format("{:.3g} ", amount);
}

double bytesOf(std::uint64_t weights, std::uint64_t others, const Precision& precision) {
    const double otherBits = precision.isInteger() ? 32 : activationBits(precision);
    return (static_cast<double>(weights) * weightBits(precision) + static_cast<double>(others) * otherBits) /
           8;
}

}  // namespace

double storedBytes(const LayerWork& layer, const Precision& precision) {
    return bytesOf(layer.weights, layer.others, precision);
}

double movedBytes(const LayerWork& layer, const Precision& precision) {
    return bytesOf(layer.weights, layer.others, precision) +
           static_cast<double>(layer.activations) * activationBits(precision) / 8;
}

double bitOperations(const LayerWork& layer, const Precision& precision) {
    return static_cast<double>(layer.macs) * weightBits(precision) * activationBits(precision);
}

std::string_view costName(CostKind kind) {
    for (const auto& [known, name] : kNames)
        if (known == kind) return name;
    return "macs";
}

std::optional<CostKind> costNamed(std::string_view name) {
    for (const auto& [kind, known] : kNames)
        if (known == name) return kind;
    return std::nullopt;
}

const std::vector<CostKind>& costKinds() {
    static const std::vector<CostKind> kKinds = {CostKind::Milliseconds,  CostKind::Bytes,
                                                 CostKind::BitOperations, CostKind::Macs,
                                                 CostKind::Layers,        CostKind::Parameters};
    return kKinds;
}

const Choices<CostKind>& costsWithoutProfile() {
    static const Choices<CostKind> kCosts = [] {
        Choices<CostKind> costs;
        for (const auto& [kind, name] : kNames)
            if (kind != CostKind::Milliseconds) costs.available.emplace_back(name, kind);
        return costs;
    }();
    return kCosts;
}

CostKind usualCost(bool precisions, bool measured) {
    // Costs in float do not distinguish integer precisions.
    return measured ? CostKind::Milliseconds : precisions ? CostKind::Bytes : CostKind::Macs;
}

bool countsFloat(CostKind kind) {
    return kind == CostKind::Macs || kind == CostKind::Parameters || kind == CostKind::Layers;
}

std::string costText(CostKind kind, double amount) {
    switch (kind) {
        case CostKind::Macs:
            return withPrefix(amount) + "MACs in float";
        case CostKind::Parameters:
            return withPrefix(amount) + "parameters in float";
        case CostKind::Layers:
            return fmt::format("{:.0f} layer{} in float", amount, amount == 1 ? "" : "s");
        case CostKind::Bytes:
            return withPrefix(amount) + "B of weights";
        case CostKind::BitOperations:
            return withPrefix(amount) + "bit operations";
        case CostKind::Milliseconds:
            return fmt::format(fmt::runtime(amount < 100 ? "{:.3g} ms" : "{:.0f} ms"), amount);
    }
    return {};
}

CostModel::CostModel(CostKind kind, NetworkWork work, std::shared_ptr<const LatencyTable> latency)
    : m_kind(kind),
      m_work(std::move(work)),
      m_latency(std::move(latency)),
      m_macsKnown(std::ranges::all_of(m_work, &LayerWork::macsKnown)) {
    if (kind == CostKind::Milliseconds && !m_latency)
        failInput(
            "the cost in milliseconds needs measured times: give a profile (--profile FILE), which "
            "'quantloupe-cli profile' measures in ONNX Runtime");
    if (kind == CostKind::BitOperations && !m_macsKnown)
        failInput("bit operations cannot be computed because the shape of a layer is unknown");
}

double CostModel::of(std::size_t layer, const Precision& precision) const {
    const LayerWork& work = m_work[layer];
    if (work.host != layer) return 0;
    const auto parameters = static_cast<double>(work.weights + work.others);
    switch (m_kind) {
        case CostKind::Macs:
            return precision.isInteger() ? 0 : m_macsKnown ? static_cast<double>(work.macs) : parameters;
        case CostKind::Parameters:
            return precision.isInteger() ? 0 : parameters;
        case CostKind::Layers:
            return precision.isInteger() ? 0 : 1;
        case CostKind::Bytes:
            return storedBytes(work, precision);
        case CostKind::BitOperations:
            return bitOperations(work, precision);
        case CostKind::Milliseconds:
            return m_latency->at(layer, precision).ms;
    }
    return 0;
}

bool CostModel::estimated(std::size_t layer, const Precision& precision) const {
    return m_kind == CostKind::Milliseconds && m_latency->at(layer, precision).estimated;
}

double CostModel::counted(const SharedConstant& constant, const Precision& precision) const {
    const std::uint64_t weights = constant.weight ? constant.size : 0, others = constant.size - weights;
    switch (m_kind) {
        case CostKind::Macs:
            return m_macsKnown || precision.isInteger() ? 0 : static_cast<double>(constant.size);
        case CostKind::Parameters:
            return precision.isInteger() ? 0 : static_cast<double>(constant.size);
        case CostKind::Bytes:
            return bytesOf(weights, others, precision);
        default:
            return 0;
    }
}

double CostModel::saved(std::span<const Precision> precisions) const {
    double sum = 0;
    // The copies of each constant: integers or not, and their size.
    std::map<std::size_t, std::vector<std::pair<bool, double>>> stored;
    for (std::size_t layer = 0; layer < m_work.size(); ++layer) {
        if (m_work[layer].host != layer) continue;
        for (const SharedConstant& constant : m_work[layer].shared) {
            const double size = counted(constant, precisions[layer]);
            const std::pair copy(precisions[layer].isInteger(), size);
            auto& copies = stored[constant.id];
            if (std::ranges::count(copies, copy) > 0)
                sum += size;
            else
                copies.push_back(copy);
        }
    }
    return sum;
}

double CostModel::total(std::span<const Precision> precisions) const {
    double sum = 0;
    for (std::size_t layer = 0; layer < m_work.size(); ++layer) sum += of(layer, precisions[layer]);
    return sum - saved(precisions);
}

double CostModel::total() const {
    std::vector<Precision> precisions;
    for (const LayerWork& layer : m_work) precisions.push_back(layer.precision);
    return total(precisions);
}

}  // namespace quantloupe
