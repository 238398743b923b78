// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plain product of two matrices, outside of any network.

#include <cstddef>

namespace quantloupe {

/// A row-major matrix that is there already, or its transpose.
struct MatrixView {
    const float* values = nullptr;
    std::size_t stride = 0;   ///< values from one row to the next, as they lie in memory
    bool transposed = false;  ///< the product uses the transpose of what lies there
};

/// result[rows, columns] = left[rows, inner] * right[inner, columns]; `result` is row-major with `columns` a row. Float32, on this
/// thread alone, which must have limited OpenMP (runtime/workers.h); the same result for the same extents.
void multiply(const MatrixView& left, const MatrixView& right, std::size_t rows, std::size_t inner, std::size_t columns,
              float* result);

}  // namespace quantloupe
