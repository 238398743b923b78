// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products on codes: the weights and the requantization, and the choice of the
// kernel.
#include <algorithm>
#include <cmath>

#include "runtime/instruction_sets.h"
#include "runtime/integer/coded_kernels.h"
#include "runtime/integer/integer_paths.h"
#include "runtime/integer/segmented_convolution.h"

namespace quantloupe {
namespace {

/// `index(k, c)` is the position of the weight of depth k and column c in the codes. Empty if it does not fit
/// into 8 and 32 bits.
template <typename Index>
std::optional<CodedWeight> prepared(const CodedUnit& unit, std::size_t depth, std::size_t columns,
                                    Index index) {
    const ConstantCodes& weight = *unit.weight;
    if (weight.scales.size() != 1 && weight.scales.size() != columns) return std::nullopt;
    if (unit.bias != nullptr && unit.bias->codes.size() != columns) return std::nullopt;
    CodedWeight result;
    result.weight.resize(depth * columns);
    std::vector<std::int64_t> sums(columns, 0), magnitudes(columns, 0);
    constexpr std::size_t kTogether = 64;  // columns whose codes and weights stay in the cache
    for (std::size_t first = 0; first < columns; first += kTogether)
        for (std::size_t k = 0; k < depth; ++k)
            for (std::size_t c = first; c < std::min(first + kTogether, columns); ++c) {
                const std::int32_t code = weight.codes[index(k, c)];
                if (code < -128 || code > 127) return std::nullopt;
                result.weight[k * columns + c] = static_cast<std::int8_t>(code);
                sums[c] += code;
                magnitudes[c] += std::abs(code);
            }
    Requantization& how = result.requantization;
    const auto zero = static_cast<std::int64_t>(-unit.input.low);
    const double outputScale = unit.output ? static_cast<double>(unit.output->scale) : 1.0;
    for (std::size_t c = 0; c < columns; ++c) {
        const std::int64_t bias = unit.bias != nullptr ? unit.bias->codes[c] : 0;
        const std::int64_t offset = bias - zero * sums[c];
        if (std::abs(offset) + 255 * magnitudes[c] > std::int64_t{0x7fffff00}) return std::nullopt;
        how.offset.push_back(static_cast<std::int32_t>(offset));
        const float scale = weight.scales[weight.scales.size() > 1 ? c : 0];
        how.factor.push_back(static_cast<float>(static_cast<double>(unit.input.scale) *
                                                static_cast<double>(scale) / outputScale));
    }
    how.low = unit.activation.low;
    how.high = unit.activation.high;
    how.toFloat = !unit.output;
    if (unit.output) {
        how.low = std::max(unit.output->low, how.low / unit.output->scale);
        how.high = std::min(unit.output->high, how.high / unit.output->scale);
        how.shift = -unit.output->low;
    }
    return result;
}

/// The tiles of a path; null for the fastest.
const SegmentTiles* tilesOf([[maybe_unused]] IntegerPath path) {
#if defined(__x86_64__)
    if (path == IntegerPath::AvxVnni) return &avxVnniSegmentTiles();
    if (path == IntegerPath::Avx512Vnni) return &avx512VnniSegmentTiles();
    if (path == IntegerPath::Amx) return &amxSegmentTiles();
#endif
    return nullptr;
}

bool usesSegments(IntegerPath path) {
    return path == IntegerPath::Fastest ? !segmentTiles().empty() : path != IntegerPath::Avx2;
}

bool usesDepthwiseVnni(IntegerPath path) {
    return path == IntegerPath::Fastest ? instructionSets().avx512Vnni
                                        : path == IntegerPath::Avx512Vnni || path == IntegerPath::Amx;
}

bool isZero(const Dims& dims) {
    return std::all_of(dims.begin(), dims.end(), [](std::int64_t d) { return d == 0; });
}

}  // namespace

bool isAvailable(IntegerPath path) {
    const InstructionSets& sets = instructionSets();
    switch (path) {
        case IntegerPath::AvxVnni:
            return sets.avxVnni;
        case IntegerPath::Avx512Vnni:
            return sets.avx512Vnni;
        case IntegerPath::Amx:
            return sets.amx;
        default:
            return integerKernelsAvailable();
    }
}

std::unique_ptr<Kernel> makeConvolutionOn(IntegerPath path, const CodedUnit& unit, const TensorDesc& input,
                                          const TensorDesc& output, const Window& window, std::int64_t groups,
                                          const Dims& dims) {
    if (!integerKernelsAvailable() || dims.size() != 4) return nullptr;
    const auto columns = static_cast<std::size_t>(dims[0]), channels = static_cast<std::size_t>(dims[1]);
    const std::size_t taps = static_cast<std::size_t>(dims[2] * dims[3]);
    const auto zero = static_cast<std::uint8_t>(-unit.input.low);
    const bool depthwise = groups > 1 && groups == input.dims[1] && dims[0] == groups && groups >= 16;
    if ((groups > 1 && !depthwise) || taps * channels == 0 || columns == 0) return nullptr;
    // Depth runs over the taps, with the channels of each tap contiguous; the file has the reverse order.
    auto weight = prepared(unit, taps * channels, columns, [&](std::size_t k, std::size_t c) {
        return (c * channels + k % channels) * taps + k / channels;
    });
    if (!weight) return nullptr;
    const CodedWindows shape{input.dims, window, columns, zero};
    if (depthwise)
        return usesDepthwiseVnni(path) ? makeDepthwiseVnni(*weight, shape)
                                       : makeDepthwiseAvx2(std::move(*weight), shape);
    const bool pointwise =
        taps == 1 && allOnes(window.strides) && isZero(window.padBegin) && isZero(window.padEnd);
    const bool segmented =
        usesSegments(path) &&
        (pointwise || SegmentedConvolution::fits(input.dims[1], input.dims[2], input.dims[3], window));
    if (pointwise) {
        const auto rows = static_cast<std::size_t>(output.dims[0] * output.dims[2] * output.dims[3]);
        return segmented ? makeRowsVnni(std::move(*weight), {rows, channels, columns}, tilesOf(path))
                         : makeRowsAvx2(std::move(*weight), {rows, channels, columns});
    }
    return segmented ? makeConvolutionVnni(std::move(*weight), shape, tilesOf(path))
                     : makeConvolutionAvx2(std::move(*weight), shape);
}

std::unique_ptr<Kernel> makeProductOn(IntegerPath path, const CodedUnit& unit, std::size_t rows,
                                      std::size_t depth, std::size_t columns, bool transposed) {
    if (!integerKernelsAvailable() || depth == 0 || columns == 0) return nullptr;
    auto weight = prepared(unit, depth, columns, [&](std::size_t k, std::size_t c) {
        return transposed ? c * depth + k : k * columns + c;
    });
    if (!weight) return nullptr;
    return usesSegments(path) ? makeRowsVnni(std::move(*weight), {rows, depth, columns}, tilesOf(path))
                              : makeRowsAvx2(std::move(*weight), {rows, depth, columns});
}

std::unique_ptr<Kernel> makeCodedConvolution(const CodedUnit& unit, const TensorDesc& input,
                                             const TensorDesc& output, const Window& window,
                                             std::int64_t groups, const Dims& dims) {
    return makeConvolutionOn(IntegerPath::Fastest, unit, input, output, window, groups, dims);
}

std::unique_ptr<Kernel> makeCodedProduct(const CodedUnit& unit, std::size_t rows, std::size_t depth,
                                         std::size_t columns, bool transposed) {
    return makeProductOn(IntegerPath::Fastest, unit, rows, depth, columns, transposed);
}

}  // namespace quantloupe
