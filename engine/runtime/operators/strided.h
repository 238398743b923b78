// SPDX-License-Identifier: Apache-2.0
#pragma once
// Iterates over an output in memory order together with operands of another memory layout: broadcast, sliced,
// transposed.

#include <functional>

#include "runtime/tensor_desc.h"

namespace quantloupe {

/// Nested loops, the innermost last. Adjacent loops are merged if all operands have matching strides.
class StridedLoops {
  public:
    using Steps = std::vector<std::ptrdiff_t>;

    /// `steps[k][d]`: the number of elements by which operand k advances with index d; one entry per extent.
    StridedLoops(const Dims& extents, const std::vector<Steps>& steps);

    std::size_t inner() const { return m_inner; }
    std::ptrdiff_t innerStep(std::size_t operand) const { return m_innerSteps[operand]; }
    std::size_t rows() const { return m_rows; }
    std::size_t operands() const { return m_innerSteps.size(); }
    /// The loops around the innermost one.
    const std::vector<std::size_t>& outer() const { return m_outer; }
    std::ptrdiff_t outerStep(std::size_t operand, std::size_t loop) const { return m_steps[operand][loop]; }

    /// Calls body(offsets) for every run of the innermost loop; offsets[k] is the start of operand k.
    template <typename F>
    void forEachRow(F body) const {
        std::vector<std::ptrdiff_t> offsets(operands(), 0);
        std::vector<std::size_t> at(m_outer.size(), 0);
        for (std::size_t row = 0; row < m_rows; ++row) {
            body(offsets.data());
            for (std::size_t d = m_outer.size(); d-- > 0;) {
                for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] += m_steps[k][d];
                if (++at[d] < m_outer[d]) break;
                for (std::size_t k = 0; k < offsets.size(); ++k)
                    offsets[k] -= m_steps[k][d] * static_cast<std::ptrdiff_t>(m_outer[d]);
                at[d] = 0;
            }
        }
    }

  private:
    std::vector<std::size_t> m_outer;
    std::vector<Steps> m_steps;
    Steps m_innerSteps;
    std::size_t m_inner = 1, m_rows = 0;
};

/// The strides of an operand for the dimensions of a broadcast output: 0 in repeated dimensions.
StridedLoops::Steps broadcastSteps(const TensorDesc& operand, const Dims& output);
/// Returns `values` in the order of the memory layout of `output`.
StridedLoops::Steps inMemoryOrder(const TensorDesc& output, const StridedLoops::Steps& values);
/// The extents of `output` in the same order.
Dims extentsInMemoryOrder(const TensorDesc& output);

/// Returns a function (source, target) that fills `output` contiguously from a source that starts at element
/// `start` and advances by `steps` (one per logical dimension of the output). For elements of 1, 2, 4 or 8
/// bytes.
std::function<void(const void*, void*)> stridedCopy(const TensorDesc& output,
                                                    const StridedLoops::Steps& steps,
                                                    std::ptrdiff_t start = 0);

}  // namespace quantloupe
