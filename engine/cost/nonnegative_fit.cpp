// SPDX-License-Identifier: Apache-2.0
#include "cost/nonnegative_fit.h"

#include <cmath>

namespace quantloupe {

std::array<double, 2> nonnegativeFit(std::span<const FitRow> rows) {
    double aa = 0, ab = 0, bb = 0, av = 0, bv = 0;
    for (const FitRow& row : rows) {
        const auto [a, b] = row.features;
        aa += a * a;
        ab += a * b;
        bb += b * b;
        av += a * row.value;
        bv += b * row.value;
    }
    const auto errorOf = [&](const std::array<double, 2>& x) {
        double error = 0;
        for (const FitRow& row : rows) {
            const double difference = x[0] * row.features[0] + x[1] * row.features[1] - row.value;
            error += difference * difference;
        }
        return error;
    };
    const double determinant = aa * bb - ab * ab;
    const bool proportional = determinant <= 1e-12 * aa * bb;
    // Each feature alone fits equally well then.
    if (proportional && aa > 0 && bb > 0 && av > 0 && bv > 0) return {av / aa / 2, bv / bb / 2};
    std::array<double, 2> best{};
    double least = errorOf(best);
    const auto consider = [&](const std::array<double, 2>& x) {
        if (!(x[0] >= 0 && x[1] >= 0) || !std::isfinite(x[0]) || !std::isfinite(x[1])) return;
        if (const double error = errorOf(x); error < least) {
            least = error;
            best = x;
        }
    };
    if (aa > 0) consider({av / aa, 0});
    if (bb > 0) consider({0, bv / bb});
    if (!proportional) consider({(av * bb - bv * ab) / determinant, (bv * aa - av * ab) / determinant});
    return best;
}

}  // namespace quantloupe
