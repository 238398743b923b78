// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul.
#include "base/error.h"
#include "runtime/operators/broadcast.h"
#include "runtime/operators/operators.h"
#include "runtime/ordered/ordered_product.h"

namespace quantloupe {
namespace {

CompiledNode compileGemm(const NodeContext& context) {
    requireFloat(context, 0);
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
    requireFloat(context, 0);
    requireFloat(context, 1);
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
