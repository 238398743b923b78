// SPDX-License-Identifier: Apache-2.0
// Element-wise operators on codes: a table for operators on one tensor, and loops for those on two.
#include <array>

#include "runtime/instruction_sets.h"
#include "runtime/integer/coded_binary.h"
#include "runtime/operators/operators.h"

#if defined(__x86_64__)
#include "runtime/integer/vnni_intrinsics.h"
#endif

namespace quantloupe {
namespace {

constexpr std::size_t kCodes = 256;

template <typename Right>
std::unique_ptr<Kernel> makeRepeated(void (*combine)(const CodedPair&, const std::uint8_t*, const Right*,
                                                     std::uint8_t*, std::size_t),
                                     const CodedPair& pair, const RepeatedOperand& right, std::size_t count) {
    return makeKernel([=](const KernelArguments& a) {
        const auto* left = static_cast<const std::uint8_t*>(a.inputs[0]);
        const auto* operand = static_cast<const Right*>(a.inputs[1]);
        auto* target = static_cast<std::uint8_t*>(a.outputs[0]);
        if (count == 0) return;
        const std::size_t ofImage = count / right.images;
        for (std::size_t n = 0; n < right.images; ++n, operand += right.period)
            for (std::size_t i = 0; i < ofImage;
                 i += right.period, left += right.period, target += right.period)
                combine(pair, left, operand, target, right.period);
    });
}

#if defined(__x86_64__)
QUANTLOUPE_VBMI void mapCodesVbmi(const std::array<std::uint8_t, kCodes>& results, const std::uint8_t* codes,
                                  std::uint8_t* target, std::size_t count) {
    __m512i table[4];
    for (std::size_t part = 0; part < 4; ++part) table[part] = _mm512_loadu_si512(results.data() + 64 * part);
    std::size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        const __m512i code = _mm512_loadu_si512(codes + i);
        const __m512i low = _mm512_permutex2var_epi8(table[0], code, table[1]),
                      high = _mm512_permutex2var_epi8(table[2], code, table[3]);
        _mm512_storeu_si512(target + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(code), low, high));
    }
    for (; i < count; ++i) target[i] = results[codes[i]];
}
#else
void mapCodesVbmi(const std::array<std::uint8_t, kCodes>&, const std::uint8_t*, std::uint8_t*, std::size_t) {}
#endif

template <typename Result>
void mapCodes(const std::array<Result, kCodes>& results, const std::uint8_t* codes, Result* target,
              std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) target[i] = results[codes[i]];
}

template <typename Result>
std::unique_ptr<Kernel> makeMap(void (*map)(const std::array<Result, kCodes>&, const std::uint8_t*, Result*,
                                            std::size_t),
                                const std::array<Result, kCodes>& results, std::size_t count) {
    return makeKernel([=](const KernelArguments& a) {
        map(results, static_cast<const std::uint8_t*>(a.inputs[0]), static_cast<Result*>(a.outputs[0]),
            count);
    });
}

}  // namespace

std::unique_ptr<Kernel> makeCodedMap(const std::vector<float>& results,
                                     const std::optional<FakeQuant>& output, std::size_t count) {
    if (!output) {
        std::array<float, kCodes> table{};
        std::copy_n(results.begin(), kCodes, table.begin());
        return makeMap(mapCodes<float>, table, count);
    }
    std::array<std::uint8_t, kCodes> table{};
    encode(*output, results.data(), table.data(), kCodes);
    return makeMap(instructionSets().avx512Vbmi ? mapCodesVbmi : mapCodes<std::uint8_t>, table, count);
}

std::unique_ptr<Kernel> makeCodedBinary(CodedOperation operation, const FakeQuant& left,
                                        const RepeatedOperand& right, const FakeQuant& output,
                                        const Activation& activation, std::size_t count) {
    const CodedPair pair{operation, left, right.quantizer.value_or(FakeQuant{}), output, activation};
    if (right.quantizer) return makeRepeated(fastestCombination(pair), pair, right, count);
    return makeRepeated(combineFloats, pair, right, count);
}

}  // namespace quantloupe
