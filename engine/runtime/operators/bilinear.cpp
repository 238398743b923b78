// SPDX-License-Identifier: Apache-2.0
#include "runtime/operators/bilinear.h"

#include <algorithm>
#include <cmath>

#include "base/memory_limit.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

/// The two input indices of each output index, and their weights.
struct LinearTaps {
    std::vector<std::size_t> first, second;
    std::vector<float> firstWeight, secondWeight;

    explicit LinearTaps(const BilinearAxis& axis) {
        requireMemory(axis.coordinates.size() * 2 * (sizeof first[0] + sizeof firstWeight[0]));
        const std::size_t last = axis.size - 1;
        for (const float coordinate : axis.coordinates) {
            const float x = std::clamp(coordinate, 0.0f, static_cast<float>(last));
            const std::size_t a = std::min(static_cast<std::size_t>(x), last), b = std::min(a + 1, last);
            first.push_back(a);
            second.push_back(b);
            firstWeight.push_back(a == b ? 0.5f : std::fabs(x - static_cast<float>(b)));
            secondWeight.push_back(a == b ? 0.5f : std::fabs(x - static_cast<float>(a)));
        }
    }
};

/// Interpolates between two rows of pixels with `inner` values each.
QUANTLOUPE_SIMD void interpolate(const LinearTaps& columns, std::size_t inner, const float* upper,
                                 const float* lower, float upperWeight, float lowerWeight, float* out) {
    for (std::size_t x = 0; x < columns.first.size(); ++x, out += inner) {
        const std::size_t left = columns.first[x] * inner, right = columns.second[x] * inner;
        const float a = columns.firstWeight[x] * upperWeight, b = columns.secondWeight[x] * upperWeight,
                    c = columns.firstWeight[x] * lowerWeight, d = columns.secondWeight[x] * lowerWeight;
        for (std::size_t k = 0; k < inner; ++k)
            out[k] = a * upper[left + k] + b * upper[right + k] + c * lower[left + k] + d * lower[right + k];
    }
}

class BilinearKernel final : public Kernel {
  public:
    BilinearKernel(const BilinearAxis& rows, const BilinearAxis& columns, std::size_t outer,
                   std::size_t inner)
        : m_rows(rows),
          m_columns(columns),
          m_outer(outer),
          m_inner(inner),
          m_rowSize(columns.size * inner),
          m_imageSize(rows.size * m_rowSize) {}
    void run(const KernelArguments& a) const override {
        const auto* in = static_cast<const float*>(a.inputs[0]);
        auto* out = static_cast<float*>(a.outputs[0]);
        for (std::size_t o = 0; o < m_outer; ++o, in += m_imageSize)
            for (std::size_t y = 0; y < m_rows.first.size(); ++y, out += m_columns.first.size() * m_inner)
                interpolate(m_columns, m_inner, in + m_rows.first[y] * m_rowSize,
                            in + m_rows.second[y] * m_rowSize, m_rows.firstWeight[y], m_rows.secondWeight[y],
                            out);
    }

  private:
    LinearTaps m_rows, m_columns;
    std::size_t m_outer, m_inner, m_rowSize, m_imageSize;
};

}  // namespace

std::unique_ptr<Kernel> makeBilinearKernel(const BilinearAxis& rows, const BilinearAxis& columns,
                                           std::size_t outer, std::size_t inner) {
    return std::make_unique<BilinearKernel>(rows, columns, outer, inner);
}

}  // namespace quantloupe
