// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul.
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

/// Gemm of float64.
CompiledNode doubleGemm(const NodeContext& context, const MatrixProductSpec& spec) {
    const std::int64_t rows = spec.output[0], columns = spec.output[1];
    const std::int64_t inner = spec.left[spec.transposeLeft ? 0 : 1];
    const auto strided = [](const void* data, const Dims& dims, bool transposed) {
        return Strided<double>{static_cast<const double*>(data), transposed ? 1 : dims[1],
                               transposed ? dims[1] : 1};
    };
    Dims bias = {1, 1};
    if (context.has(2)) {
        bias = context.input(2).dims;
        bias.insert(bias.begin(), 2 - std::min<std::size_t>(bias.size(), 2), 1);
        if (context.input(2).type != DataType::Float64 || broadcastDims(bias, spec.output) != spec.output)
            failInput("a Gemm of {} cannot add {}", toString(spec.output), toString(bias));
    }
    return {{{DataType::Float64, spec.output, Layout::Plain}},
            makeKernel([=, left = spec.left, right = spec.right, transposeLeft = spec.transposeLeft,
                        transposeRight = spec.transposeRight, alpha = static_cast<double>(spec.alpha),
                        beta = static_cast<double>(context.node.attributes.real("beta", 1.0f)),
                        biased = context.has(2)](const KernelArguments& a) {
                const Strided<double> l = strided(a.inputs[0], left, transposeLeft);
                const Strided<double> r = strided(a.inputs[1], right, transposeRight);
                const Strided<double> c{biased ? static_cast<const double*>(a.inputs[2]) : nullptr,
                                        bias[0] == 1 ? 0 : bias[1], bias[1] == 1 ? 0 : 1};
                auto* out = static_cast<double*>(a.outputs[0]);
                for (std::int64_t row = 0; row < rows; ++row)
                    for (std::int64_t column = 0; column < columns; ++column)
                        *out++ = alpha * dotProduct(l, r, row, column, inner) +
                                 (biased ? beta * c(row, column) : 0);
            })};
}

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
        const Constant& bias = context.needConstant(2, "the bias of a Gemm");
        const float beta = attributes.real("beta", 1.0f);
        if (bias.size() != columns && bias.size() != 1)
            fail(ErrorKind::Unsupported,
                 "a Gemm bias of shape {} is not supported, only one value per column",
                 toString(bias.dims()));
        std::vector<float> values(bias.floats().begin(), bias.floats().end());
        if (bias.size() != columns) values.assign(static_cast<std::size_t>(columns), bias.floats()[0]);
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

}  // namespace

void addMatrixProducts(OperatorTable& table) {
    table["Gemm"] = {compileGemm, LayoutPolicy::Plain, true};
    table["MatMul"] = {compileMatMul, LayoutPolicy::Plain, true};
}

}  // namespace quantloupe
