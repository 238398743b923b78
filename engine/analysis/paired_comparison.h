// SPDX-License-Identifier: Apache-2.0
#pragma once
// Comparison of two configurations on the same samples. Most samples are right with both or wrong with both
// and carry no information; only the discordant samples matter: `fixed` (wrong before, right after) and
// `broken` (right before, wrong after). This is much more sensitive than comparing the separate intervals of
// two accuracies.
//
// Test: McNemar's, exact (Q. McNemar, Psychometrika 12, 1947). Given m = fixed + broken discordant samples
// and no real change, fixed ~ Bin(m, 1/2): p = min(1, 2 P(X >= max(fixed, broken))).
//
// Interval, 95 %: Newcombe's (paired_interval.h), because an interval that takes m as given would be too
// short: m varies with the samples, too. The test and the interval are different methods: near the limit, the
// interval can contain 0 although p < 0.05, or the reverse.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/paired_interval.h"

namespace quantloupe {

/// The samples that changed, by index, ascending.
struct Flips {
    std::vector<std::size_t> fixed, broken;
    std::size_t samples = 0;  ///< number of samples with a right class
    std::size_t both = 0;     ///< of these, right before and after
};

/// Returns the samples that changed. All three contain one class per sample. `rightClasses` is the label, or
/// the float model's class for agreement; samples with a negative one are left out. Throws Error if the sizes
/// differ.
Flips findFlips(std::span<const std::int32_t> before, std::span<const std::int32_t> after,
                std::span<const std::int32_t> rightClasses);

enum class ChangeVerdict { NoChange, WithinNoise, Gain, Loss };

struct PairedComparison {
    std::size_t fixed = 0, broken = 0, samples = 0;
    double difference = 0;      ///< of the rates, after - before, -1 to 1
    double low = -1, high = 1;  ///< 95 % interval of the difference
    double pValue = 1;          ///< of McNemar's exact test, two-sided
    ChangeVerdict verdict = ChangeVerdict::NoChange;
    /// The metric is not a fraction of correct samples (group_jackknife.h): fixed and broken are the samples
    /// whose own value rose and fell.
    bool graded = false;
};

/// Without samples: no change, the interval is -1 to 1.
PairedComparison comparePaired(const PairedCounts& counts);
PairedComparison comparePaired(const Flips& flips);

/// Returns "+0.8 points, 5 samples fixed, 1 broken: within noise"; "a real gain", "a real loss"; "no sample
/// changed"; for a graded comparison "5 samples better, 1 worse". Has one decimal, more if one sample is less
/// than a tenth of a point. `sample` is the singular noun; its plural takes an s.
std::string describe(const PairedComparison& comparison, std::string_view sample = "sample");

}  // namespace quantloupe
