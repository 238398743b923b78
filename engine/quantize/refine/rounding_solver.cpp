// SPDX-License-Identifier: Apache-2.0
// Learned rounding (AdaRound), solved on moments.
//
// The nearest code is optimal for a single weight but not for the sum: if inputs are correlated, rounding one
// weight up can compensate for rounding another one down. The layer's squared output error over all samples
// is a quadratic form of the rounding errors, whose matrix is the second moment of the inputs, so the samples
// are needed only once and not in every step. Each decision is relaxed to a number h in 0..1 (a stretched
// sigmoid of a free variable V). The cost is minimized by gradient steps (Adam), and a growing penalty 1 -
// |2h - 1|^beta drives all h to 0 or 1. Then single decisions are flipped as long as this helps. With at most
// 12 weights (depthwise 3 x 3), all roundings are tried instead. Terms: zeta, gamma: the stretch; beta: the
// penalty's sharpness. Source: Nagel et al., "Up or Down? Adaptive Rounding for Post-Training Quantization"
// (2020): equations 21 to 24 with its stretch and initialization; using moments instead of batches and the
// final flips are our additions. Cost: steps x rows x columns^2. Weakness: the activation after the layer is
// ignored, so errors that it would clip are counted.
#include "quantize/refine/rounding_solver.h"

#include <algorithm>
#include <cmath>

#include "runtime/ordered/matrix_product.h"
#include "runtime/simd.h"
#include "runtime/vector_math.h"

namespace quantloupe {
namespace {

constexpr int kSteps = 240;
constexpr double kFreeSteps = 0.2;  ///< fraction of steps without the penalty
constexpr int kFirstBeta = 20, kLastBeta = 2;
constexpr float kPenalty = 0.02f, kRate = 0.04f;
constexpr float kZeta = 1.1f, kGamma = -0.1f;
constexpr std::size_t kFewColumns = 12;
constexpr int kMaxSweeps = 50;

struct Variables {
    std::vector<float> v, first, second, h;
};

constexpr std::size_t kBlock = 128;

/// Does one step of Adam on V, and computes h. `gradient` is the normalized gradient of the cost with respect
/// to q. In blocks, so that all loops vectorize.
QUANTLOUPE_SIMD void step(const float* gradient, std::size_t count, int beta, float penalty, float correct1,
                          float correct2, float* __restrict v, float* __restrict first,
                          float* __restrict second, float* __restrict h) {
    float size[kBlock], power[kBlock];
    for (std::size_t from = 0; from < count; from += kBlock) {
        const std::size_t block = count - from < kBlock ? count - from : kBlock;
        for (std::size_t i = 0; i < block; ++i) {
            const float away = 2.0f * h[from + i] - 1.0f;
            size[i] = away < 0 ? -away : away;
            power[i] = 1;
        }
        for (int b = 1; b < beta; ++b)
            for (std::size_t i = 0; i < block; ++i) power[i] *= size[i];
        for (std::size_t i = 0; i < block; ++i) {
            const std::size_t at = from + i;
            const float sigmoid = 1.0f / (1.0f + fastExp(-v[at]));
            const float stretched = sigmoid * (kZeta - kGamma) + kGamma;
            const float above = stretched > 0.0f ? 1.0f : 0.0f, inside = stretched < 1.0f ? above : 0.0f;
            const float slope = inside * (kZeta - kGamma) * sigmoid * (1.0f - sigmoid);
            const float sign = 2.0f * h[at] - 1.0f < 0 ? -1.0f : 1.0f;
            const float pull = -penalty * 2.0f * static_cast<float>(beta) * (sign * power[i]);
            const float g = (gradient[at] + pull) * slope;
            first[at] = 0.9f * first[at] + 0.1f * g;
            second[at] = 0.999f * second[at] + 0.001f * g * g;
            v[at] -= kRate * (first[at] * correct1) / (std::sqrt(second[at] * correct2) + 1e-8f);
            float next = (kZeta - kGamma) / (1.0f + fastExp(-v[at])) + kGamma;
            next = next < 0.0f ? 0.0f : next;
            h[at] = next > 1.0f ? 1.0f : next;
        }
    }
}

/// Initializes the free variables such that h is the fractional part of the exact value.
void start(std::span<const float> exact, std::span<const float> floors, Variables& x) {
    x.first.assign(exact.size(), 0);
    x.second.assign(exact.size(), 0);
    x.v.resize(exact.size());
    x.h.resize(exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
        x.h[i] = std::clamp(exact[i] - floors[i], 0.0f, 1.0f);
        x.v[i] = -std::log((kZeta - kGamma) / (x.h[i] - kGamma) - 1.0f);
    }
}

class Solver {
  public:
    Solver(const RoundingProblem& problem, const CancelToken& cancel)
        : m_problem(problem),
          m_cancel(cancel),
          m_columns(problem.columns),
          m_floors(problem.exact.size()),
          m_codes(problem.exact.size()) {
        for (std::size_t i = 0; i < m_floors.size(); ++i) {
            const float lowest = problem.lowest[i / m_columns], highest = problem.highest[i / m_columns];
            m_floors[i] = std::clamp(std::floor(problem.exact[i]), lowest, highest);
            m_codes[i] =
                static_cast<std::int32_t>(std::clamp(std::nearbyint(problem.exact[i]), lowest, highest));
        }
    }

    std::vector<std::int32_t> solve() {
        double sum = 0;
        for (std::size_t k = 0; k < m_columns; ++k)
            sum += static_cast<double>(m_problem.moments[k * m_columns + k]);
        m_meanMoment = sum / static_cast<double>(m_columns);
        if (!(m_meanMoment > 0) || !std::isfinite(m_meanMoment)) return m_codes;
        if (m_columns <= kFewColumns) {
            for (std::size_t row = 0; row < m_problem.rows; ++row) tryAll(row);
            return m_codes;
        }
        relax();
        for (std::size_t row = 0; row < m_problem.rows; ++row) {
            m_cancel.check();
            turnSingles(row);
        }
        return m_codes;
    }

  private:
    bool canGoUp(std::size_t i) const {
        return m_floors[i] < m_problem.highest[i / m_columns] && m_problem.exact[i] > m_floors[i];
    }

    /// Returns the gradient 2 (A q - t) of a row with respect to its codes.
    std::vector<double> slopes(std::size_t row) const {
        std::vector<double> result(m_columns);
        for (std::size_t k = 0; k < m_columns; ++k) {
            double sum = -static_cast<double>(m_problem.target[row * m_columns + k]);
            for (std::size_t j = 0; j < m_columns; ++j)
                sum +=
                    static_cast<double>(m_problem.moments[k * m_columns + j]) * m_codes[row * m_columns + j];
            result[k] = 2 * sum;
        }
        return result;
    }

    double change(const std::vector<double>& slope, std::size_t k, int by) const {
        return by * slope[k] +
               static_cast<double>(by) * by * static_cast<double>(m_problem.moments[k * m_columns + k]);
    }

    void turn(std::vector<double>& slope, std::size_t row, std::size_t k, int by) {
        m_codes[row * m_columns + k] += by;
        const float* moments = m_problem.moments.data() + k * m_columns;
        for (std::size_t j = 0; j < m_columns; ++j) slope[j] += 2.0 * by * static_cast<double>(moments[j]);
    }

    int otherWay(std::size_t i) const { return static_cast<float>(m_codes[i]) > m_floors[i] ? -1 : 1; }

    /// Tries all roundings in the order of a Gray code, so that one weight flips at a time.
    void tryAll(std::size_t row) {
        std::vector<std::size_t> open;
        for (std::size_t k = 0; k < m_columns; ++k)
            if (canGoUp(row * m_columns + k)) open.push_back(k);
        std::vector<double> slope = slopes(row);
        double cost = 0, best = 0;
        std::vector<std::int32_t> found(m_codes.begin() + static_cast<std::ptrdiff_t>(row * m_columns),
                                        m_codes.begin() + static_cast<std::ptrdiff_t>((row + 1) * m_columns));
        for (std::size_t number = 1; number < std::size_t{1} << open.size(); ++number) {
            std::size_t bit = 0;
            while (((number >> bit) & 1) == 0) ++bit;
            const std::size_t k = open[bit];
            const int by = otherWay(row * m_columns + k);
            cost += change(slope, k, by);
            turn(slope, row, k, by);
            if (cost < best - 1e-9 * m_meanMoment) {
                best = cost;
                std::copy_n(m_codes.begin() + static_cast<std::ptrdiff_t>(row * m_columns), m_columns,
                            found.begin());
            }
        }
        std::copy(found.begin(), found.end(), m_codes.begin() + static_cast<std::ptrdiff_t>(row * m_columns));
    }

    void relax() {
        const std::size_t count = m_codes.size();
        Variables x;
        start(m_problem.exact, m_floors, x);
        std::vector<float> values(count), gradient(count);
        const float norm = static_cast<float>(2 / m_meanMoment);
        const int freeSteps = static_cast<int>(kSteps * kFreeSteps);
        double correct1 = 1, correct2 = 1;
        for (int t = 0; t < kSteps; ++t) {
            m_cancel.check();
            for (std::size_t i = 0; i < count; ++i) values[i] = m_floors[i] + (canGoUp(i) ? x.h[i] : 0.0f);
            multiply({values.data(), m_columns, false}, {m_problem.moments.data(), m_columns, false},
                     m_problem.rows, m_columns, m_columns, gradient.data());
            for (std::size_t i = 0; i < count; ++i) gradient[i] = (gradient[i] - m_problem.target[i]) * norm;
            const bool free = t < freeSteps;
            const double part = free ? 0 : static_cast<double>(t - freeSteps) / (kSteps - freeSteps);
            const int beta = static_cast<int>(std::lround(kLastBeta + (kFirstBeta - kLastBeta) * (1 - part)));
            correct1 *= 0.9;
            correct2 *= 0.999;
            step(gradient.data(), count, beta, free ? 0.0f : kPenalty, static_cast<float>(1 / (1 - correct1)),
                 static_cast<float>(1 / (1 - correct2)), x.v.data(), x.first.data(), x.second.data(),
                 x.h.data());
        }
        std::vector<std::int32_t> learned(m_columns);
        for (std::size_t row = 0; row < m_problem.rows; ++row) {
            const std::size_t at = row * m_columns;
            for (std::size_t k = 0; k < m_columns; ++k)
                learned[k] = static_cast<std::int32_t>(m_floors[at + k]) +
                             (canGoUp(at + k) && x.h[at + k] >= 0.5f ? 1 : 0);
            const std::span<const std::int32_t> nearest(m_codes.data() + at, m_columns);
            if (roundingCost(m_problem, row, learned) < roundingCost(m_problem, row, nearest))
                std::copy(learned.begin(), learned.end(), m_codes.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }

    void turnSingles(std::size_t row) {
        std::vector<double> slope = slopes(row);
        for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
            bool turned = false;
            for (std::size_t k = 0; k < m_columns; ++k) {
                const std::size_t i = row * m_columns + k;
                if (!canGoUp(i)) continue;
                const int by = otherWay(i);
                if (change(slope, k, by) >= -1e-6 * m_meanMoment) continue;
                turn(slope, row, k, by);
                turned = true;
            }
            if (!turned) return;
        }
    }

    const RoundingProblem& m_problem;
    const CancelToken& m_cancel;
    std::size_t m_columns;
    std::vector<float> m_floors;
    std::vector<std::int32_t> m_codes;
    double m_meanMoment = 0;
};

}  // namespace

double roundingCost(const RoundingProblem& problem, std::size_t row, std::span<const std::int32_t> codes) {
    double cost = 0;
    for (std::size_t k = 0; k < problem.columns; ++k) {
        if (codes[k] == 0) continue;
        double sum = -2 * static_cast<double>(problem.target[row * problem.columns + k]);
        for (std::size_t j = 0; j < problem.columns; ++j)
            sum += static_cast<double>(problem.moments[k * problem.columns + j]) * codes[j];
        cost += sum * codes[k];
    }
    return cost;
}

std::vector<std::int32_t> solveRounding(const RoundingProblem& problem, const CancelToken& cancel) {
    return Solver(problem, cancel).solve();
}

}  // namespace quantloupe
