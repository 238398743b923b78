// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels of codes.h for a given instruction set, for tests and benchmarks. All are bit-identical; which
// one is the fastest depends on the processor and the shape.

#include "runtime/integer/codes.h"

namespace quantloupe {

enum class IntegerPath { Fastest, Avx2, AvxVnni, Avx512Vnni, Amx };

/// Whether this processor has the instructions and instructionSets() allows them.
bool isAvailable(IntegerPath path);

/// As makeCodedConvolution() and makeCodedProduct(). The path must be available.
std::unique_ptr<Kernel> makeConvolutionOn(IntegerPath path, const CodedUnit& unit, const TensorDesc& input,
                                          const TensorDesc& output, const Window& window, std::int64_t groups,
                                          const Dims& dims);
std::unique_ptr<Kernel> makeProductOn(IntegerPath path, const CodedUnit& unit, std::size_t rows,
                                      std::size_t depth, std::size_t columns, bool transposed);

}  // namespace quantloupe
