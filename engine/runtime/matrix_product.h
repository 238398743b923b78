// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of two float32 matrices. Each element is summed in an order that depends only on the matrices' extents
// (ordered_product.h), so the result has the same bits on every processor.

#include <cstddef>

#include "runtime/aligned.h"
#include "runtime/kernel.h"

namespace quantloupe {

/// A row-major matrix that is there already, or its transpose.
struct MatrixView {
    const float* values = nullptr;
    std::size_t stride = 0;   ///< values from one row to the next, as they lie in memory
    bool transposed = false;  ///< the product uses the transpose of what lies there
};

/// How many products ONNX Runtime adds up before it adds the sum to the result: `columns` of the product
/// (pixels of a convolution's output, columns of a MatMul's), `inner` products an element.
std::size_t orderedBlock(std::size_t columns, std::size_t inner);

/// The right side of products, in the panels of columns that tiles read.
std::size_t panelFloats(std::size_t inner, std::size_t columns);
void packPanels(const MatrixView& right, std::size_t inner, std::size_t columns, float* packed);

/// result = bounded(start + alpha * left * right + bias), row by row. Reentrant.
struct PackedProduct {
    const float* left = nullptr;  ///< element k of row r is left[r * leftStride + k], or + offsets[k]
    std::size_t leftStride = 0, rows = 0, inner = 0;
    const std::ptrdiff_t* offsets = nullptr;  ///< [inner], or null
    const float* panels = nullptr;            ///< of packPanels()
    std::size_t columns = 0;
    std::size_t block = 1;  ///< orderedBlock()
    float alpha = 1;
    const float* start = nullptr;  ///< [paddedColumns(columns)], what each sum begins with, or null
    const float* bias = nullptr;   ///< [paddedColumns(columns)], added at the end, or null
    Activation bounds;
    float* result = nullptr;
    std::size_t resultStride = 0;
};
void multiplyPacked(const PackedProduct& product);
/// The same in the order of products with a single column or row (LaneArguments), without `start`, `alpha`
/// and `block`.
void multiplyPackedInLanes(const PackedProduct& product);

/// Of a row whose elements are `step` values apart: those of a transposed left side.
std::vector<std::ptrdiff_t> rowOffsets(std::size_t inner, std::size_t step);

/// `columns` up to whole panels.
std::size_t paddedColumns(std::size_t columns);
/// One value a column, filled up with 0; empty if `values` is.
AlignedVector<float> paddedToPanels(std::span<const float> values);

/// A right side that several products share.
class PackedMatrix {
  public:
    PackedMatrix(const MatrixView& right, std::size_t inner, std::size_t columns);
    /// result[rows, columns] = left[rows, inner] * right, as multiply().
    void multiply(const MatrixView& left, std::size_t rows, float* result) const;

  private:
    std::size_t m_inner, m_columns;
    AlignedVector<float> m_panels;
};

/// result[rows, columns] = left[rows, inner] * right[inner, columns]; `result` is row-major with `columns` a
/// row. On this thread.
void multiply(const MatrixView& left, const MatrixView& right, std::size_t rows, std::size_t inner,
              std::size_t columns, float* result);

}  // namespace quantloupe
