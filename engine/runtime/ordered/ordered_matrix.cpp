// SPDX-License-Identifier: Apache-2.0
// The order of operations in ONNX Runtime (MLAS): each element is summed from 0 by consecutive fused
// multiply-adds, one block of the inner dimension at a time; then the sums of the blocks are added. Gemm
// starts with its bias, MatMul with 0. Limitation: for a Gemm with a single row, ONNX Runtime has additional
// kernels with another order.

#include "runtime/ordered/matrix_product.h"
#include "runtime/ordered/ordered_product.h"

namespace quantloupe {
namespace {

std::size_t extent(std::int64_t n) { return static_cast<std::size_t>(n); }

class MatrixProduct final : public Kernel {
  public:
    explicit MatrixProduct(const MatrixProductSpec& spec)
        : m_rows(extent(spec.output[spec.output.size() - 2])),
          m_columns(extent(spec.output.back())),
          m_inner(extent(spec.transposeLeft ? spec.left[0] : spec.left.back())),
          m_leftStride(spec.transposeLeft ? 1 : m_inner),
          m_leftStep(spec.transposeLeft ? m_rows : 1),
          m_transposeRight(spec.transposeRight),
          m_alpha(spec.alpha) {
        // Offsets of the matrices in the batch; matrices are reused along dimensions of extent 1.
        const std::size_t rank = spec.output.size() - 2;
        std::vector<std::size_t> index(rank, 0);
        const std::size_t batches = extent(elementCount(Dims(spec.output.begin(), spec.output.end() - 2)));
        const auto offset = [&](const Dims& dims) {
            std::size_t at = 0;
            for (std::size_t d = 0; d < rank; ++d) at = at * extent(dims[d]) + (dims[d] == 1 ? 0 : index[d]);
            return at;
        };
        for (std::size_t b = 0; b < batches; ++b) {
            m_batches.push_back(
                {offset(spec.left) * m_rows * m_inner, offset(spec.right) * m_inner * m_columns});
            for (std::size_t d = rank; d-- > 0;) {
                if (++index[d] < extent(spec.output[d])) break;
                index[d] = 0;
            }
        }
        if (spec.constantRight != nullptr && rank == 0) {
            m_packed = sharedPanels(*spec.constantRight, m_transposeRight, m_inner, m_columns);
        } else if (spec.constantRight != nullptr) {
            m_right.assign(spec.constantRight->floats().begin(), spec.constantRight->floats().end());
        }
        if (spec.bias != nullptr) m_start = paddedToPanels(spec.bias->floats());
        if (spec.addedBias != nullptr) m_bias = paddedToPanels(spec.addedBias->floats());
        if (spec.activation != nullptr) m_bounds = *spec.activation;
    }
    /// An upper bound: other kernels may share the panels.
    std::size_t weightBytes() const override {
        return ((m_packed ? m_packed->size() : 0) + m_right.size()) * sizeof(float);
    }
    std::size_t scratchBytes() const override {
        return m_packed ? 0 : panelFloats(m_inner, m_columns) * sizeof(float);
    }

    void run(const KernelArguments& arguments) const override {
        auto* scratch = static_cast<float*>(arguments.scratch);
        const auto* given =
            m_right.empty() && !m_packed ? static_cast<const float*>(arguments.inputs[1]) : m_right.data();
        PackedProduct product;
        product.leftStride = m_leftStride;
        product.rows = m_rows;
        product.inner = m_inner;
        product.leftStep = m_leftStep;
        product.panels = m_packed ? m_packed->data() : nullptr;
        product.columns = m_columns;
        product.block = orderedBlock(m_columns, m_inner);
        product.alpha = m_alpha;
        product.start = m_start.empty() ? nullptr : m_start.data();
        product.bias = m_bias.empty() ? nullptr : m_bias.data();
        product.bounds = m_bounds;
        product.result = static_cast<float*>(arguments.outputs[0]);
        product.resultStride = m_columns;
        std::size_t packedAt = std::numeric_limits<std::size_t>::max();
        for (const auto& [leftAt, rightAt] : m_batches) {
            product.left = static_cast<const float*>(arguments.inputs[0]) + leftAt;
            if (!m_packed) {
                if (rightAt != packedAt) pack(given + rightAt, scratch);
                packedAt = rightAt;
                product.panels = scratch;
            }
            multiplyPacked(product);
            product.result += m_rows * m_columns;
        }
    }

  private:
    void pack(const float* right, float* packed) const {
        packPanels({right, m_transposeRight ? m_inner : m_columns, m_transposeRight}, m_inner, m_columns,
                   packed);
    }

    struct Offsets {
        std::size_t left, right;
    };
    std::size_t m_rows, m_columns, m_inner, m_leftStride, m_leftStep;
    bool m_transposeRight;
    float m_alpha;
    std::vector<Offsets> m_batches;
    std::shared_ptr<const AlignedVector<float>> m_packed;  ///< null unless the right operand is one constant
    AlignedVector<float> m_right, m_start, m_bias;
    Activation m_bounds;
};

}  // namespace

std::unique_ptr<Kernel> makeMatrixProduct(const MatrixProductSpec& spec) {
    return std::make_unique<MatrixProduct>(spec);
}

}  // namespace quantloupe
