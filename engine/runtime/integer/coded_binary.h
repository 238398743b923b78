// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element-wise sums and products of codes, for makeCodedBinary().

#include "runtime/integer/codes.h"

namespace quantloupe {

struct CodedPair {
    CodedOperation operation;
    FakeQuant left, right, output;
    Activation activation;
};

using CombineCodes = void (*)(const CodedPair& pair, const std::uint8_t* left, const std::uint8_t* right,
                              std::uint8_t* target, std::size_t count);

/// Computes in float32 step by step, as in the simulation. Any processor.
void combineCodes(const CodedPair& pair, const std::uint8_t* left, const std::uint8_t* right,
                  std::uint8_t* target, std::size_t count);
/// With a second operand in float32.
void combineFloats(const CodedPair& pair, const std::uint8_t* left, const float* right, std::uint8_t* target,
                   std::size_t count);
/// With AVX-512: multiplies by the reciprocal of the output's scale instead of dividing, and corrects the
/// quotient.
void combineCodesAvx512(const CodedPair& pair, const std::uint8_t* left, const std::uint8_t* right,
                        std::uint8_t* target, std::size_t count);

/// Returns the fastest function that has the same results as combineCodes() for this pair. Compares all
/// 65,536 pairs of codes, once per process and pair. Any thread.
CombineCodes fastestCombination(const CodedPair& pair);

}  // namespace quantloupe
