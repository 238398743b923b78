// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inner loops of IntegerProduct: sums of rows times one panel of 16 columns. Each is written for one kind of
// processor; call only those that integerIsa() allows.

#include <cstddef>
#include <cstdint>

namespace quantloupe {

enum class IntegerIsa {
    None,        ///< no kernels: simulate in float
    Avx2,        ///< vpmaddubsw, which adds pairs in 16 bits
    AvxVnni,     ///< vpdpbusd on 8 columns
    Avx512Vnni,  ///< vpdpbusd on 16 columns
};

/// The best instruction set of this processor that oneDNN may use, too (ONEDNN_MAX_CPU_ISA=AVX2: no VNNI;
/// =SSE41: none).
IntegerIsa integerIsa();

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
/// Exact.
void addBytesAvxVnni(const PanelArguments& arguments);
void addBytesAvx512Vnni(const PanelArguments& arguments);

}  // namespace quantloupe
