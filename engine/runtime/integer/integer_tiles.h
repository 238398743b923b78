// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inner loops of IntegerProduct: sums of rows times one panel of 16 columns. Call them only if
// integerKernelsAvailable().

#include <cstddef>
#include <cstdint>

namespace quantloupe {

constexpr std::size_t kPanelColumns = 16;
/// Depths for which addSmallBytesAvx2() adds in 16 bits.
constexpr std::size_t kSmallStep = 32;

/// Computes sums[row][16] = rows * weight, added to the existing sums unless `first`. Strides are in bytes.
/// Bytes: `steps` of 8 depths (small bytes: kSmallStep); weight [steps * 2][16 columns][4 depths], 32-byte
/// aligned; rows are unsigned. Words: `steps` of 2 depths; weight [steps][16 columns][2 depths], 32-byte
/// aligned; rows are 16-bit integers.
struct PanelArguments {
    const void* rows;
    std::size_t stride, count;
    const void* weight;
    std::size_t steps;
    bool first;
    std::int32_t* sums;
};

/// Exact only if, within each step, the products of the depths 4g and 4g + 1 for all g have a sum that fits
/// into 16 bits, and those of 4g + 2 and 4g + 3, too: 4-bit weights.
void addSmallBytesAvx2(const PanelArguments& arguments);
/// Exact only if the sum of the products of two adjacent depths and of the two that are 4 further fits into
/// 16 bits.
void addBytesAvx2(const PanelArguments& arguments);
void addWordsAvx2(const PanelArguments& arguments);

}  // namespace quantloupe
