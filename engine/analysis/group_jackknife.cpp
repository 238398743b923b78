// SPDX-License-Identifier: Apache-2.0
#include "analysis/group_jackknife.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace quantloupe {

std::size_t jackknifeGroups(std::size_t samples) {
    constexpr std::size_t kGroups = 20;
    return std::min(samples, kGroups);
}

double studentTails(double t, std::size_t freedom) {
    if (freedom == 0) return 1;
    const double angle = std::atan(std::abs(t) / std::sqrt(static_cast<double>(freedom)));
    const double sine = std::sin(angle), cosine = std::cos(angle);
    const bool odd = freedom % 2 == 1;
    double term = odd ? cosine : 1, sum = freedom == 1 ? 0 : term;
    for (std::size_t k = odd ? 3 : 2; k < freedom; k += 2) {
        term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
        sum += term;
    }
    const double inside = odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
    return std::clamp(1 - inside, 0.0, 1.0);
}

double studentQuantile95(std::size_t freedom) {
    double low = 0, high = 1000;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (studentTails(middle, freedom) > 0.05 ? low : high) = middle;
    }
    return high;
}

PairedComparison compareGraded(double before, const TaskScores& beforeScores, double after,
                               const TaskScores& afterScores) {
    const auto &a = beforeScores.withoutGroup, &b = afterScores.withoutGroup;
    if (a.size() != b.size() || beforeScores.samples.size() != afterScores.samples.size())
        fail(ErrorKind::Internal, "{} and {} samples are not the same", beforeScores.samples.size(),
             afterScores.samples.size());
    PairedComparison result;
    result.graded = true;
    result.samples = beforeScores.samples.size();
    result.difference = after - before;
    for (std::size_t s = 0; s < result.samples; ++s) {
        result.fixed += afterScores.samples[s] > beforeScores.samples[s];
        result.broken += afterScores.samples[s] < beforeScores.samples[s];
    }
    if (a.size() < 2) {
        if (result.difference != 0)
            result.verdict = ChangeVerdict::WithinNoise;  // no variance can be estimated
        return result;
    }
    const auto groups = static_cast<double>(a.size());
    double mean = 0, squares = 0;
    for (std::size_t g = 0; g < a.size(); ++g) mean += (b[g] - a[g]) / groups;
    for (std::size_t g = 0; g < a.size(); ++g) squares += (b[g] - a[g] - mean) * (b[g] - a[g] - mean);
    const double deviation = std::sqrt(squares * (groups - 1) / groups);
    const double half = studentQuantile95(a.size() - 1) * deviation;
    result.low = std::max(-1.0, result.difference - half);
    result.high = std::min(1.0, result.difference + half);
    if (deviation > 0) {
        result.pValue = studentTails(result.difference / deviation, a.size() - 1);
        result.verdict = result.pValue >= 0.05   ? ChangeVerdict::WithinNoise
                         : result.difference > 0 ? ChangeVerdict::Gain
                                                 : ChangeVerdict::Loss;
    } else if (result.difference != 0 || result.fixed + result.broken > 0) {
        result.verdict = ChangeVerdict::WithinNoise;
    }
    return result;
}

}  // namespace quantloupe
