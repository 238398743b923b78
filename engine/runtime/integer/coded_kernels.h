// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels on codes for each kind of processor; internal to coded_products.cpp. All compute the same bits.

#include "runtime/integer/codes.h"
#include "runtime/integer/integer_product.h"
#include "runtime/integer/segment_tiles.h"

namespace quantloupe {

/// The weight of a unit as [depth, columns] and the requantization of its sums.
struct CodedWeight {
    std::vector<std::int8_t> weight;
    Requantization requantization;

    std::size_t outputBytes() const { return requantization.toFloat ? sizeof(float) : 1; }
};

struct CodedRows {
    std::size_t rows, depth, columns;
};

struct CodedWindows {
    Dims input;  ///< N, C, H, W; stored channels last
    Window window;
    std::size_t columns;  ///< output channels
    std::uint8_t zero;    ///< the code of 0.0
};

/// Need only AVX2. The depthwise kernel needs at least 16 channels.
std::unique_ptr<Kernel> makeRowsAvx2(CodedWeight weight, const CodedRows& shape);
std::unique_ptr<Kernel> makeConvolutionAvx2(CodedWeight weight, const CodedWindows& shape);
std::unique_ptr<Kernel> makeDepthwiseAvx2(CodedWeight weight, const CodedWindows& shape);

/// Need VNNI or AMX. `tiles`: null for the fastest.
std::unique_ptr<Kernel> makeRowsVnni(CodedWeight weight, const CodedRows& shape, const SegmentTiles* tiles);
std::unique_ptr<Kernel> makeConvolutionVnni(CodedWeight weight, const CodedWindows& shape,
                                            const SegmentTiles* tiles);
std::unique_ptr<Kernel> makeDepthwiseVnni(const CodedWeight& weight, const CodedWindows& shape);

}  // namespace quantloupe
