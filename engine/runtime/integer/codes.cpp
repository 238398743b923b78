// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/codes.h"

#include <algorithm>

#include "runtime/operators/operators.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

QUANTLOUPE_SIMD void encodeAll(float scale, float low, float high, const float* source, std::uint8_t* target,
                               std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        float x = source[i] / scale;
        x = x > low ? x : low;
        x = x > high ? high : x;
        target[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(((x + kRound) - kRound) - low));
    }
}

QUANTLOUPE_SIMD void decodeAll(float scale, float low, const std::uint8_t* source, float* target,
                               std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        target[i] = (static_cast<float>(static_cast<std::int32_t>(source[i])) + low) * scale;
}

QUANTLOUPE_SIMD void sumPositions(const std::uint8_t* source, std::size_t positions, std::size_t channels,
                                  std::int32_t* sums) {
    for (std::size_t c = 0; c < channels; ++c) sums[c] = 0;
    for (std::size_t p = 0; p < positions; ++p)
        for (std::size_t c = 0; c < channels; ++c) sums[c] += source[p * channels + c];
}

/// One output pixel: the maximum of `rows` x `columns` pixels.
QUANTLOUPE_SIMD void largest(const std::uint8_t* __restrict window, std::size_t rows, std::size_t rowStep,
                             std::size_t columns, std::size_t columnStep, std::uint8_t* out,
                             std::size_t channels) {
    for (std::size_t c = 0; c < channels; ++c) out[c] = 0;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
            const std::uint8_t* pixel = window + i * rowStep + j * columnStep;
            for (std::size_t c = 0; c < channels; ++c) out[c] = pixel[c] > out[c] ? pixel[c] : out[c];
        }
}

/// The taps of a window that are inside the image: [first, end).
struct Taps {
    std::int64_t first, end;
    Taps(const Window& w, std::size_t axis, std::int64_t output, std::int64_t extent) {
        const std::int64_t start = output * w.strides[axis] - w.padBegin[axis], step = w.dilations[axis];
        first = start >= 0 ? 0 : (-start + step - 1) / step;
        end = start >= extent ? 0 : std::min(w.kernel[axis], (extent - 1 - start) / step + 1);
        end = std::max(end, first);
    }
};

}  // namespace

bool fitsCodes(const FakeQuant& quant) { return !quant.half && quant.high - quant.low <= 255.0f; }

void encode(const FakeQuant& quant, const float* source, std::uint8_t* target, std::size_t count) {
    encodeAll(quant.scale, quant.low, quant.high, source, target, count);
}

void decode(const FakeQuant& quant, const std::uint8_t* source, float* target, std::size_t count) {
    decodeAll(quant.scale, quant.low, source, target, count);
}

std::unique_ptr<Kernel> makeCodedMean(const FakeQuant& input, const FakeQuant& output, std::size_t images,
                                      std::size_t positions, std::size_t channels) {
    // Computed in double, as a quotient of two exact integers, so that ties are exact.
    const double factor = static_cast<double>(input.scale) /
                          (static_cast<double>(positions) * static_cast<double>(output.scale));
    const auto zero = static_cast<std::int64_t>(-input.low) * static_cast<std::int64_t>(positions);
    return makeKernel([=](const KernelArguments& a) {
        std::vector<std::int32_t> sums(channels);
        const auto* source = static_cast<const std::uint8_t*>(a.inputs[0]);
        auto* target = static_cast<std::uint8_t*>(a.outputs[0]);
        for (std::size_t n = 0; n < images; ++n) {
            sumPositions(source + n * positions * channels, positions, channels, sums.data());
            for (std::size_t c = 0; c < channels; ++c) {
                const auto mean = static_cast<float>(static_cast<double>(sums[c] - zero) * factor);
                // In this order, the mean of no values, which is NaN, becomes the lowest code.
                const float x = std::max(output.low, std::min(mean, output.high));
                target[n * channels + c] = static_cast<std::uint8_t>(((x + kRound) - kRound) - output.low);
            }
        }
    });
}

std::unique_ptr<Kernel> makeCodedMaxPool(const TensorDesc& input, const Window& w) {
    if (w.kernel.size() != 2) return nullptr;
    const Dims dims = input.dims;
    return makeKernel([=](const KernelArguments& a) {
        const auto channels = static_cast<std::size_t>(dims[1]);
        const auto* image = static_cast<const std::uint8_t*>(a.inputs[0]);
        auto* out = static_cast<std::uint8_t*>(a.outputs[0]);
        const auto offset = [&](std::int64_t y, std::int64_t x) {
            return static_cast<std::size_t>(y * dims[3] + x) * channels;
        };
        for (std::int64_t n = 0; n < dims[0]; ++n, image += dims[1] * dims[2] * dims[3])
            for (std::int64_t row = 0; row < w.output[0]; ++row)
                for (std::int64_t column = 0; column < w.output[1]; ++column, out += channels) {
                    const Taps y(w, 0, row, dims[2]), x(w, 1, column, dims[3]);
                    if (y.first == y.end || x.first == x.end) {
                        std::fill_n(out, channels, std::uint8_t{0});
                        continue;
                    }
                    largest(image + offset(row * w.strides[0] - w.padBegin[0] + y.first * w.dilations[0],
                                           column * w.strides[1] - w.padBegin[1] + x.first * w.dilations[1]),
                            static_cast<std::size_t>(y.end - y.first), offset(w.dilations[0], 0),
                            static_cast<std::size_t>(x.end - x.first), offset(0, w.dilations[1]), out,
                            channels);
                }
    });
}

}  // namespace quantloupe
