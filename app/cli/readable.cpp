// SPDX-License-Identifier: Apache-2.0
#include "readable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/short_text.h"

namespace quantloupe::cli {

std::string percent(const std::optional<double>& rate) {
    return rate ? fmt::format("{:.2f} %", *rate * 100) : "-";
}

std::string decibels(const std::optional<double>& value) {
    if (!value || std::isnan(*value)) return "-";
    if (std::isinf(*value)) return *value > 0 ? "no difference" : "-inf";
    return fmt::format("{:.2f} dB", std::round(*value * 100) / 100 + 0.0);  // no "-0.00"
}

std::string number(const std::optional<double>& value) {
    return value && !std::isnan(*value) ? fmt::format("{:.4g}", *value) : "-";
}

std::string qsOf(const std::optional<TensorDifference>& difference) {
    return difference ? fmt::format("{:.4f}", difference->qs) : "-";
}

std::string bars(const Distribution& distribution) {
    constexpr std::array<const char*, 9> kHeights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const auto& bins = distribution.bins();
    const std::uint64_t fullest = std::max<std::uint64_t>(1, *std::max_element(bins.begin(), bins.end()));
    std::string text;
    for (const std::uint64_t bin : bins)
        text += kHeights[static_cast<std::size_t>((bin * 8 + fullest - 1) / fullest)];
    return text;
}

std::string nameWithModule(const LayerResult& layer) {
    const bool contained = layer.name.find('/') != std::string::npos;
    std::string name = shortName(layer.name);
    return contained || layer.module.empty() ? name : fmt::format("{} ({})", name, shortName(layer.module));
}

std::string nameTypeAndShape(const TensorInfo& tensor) {
    return fmt::format("{}: {} {}", shortName(tensor.name), dataTypeName(tensor.type),
                       tensor.shape ? shortName(toString(*tensor.shape)) : "of unknown shape");
}

std::string differenceHeader() {
    return fmt::format("{:>8} {:>8} {:>13} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}", "QS", "cosine",
                       "SQNR", "max |d|", "mean |d|", "RMS", "|d| L2", "acc. rel.", "KL",
                       "mean;std quantized, float");
}

std::string differenceRow(const std::optional<TensorDifference>& difference) {
    if (!difference) return fmt::format("{:>8}", "-");
    const TensorDifference& d = *difference;
    return fmt::format("{:>8} {:>8.5f} {:>13} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  ({};{}) ({};{})",
                       qsOf(difference), d.cosine, decibels(d.sqnrDb), number(d.maxAbsolute),
                       number(d.meanAbsolute), number(d.rootMeanSquare), number(d.absoluteL2),
                       number(d.accumulatedRelative), number(d.klDivergence), number(d.testedMean),
                       number(d.testedDeviation), number(d.referenceMean), number(d.referenceDeviation));
}

}  // namespace quantloupe::cli
