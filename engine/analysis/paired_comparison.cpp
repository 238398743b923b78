// SPDX-License-Identifier: Apache-2.0
#include "analysis/paired_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/binomial.h"
#include "base/error.h"
#include "base/short_text.h"

namespace quantloupe {
namespace {

constexpr double kConfidence = 0.95;

int decimalsFor(std::size_t samples) {
    int decimals = 1;
    for (std::size_t shown = 1000; shown < samples; shown *= 10) ++decimals;
    return decimals;
}

std::string_view wordsOf(ChangeVerdict verdict) {
    switch (verdict) {
        case ChangeVerdict::NoChange:
            return "no change";
        case ChangeVerdict::WithinNoise:
            return "within noise";
        case ChangeVerdict::Gain:
            return "a real gain";
        case ChangeVerdict::Loss:
            return "a real loss";
    }
    return "";
}

}  // namespace

Flips findFlips(std::span<const std::int32_t> before, std::span<const std::int32_t> after,
                std::span<const std::int32_t> rightClasses) {
    if (before.size() != after.size() || before.size() != rightClasses.size())
        fail(ErrorKind::Internal, "{}, {} and {} classes are not of the same samples", before.size(),
             after.size(), rightClasses.size());
    Flips flips;
    for (std::size_t i = 0; i < rightClasses.size(); ++i) {
        if (rightClasses[i] < 0) continue;
        ++flips.samples;
        const bool wasRight = before[i] == rightClasses[i], isRight = after[i] == rightClasses[i];
        if (isRight && !wasRight) flips.fixed.push_back(i);
        if (wasRight && !isRight) flips.broken.push_back(i);
        flips.both += wasRight && isRight;
    }
    return flips;
}

PairedComparison comparePaired(const PairedCounts& counts) {
    const std::size_t fixed = counts.onlyAfter, broken = counts.onlyBefore, discordant = fixed + broken;
    PairedComparison result;
    result.fixed = fixed;
    result.broken = broken;
    result.samples = counts.both + discordant + counts.neither;
    if (result.samples == 0) return result;
    result.difference =
        (static_cast<double>(fixed) - static_cast<double>(broken)) / static_cast<double>(result.samples);
    const RateInterval drop = pairedDropInterval(counts);
    result.low = -drop.high;
    result.high = -drop.low;
    if (discordant == 0) return result;
    result.pValue = std::min(1.0, 2 * binomialUpperTail(std::max(fixed, broken), discordant, 0.5));
    if (result.pValue >= 1 - kConfidence)
        result.verdict = ChangeVerdict::WithinNoise;
    else
        result.verdict = fixed > broken ? ChangeVerdict::Gain : ChangeVerdict::Loss;
    return result;
}

PairedComparison comparePaired(const Flips& flips) {
    const std::size_t fixed = flips.fixed.size(), broken = flips.broken.size();
    return comparePaired({flips.both, broken, fixed, flips.samples - flips.both - fixed - broken});
}

std::string describe(const PairedComparison& comparison, std::string_view sample) {
    if (comparison.verdict == ChangeVerdict::NoChange) return fmt::format("no {} changed", sample);
    const int decimals = decimalsFor(comparison.samples);
    const std::string points = comparison.difference == 0
                                   ? fmt::format("{:.{}f}", 0.0, decimals)
                                   : fmt::format("{:+.{}f}", 100 * comparison.difference, decimals);
    return fmt::format("{} points, {} {}, {} {}: {}", points, counted(comparison.fixed, sample),
                       comparison.graded ? "better" : "fixed", comparison.broken,
                       comparison.graded ? "worse" : "broken", wordsOf(comparison.verdict));
}

}  // namespace quantloupe
