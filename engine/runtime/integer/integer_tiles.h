// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inner loops of IntegerProduct: sums of rows times one panel of 16 columns. Call them only if
// integerKernelsAvailable().

#include <cstddef>
#include <cstdint>

namespace quantloupe {

constexpr std::size_t kPanelColumns = 16;

/// Computes sums[row][16] = rows * weight, added to the existing sums unless `first`. Strides are in bytes.
/// Bytes: `steps` of 8 depths; weight [steps * 2][16 columns][4 depths], 32-byte aligned; rows are unsigned.
/// Words: `steps` of 2 depths; weight [steps][16 columns][2 depths], 32-byte aligned; rows are 16-bit
/// integers.
struct PanelArguments {
    const void* rows;
    std::size_t stride, count;
    const void* weight;
    std::size_t steps;
    bool first;
    std::int32_t* sums;
};

/// Exact only if the sum of the products of two adjacent depths and of the two that are 4 further fits into
/// 16 bits.
void addBytesAvx2(const PanelArguments& arguments);
void addWordsAvx2(const PanelArguments& arguments);

}  // namespace quantloupe
