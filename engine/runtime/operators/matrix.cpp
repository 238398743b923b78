// SPDX-License-Identifier: Apache-2.0
// Gemm, MatMul and Det.
#include <cmath>

#include "base/error.h"
#include "runtime/operators/broadcast.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"
#include "runtime/ordered/ordered_product.h"

namespace quantloupe {
namespace {

/// Offsets of the matrices of a tensor that is broadcast to `batch`.
std::vector<std::size_t> matrixOffsets(const Dims& dims, const Dims& batch) {
    std::vector<std::size_t> offsets(static_cast<std::size_t>(elementCount(batch)), 0);
    for (std::size_t index = 0; index < offsets.size(); ++index) {
        auto rest = static_cast<std::int64_t>(index), stride = dims[dims.size() - 2] * dims.back();
        for (std::size_t d = 1; d <= dims.size() - 2; ++d) {
            const std::int64_t extent = batch[batch.size() - d], own = dims[dims.size() - 2 - d];
            offsets[index] += static_cast<std::size_t>(own == 1 ? 0 : rest % extent * stride);
            rest /= extent;
            stride *= own;
        }
    }
    return offsets;
}

/// A matrix whose elements are `rowStep` and `columnStep` apart.
template <typename T>
struct Strided {
    const T* data;
    std::int64_t rowStep, columnStep;
    const T& operator()(std::int64_t row, std::int64_t column) const {
        return data[row * rowStep + column * columnStep];
    }
};

template <typename T>
T dotProduct(const Strided<T>& left, const Strided<T>& right, std::int64_t row, std::int64_t column,
             std::int64_t count) {
    T sum{};
    for (std::int64_t k = 0; k < count; ++k) sum = static_cast<T>(sum + left(row, k) * right(k, column));
    return sum;
}

/// MatMul of types other than float32, for example of positions: plain loops.
CompiledNode plainMatMul(const NodeContext& context, const Dims& left, const Dims& right, const Dims& batch,
                         const Dims& result) {
    const DataType type = context.input(0).type;
    if (context.input(1).type != type) failInput("MatMul's operands are of different types");
    const std::int64_t rows = left[left.size() - 2], inner = left.back(), columns = right.back();
    return withArithmeticType(type, "MatMul", [&]<typename T>(T) -> CompiledNode {
        return {{{type, result, Layout::Plain}},
                makeKernel([=, leftAt = matrixOffsets(left, batch),
                            rightAt = matrixOffsets(right, batch)](const KernelArguments& a) {
                    auto* out = static_cast<T*>(a.outputs[0]);
                    for (std::size_t b = 0; b < leftAt.size(); ++b) {
                        const Strided<T> l{static_cast<const T*>(a.inputs[0]) + leftAt[b], inner, 1};
                        const Strided<T> r{static_cast<const T*>(a.inputs[1]) + rightAt[b], columns, 1};
                        for (std::int64_t row = 0; row < rows; ++row)
                            for (std::int64_t column = 0; column < columns; ++column)
                                *out++ = dotProduct(l, r, row, column, inner);
                    }
                })};
    });
}

/// The third operand of a Gemm, broadcast to its output.
template <typename T>
class AddedMatrix {
  public:
    AddedMatrix(const NodeContext& context, const Dims& output)
        : m_beta(static_cast<T>(context.node.attributes.real("beta", 1.0f))), m_dims{1, 1} {
        if (!context.has(2)) return;
        m_present = true;
        m_dims = context.input(2).dims;
        m_dims.insert(m_dims.begin(), 2 - std::min<std::size_t>(m_dims.size(), 2), 1);
        if (context.input(2).type != context.input(0).type || broadcastDims(m_dims, output) != output)
            failInput("a Gemm of {} cannot add {}", toString(output), toString(m_dims));
    }

    T operator()(const void* data, std::int64_t row, std::int64_t column) const {
        if (!m_present) return 0;
        const Strided<T> values{static_cast<const T*>(data), m_dims[0] == 1 ? 0 : m_dims[1],
                                m_dims[1] == 1 ? 0 : 1};
        return m_beta * values(row, column);
    }

  private:
    T m_beta;
    Dims m_dims;
    bool m_present = false;
};

/// Gemm of float64.
CompiledNode doubleGemm(const NodeContext& context, const MatrixProductSpec& spec) {
    const std::int64_t rows = spec.output[0], columns = spec.output[1];
    const std::int64_t inner = spec.left[spec.transposeLeft ? 0 : 1];
    const auto strided = [](const void* data, const Dims& dims, bool transposed) {
        return Strided<double>{static_cast<const double*>(data), transposed ? 1 : dims[1],
                               transposed ? dims[1] : 1};
    };
    return {{{DataType::Float64, spec.output, Layout::Plain}},
            makeKernel([=, left = spec.left, right = spec.right, transposeLeft = spec.transposeLeft,
                        transposeRight = spec.transposeRight, alpha = static_cast<double>(spec.alpha),
                        added = AddedMatrix<double>(context, spec.output)](const KernelArguments& a) {
                const Strided<double> l = strided(a.inputs[0], left, transposeLeft);
                const Strided<double> r = strided(a.inputs[1], right, transposeRight);
                const void* bias = a.inputs.size() > 2 ? a.inputs[2] : nullptr;
                auto* out = static_cast<double*>(a.outputs[0]);
                for (std::int64_t row = 0; row < rows; ++row)
                    for (std::int64_t column = 0; column < columns; ++column)
                        *out++ = alpha * dotProduct(l, r, row, column, inner) + added(bias, row, column);
            })};
}

/// Gemm of float32 with a third operand that is computed or not one value per column.
class GemmPlusMatrix final : public Kernel {
  public:
    GemmPlusMatrix(const NodeContext& context, const MatrixProductSpec& spec)
        : m_rows(spec.output[0]), m_columns(spec.output[1]), m_added(context, spec.output) {
        MatrixProductSpec plain = spec;
        plain.activation = nullptr;
        if (spec.activation != nullptr) m_bounds = *spec.activation;
        m_product = makeMatrixProduct(plain);
    }

    void run(const KernelArguments& a) const override {
        m_product->run(a);
        auto* out = static_cast<float*>(a.outputs[0]);
        for (std::int64_t row = 0; row < m_rows; ++row)
            for (std::int64_t column = 0; column < m_columns; ++column, ++out)
                *out = m_bounds(*out + m_added(a.inputs[2], row, column));
    }
    std::size_t scratchBytes() const override { return m_product->scratchBytes(); }
    std::size_t weightBytes() const override { return m_product->weightBytes(); }

  private:
    std::int64_t m_rows, m_columns;
    AddedMatrix<float> m_added;
    Activation m_bounds;
    std::unique_ptr<Kernel> m_product;
};

CompiledNode compileGemm(const NodeContext& context) {
    const bool isDouble =
        context.input(0).type == DataType::Float64 && context.input(1).type == DataType::Float64;
    if (!isDouble) {
        requireFloat(context, 0);
        requireFloat(context, 1);
    }
    const Attributes& attributes = context.node.attributes;
    MatrixProductSpec spec;
    spec.left = context.input(0).dims;
    spec.right = context.input(1).dims;
    if (spec.left.size() != 2 || spec.right.size() != 2) failInput("Gemm needs two matrices");
    spec.transposeLeft = attributes.integer("transA", 0) != 0;
    spec.transposeRight = attributes.integer("transB", 0) != 0;
    const std::int64_t rows = spec.left[spec.transposeLeft ? 1 : 0];
    const std::int64_t inner = spec.left[spec.transposeLeft ? 0 : 1];
    const std::int64_t columns = spec.right[spec.transposeRight ? 0 : 1];
    if (inner != spec.right[spec.transposeRight ? 1 : 0])
        failInput("Gemm cannot multiply {} with {}", toString(spec.left), toString(spec.right));
    spec.output = {rows, columns};
    spec.alpha = attributes.real("alpha", 1.0f);
    if (isDouble) return doubleGemm(context, spec);
    spec.constantRight = context.constant(1);
    spec.activation = context.activation;
    ConstantPtr scaledBias;
    if (context.has(2)) {
        const Constant* const bias = context.constant(2);
        const bool perColumn =
            bias != nullptr &&
            (bias->size() == 1 || (bias->size() == columns && bias->dims().back() == columns));
        if (!perColumn)
            return {{{DataType::Float32, spec.output, Layout::Plain}},
                    std::make_unique<GemmPlusMatrix>(context, spec)};
        const float beta = attributes.real("beta", 1.0f);
        std::vector<float> values(bias->floats().begin(), bias->floats().end());
        if (bias->size() != columns) values.assign(static_cast<std::size_t>(columns), bias->floats()[0]);
        for (float& value : values) value *= beta;
        scaledBias = Constant::fromFloats({columns}, std::move(values));
        spec.bias = scaledBias.get();
    }
    return {{{DataType::Float32, spec.output, Layout::Plain}}, makeMatrixProduct(spec)};
}

CompiledNode compileMatMul(const NodeContext& context) {
    Dims left = context.input(0).dims, right = context.input(1).dims;
    const bool vectorLeft = left.size() == 1, vectorRight = right.size() == 1;
    if (left.empty() || right.empty()) failInput("MatMul needs vectors or matrices, not scalars");
    if (vectorLeft) left.insert(left.begin(), 1);
    if (vectorRight) right.push_back(1);
    // ONNX's MatMul has no attributes; fusions.h sets this one for a Transpose before the product.
    const bool transposed = context.node.attributes.integer("transB", 0) != 0 && right.size() > 2;
    if (transposed) std::swap(right[right.size() - 2], right.back());
    const std::int64_t rows = left[left.size() - 2], inner = left.back(), columns = right.back();
    if (inner != right[right.size() - 2])
        failInput("MatMul cannot multiply {} with {}", toString(context.input(0).dims),
                  toString(context.input(1).dims));

    const Dims batch =
        broadcastDims(Dims(left.begin(), left.end() - 2), Dims(right.begin(), right.end() - 2));
    Dims result = batch;
    if (!vectorLeft) result.push_back(rows);
    if (!vectorRight) result.push_back(columns);

    if (context.input(0).type != DataType::Float32) return plainMatMul(context, left, right, batch, result);
    requireFloat(context, 1);
    MatrixProductSpec spec;
    spec.transposeRight = transposed;
    spec.constantRight = context.constant(1);
    // ONNX's MatMul has two inputs; the third is the bias of an Add that fusions.h fused into it.
    if (context.has(2)) spec.addedBias = &context.needConstant(2, "the bias of a MatMul");
    spec.activation = context.activation;
    if (right.size() == 2) {  // one matrix for the whole batch: a single product
        spec.left = {elementCount(Dims(left.begin(), left.end() - 1)), inner};
        spec.right = right;
        spec.output = {spec.left[0], columns};
    } else {
        const auto padded = [&](Dims dims) {
            dims.insert(dims.begin(), batch.size() + 2 - dims.size(), 1);
            return dims;
        };
        spec.left = padded(left);
        spec.right = padded(right);
        spec.output = batch;
        spec.output.push_back(rows);
        spec.output.push_back(columns);
    }
    return {{{DataType::Float32, result, Layout::Plain}}, makeMatrixProduct(spec)};
}

/// The determinants of square matrices, by elimination with the largest pivot of each column.
CompiledNode compileDet(const NodeContext& context) {
    requireFloat(context, 0);
    const Dims& dims = context.input(0).dims;
    if (dims.size() < 2 || dims.back() != dims[dims.size() - 2])
        failInput("Det needs square matrices, not {}", toString(dims));
    const TensorDesc output{DataType::Float32, {dims.begin(), dims.end() - 2}, Layout::Plain};
    const auto n = static_cast<std::size_t>(dims.back());
    return {{output}, makeKernel([=, count = output.count()](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                for (std::size_t matrix = 0; matrix < count; ++matrix, in += n * n) {
                    std::vector<double> values(in, in + n * n);
                    double result = 1;
                    for (std::size_t k = 0; k < n; ++k) {
                        std::size_t pivot = k;
                        for (std::size_t row = k + 1; row < n; ++row)
                            if (std::fabs(values[row * n + k]) > std::fabs(values[pivot * n + k]))
                                pivot = row;
                        if (pivot != k) {
                            for (std::size_t c = 0; c < n; ++c)
                                std::swap(values[k * n + c], values[pivot * n + c]);
                            result = -result;
                        }
                        const double top = values[k * n + k];
                        result *= top;
                        if (top == 0) break;
                        for (std::size_t row = k + 1; row < n; ++row) {
                            const double factor = values[row * n + k] / top;
                            for (std::size_t c = k; c < n; ++c)
                                values[row * n + c] -= factor * values[k * n + c];
                        }
                    }
                    static_cast<float*>(a.outputs[0])[matrix] = static_cast<float>(result);
                }
            })};
}

}  // namespace

void addMatrixProducts(OperatorTable& table) {
    table["Det"] = {compileDet};
    table["Gemm"] = {compileGemm, LayoutPolicy::Plain, true};
    table["MatMul"] = {compileMatMul, LayoutPolicy::Plain, true};
}

}  // namespace quantloupe
