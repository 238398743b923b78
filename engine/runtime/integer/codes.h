// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors as 8-bit codes. code = round_half_even(clamp(x / scale, low, high)) - low, in the range 0 to high -
// low: whatever the signedness and zero point of the target's type, codes start at 0 here and the code of 0.0
// is -low.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/compact_integers.h"
#include "runtime/integer/fake_quant.h"
#include "runtime/operators/kernel.h"
#include "runtime/operators/window.h"

namespace quantloupe {

/// A constant as integers: value = code * scale (of its channel).
struct ConstantCodes {
    std::vector<float> scales;  ///< one, or one per channel of `axis`
    int axis = -1;              ///< -1: per tensor
    CompactIntegers codes;      ///< row-major, the shape of the constant
};

/// Returns whether the quantizer has at most 256 codes.
bool fitsCodes(const FakeQuant& quant);
void encode(const FakeQuant& quant, const float* source, std::uint8_t* target, std::size_t count);
/// decode(encode(x)) equals applyFakeQuant(x), bit for bit.
void decode(const FakeQuant& quant, const std::uint8_t* source, float* target, std::size_t count);

/// An operator that reads and writes codes. Its sums are exact; the results differ from the float simulation
/// only if the float32 rounding of a sum crosses a rounding tie.
struct CodedUnit {
    FakeQuant input;
    std::optional<FakeQuant> output;  ///< empty: the output is float32
    const ConstantCodes* weight = nullptr;
    const ConstantCodes* bias = nullptr;  ///< in units of input scale * weight scale; null if there is none
    Activation activation;
};

/// Conv with 2 spatial dimensions, channels last; groups 1 or depthwise with at least 16 channels. `weight`
/// has `dims`. Returns null if it cannot be computed in 8 bits: a weight outside -128..127, a bias near the
/// limits of int32, other groups.
std::unique_ptr<Kernel> makeCodedConvolution(const CodedUnit& unit, const TensorDesc& input,
                                             const TensorDesc& output, const Window& window,
                                             std::int64_t groups, const Dims& dims);
/// rows x depth times a constant [depth, columns] (or its transpose). Returns null as above.
std::unique_ptr<Kernel> makeCodedProduct(const CodedUnit& unit, std::size_t rows, std::size_t depth,
                                         std::size_t columns, bool transposed);
/// Replaces codes by their results. `results`: one float32 value per code, computed by the operator. With an
/// output quantizer, the results are encoded.
std::unique_ptr<Kernel> makeCodedMap(const std::vector<float>& results,
                                     const std::optional<FakeQuant>& output, std::size_t count);
/// The second operand of makeCodedBinary(): `period` codes or float32 values for each image. Within an image,
/// they are repeated until they have the length of the first operand.
struct RepeatedOperand {
    std::optional<FakeQuant> quantizer;  ///< empty: float32
    std::size_t images = 1, period = 1;
};
enum class CodedOperation { Add, Multiply };
/// Element-wise operation on `count` codes and a second operand that is repeated; equals the simulation bit
/// for bit.
std::unique_ptr<Kernel> makeCodedBinary(CodedOperation operation, const FakeQuant& left,
                                        const RepeatedOperand& right, const FakeQuant& output,
                                        const Activation& activation, std::size_t count);
/// Mean over all spatial positions, channels last.
std::unique_ptr<Kernel> makeCodedMean(const FakeQuant& input, const FakeQuant& output, std::size_t images,
                                      std::size_t positions, std::size_t channels);
/// Maximum over windows with 2 spatial dimensions, channels last; input and output must have the same
/// quantizer.
std::unique_ptr<Kernel> makeCodedMaxPool(const TensorDesc& input, const Window& window);

}  // namespace quantloupe
