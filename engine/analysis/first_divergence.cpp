// SPDX-License-Identifier: Apache-2.0
#include "analysis/first_divergence.h"

#include <algorithm>
#include <cmath>

namespace quantloupe {

std::optional<FirstDivergence> findFirstDivergence(std::span<const double> errors,
                                                   const DivergenceRule& rule) {
    std::optional<FirstDivergence> drift;
    double largest = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        const double error = errors[i];
        if (std::isnan(error)) return FirstDivergence{i, DivergenceKind::NotFinite, error, largest};
        if (std::isinf(error) || error < 0) continue;
        if (error > rule.floor && error >= rule.factor * largest)
            return FirstDivergence{i, DivergenceKind::Jump, error, largest};
        if (!drift && error >= rule.drift) drift = FirstDivergence{i, DivergenceKind::Drift, error, largest};
        largest = std::max(largest, error);
    }
    return drift;
}

}  // namespace quantloupe
