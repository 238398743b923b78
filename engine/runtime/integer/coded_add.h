// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element-wise sums of codes, for makeCodedAdd().

#include "runtime/integer/fake_quant.h"
#include "runtime/operators/kernel.h"

namespace quantloupe {

struct CodedSum {
    FakeQuant left, right, output;
    Activation activation;
};

using AddCodes = void (*)(const CodedSum& sum, const std::uint8_t* left, const std::uint8_t* right,
                          std::uint8_t* target, std::size_t count);

/// Float32 step by step, as in the simulation. Any processor.
void addCodes(const CodedSum& sum, const std::uint8_t* left, const std::uint8_t* right, std::uint8_t* target,
              std::size_t count);
/// With AVX-512: multiplies by the reciprocal of the output's scale instead of dividing, and corrects the
/// quotient.
void addCodesAvx512(const CodedSum& sum, const std::uint8_t* left, const std::uint8_t* right,
                    std::uint8_t* target, std::size_t count);

/// The fastest of these with the same results as addCodes(): all 65,536 pairs of codes are compared, once per
/// process and sum. Any thread.
AddCodes fastestAdd(const CodedSum& sum);

}  // namespace quantloupe
