// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of two float32 matrices. The order of summation of each element depends only on the extents of the
// matrices (ordered_product.h), so the result has the same bits on every processor.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/constant.h"
#include "runtime/aligned.h"
#include "runtime/operators/kernel.h"
#include "runtime/ordered/even_parts.h"

namespace quantloupe {

/// An existing row-major matrix, or its transpose.
struct MatrixView {
    const float* values = nullptr;
    std::size_t stride = 0;   ///< distance between rows in memory, in values
    bool transposed = false;  ///< the product uses the transpose of the stored matrix
};

/// The number of products that ONNX Runtime sums before it adds the sum to the result. `columns`: columns of
/// the product (pixels of a convolution's output, columns of a MatMul's); `inner`: products per element.
std::size_t orderedBlock(std::size_t columns, std::size_t inner);

/// Returns the number of rows that are multiplied by all columns before the next rows, so that both operands
/// need little memory traffic.
std::size_t rowsTogether(std::size_t inner, std::size_t columns);
constexpr std::size_t kMostRowsTogether = 204;

/// Size of the right operand, packed into the panels of columns that tiles read.
std::size_t panelFloats(std::size_t inner, std::size_t columns);
void packPanels(const MatrixView& right, std::size_t inner, std::size_t columns, float* packed);

/// Returns the panels of a constant right operand. All products of the process share them while one of them
/// exists: programs for other batch sizes and parts of a network need the same panels. Thread-safe.
std::shared_ptr<const AlignedVector<float>> sharedPanels(const Constant& right, bool transposed,
                                                         std::size_t inner, std::size_t columns);

/// result = bounded(start + alpha * left * right + bias), row by row. Reentrant.
struct PackedProduct {
    const float* left = nullptr;  ///< element k of row r is left[r * leftStride + k * leftStep]
    std::size_t leftStride = 0;   ///< 1, unless `leftStep` is 1
    std::size_t leftStep = 1;
    bool interleaved = false;  ///< `left` is [tile of rowTiles(rows)][inner][rows of the tile] instead
    /// If not null, element k of row r is left[offsets[k] + r] instead, in each line (see below).
    const std::uint32_t* offsets = nullptr;
    /// If not null, the rows are lines of `lineRows` rows, and line i starts at left[lineStarts[i]].
    const std::size_t* lineStarts = nullptr;
    std::size_t lineRows = 0;
    std::size_t rows = 0, inner = 0;  ///< with lines, at most kMostRowsTogether rows
    const float* panels = nullptr;    ///< from packPanels()
    std::size_t columns = 0;
    std::size_t block = 1;  ///< orderedBlock()
    float alpha = 1;
    const float* start = nullptr;  ///< [paddedColumns(columns)], initial value of each sum, or null
    const float* bias = nullptr;   ///< [paddedColumns(columns)], added at the end, or null
    /// [paddedColumns(columns)]: after the bias, multiplies by `factor`, rounds, and adds `offset`; or null
    const float *factor = nullptr, *offset = nullptr;
    Activation bounds;
    float* result = nullptr;
    std::size_t resultStride = 0;
};
void multiplyPacked(const PackedProduct& product);
/// Like multiplyPacked(), but in the order of products with a single column or row (LaneArguments), and
/// without `start`, `alpha` and `block`.
void multiplyPackedInLanes(const PackedProduct& product);

/// The rows that are multiplied together, for an interleaved left operand of at most rowsTogether() rows.
EvenParts rowTiles(std::size_t rows);

/// `columns` rounded up to whole panels.
std::size_t paddedColumns(std::size_t columns);
/// One value per column, padded with 0; empty if `values` is.
AlignedVector<float> paddedToPanels(std::span<const float> values);

/// A right operand that several products share.
class PackedMatrix {
  public:
    PackedMatrix(const MatrixView& right, std::size_t inner, std::size_t columns);
    /// Computes result[rows, columns] = left[rows, inner] * right, like multiply().
    void multiply(const MatrixView& left, std::size_t rows, float* result) const;

  private:
    std::size_t m_inner, m_columns;
    AlignedVector<float> m_panels;
};

/// Computes result[rows, columns] = left[rows, inner] * right[inner, columns]; `result` is row-major with
/// `columns` values per row. Runs on the calling thread.
void multiply(const MatrixView& left, const MatrixView& right, std::size_t rows, std::size_t inner,
              std::size_t columns, float* result);

}  // namespace quantloupe
