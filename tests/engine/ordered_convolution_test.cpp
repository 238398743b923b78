// SPDX-License-Identifier: Apache-2.0
// Convolutions with random shapes have the same bits as sums one product after the other, in the order that
// ordered_convolution.cpp describes.
#include <QtTest>
#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "runtime/aligned.h"
#include "runtime/ordered/matrix_product.h"
#include "runtime/ordered/ordered_product.h"
#include "support/random_seed.h"

using namespace quantloupe;

class OrderedConvolutionTest : public QObject {
    Q_OBJECT

    std::mt19937 m_random{test::randomSeed()};

    std::int64_t pick(int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(m_random);
    }
    std::vector<float> values(std::int64_t count) {
        std::normal_distribution<float> normal;
        std::vector<float> result(static_cast<std::size_t>(count));
        for (float& value : result) value = normal(m_random);
        return result;
    }

    static float orderedSum(const std::vector<float>& left, const std::vector<float>& right,
                            std::size_t pixels, bool singleFilter) {
        const std::size_t inner = left.size();
        float sum = 0;
        if (singleFilter) {
            const auto product = [&](std::size_t t) { return left[t] * right[t]; };
            std::size_t t = 0;
            for (; t + 4 <= inner; t += 4)
                sum = (((product(t) + product(t + 1)) + product(t + 2)) + product(t + 3)) + sum;
            if (t + 2 <= inner) sum = (product(t) + product(t + 1)) + sum, t += 2;
            return t < inner ? product(t) + sum : sum;
        }
        if (pixels == 1) {
            float lanes[8] = {};
            for (std::size_t k = 0; k < inner; ++k) lanes[k % 8] += left[k] * right[k];
            return (((lanes[0] + lanes[1]) + lanes[2]) + lanes[3]) +
                   (((lanes[4] + lanes[5]) + lanes[6]) + lanes[7]);
        }
        const std::size_t block = orderedBlock(pixels, inner);
        for (std::size_t begin = 0; begin < inner; begin += block) {
            float part = 0;
            for (std::size_t k = begin; k < std::min(inner, begin + block); ++k)
                part = std::fma(left[k], right[k], part);
            sum = begin == 0 ? part : sum + part;
        }
        return sum;
    }

  private Q_SLOTS:
    void randomShapes() {
        for (int round = 0; round < 300; ++round) {
            const bool depthwise = pick(0, 3) == 0;
            const std::int64_t groups = depthwise ? pick(1, 40) : pick(1, 2), images = pick(1, 3),
                               channels = depthwise ? groups : groups * pick(1, 20),
                               filters = depthwise || pick(0, 3) == 0 ? groups : groups * pick(1, 40);
            const Dims kernel{pick(1, 4), pick(1, 5)}, strides{pick(1, 3), pick(1, 3)},
                dilations{pick(1, 2), pick(1, 2)};
            Dims pads{pick(0, 3), pick(0, 3), pick(0, 3), pick(0, 3)};  // begin, begin, end, end
            Dims size{pick(9, 14), pick(0, 9) == 0 ? pick(200, 430) : pick(9, 40)};
            if (pick(0, 4) == 0) {  // one pixel
                pads = {0, 0, 0, 0};
                size = {(kernel[0] - 1) * dilations[0] + 1, (kernel[1] - 1) * dilations[1] + 1};
            }
            Window window{kernel, strides, dilations, {pads[0], pads[1]}, {pads[2], pads[3]}, {}};
            for (std::size_t d = 0; d < 2; ++d)
                window.output.push_back(
                    (size[d] + pads[d] + pads[d + 2] - (kernel[d] - 1) * dilations[d] - 1) / strides[d] + 1);
            const std::int64_t perGroup = channels / groups, each = filters / groups,
                               pixels = window.output[0] * window.output[1];
            const auto in = values(images * size[0] * size[1] * channels);
            const ConstantPtr weight =
                                  Constant::fromFloats({filters, perGroup, kernel[0], kernel[1]},
                                                       values(filters * perGroup * kernel[0] * kernel[1])),
                              bias = Constant::fromFloats({filters}, values(filters));
            ConvolutionSpec spec;
            spec.input = {DataType::Float32, {images, channels, size[0], size[1]}, Layout::ChannelsLast};
            spec.output = {DataType::Float32,
                           {images, filters, window.output[0], window.output[1]},
                           Layout::ChannelsLast};
            spec.window = window;
            spec.groups = groups;
            spec.weight = weight.get();
            spec.bias = bias.get();
            const auto kernelOf = makeConvolution(spec);
            // Nothing may be written after the result.
            std::vector<float> out(static_cast<std::size_t>(images * pixels * filters) + 64, -77.0f);
            // Kernels must not expect zeros in the scratch memory, which they share.
            AlignedVector<std::byte> scratch(kernelOf->scratchBytes(), std::byte{0x7f});
            kernelOf->run(
                {std::vector<const void*>{in.data()}, std::vector<void*>{out.data()}, scratch.data()});

            QVERIFY(std::all_of(out.end() - 64, out.end(), [](float value) { return value == -77.0f; }));
            for (int sample = 0; sample < 200; ++sample) {
                const std::int64_t n = pick(0, static_cast<int>(images) - 1),
                                   y = pick(0, static_cast<int>(window.output[0]) - 1),
                                   x = pick(0, static_cast<int>(window.output[1]) - 1),
                                   f = pick(0, static_cast<int>(filters) - 1);
                std::vector<float> left, right;
                for (std::int64_t c = 0; c < perGroup; ++c)
                    for (std::int64_t i = 0; i < kernel[0]; ++i)
                        for (std::int64_t j = 0; j < kernel[1]; ++j) {
                            const std::int64_t row = y * strides[0] - pads[0] + i * dilations[0],
                                               column = x * strides[1] - pads[1] + j * dilations[1];
                            const bool inside = row >= 0 && row < size[0] && column >= 0 && column < size[1];
                            left.push_back(inside ? in[static_cast<std::size_t>(
                                                        ((n * size[0] + row) * size[1] + column) * channels +
                                                        f / each * perGroup + c)]
                                                  : 0.0f);
                            right.push_back(weight->floats()[static_cast<std::size_t>(
                                ((f * perGroup + c) * kernel[0] + i) * kernel[1] + j)]);
                        }
                // One channel and several filters whose window covers the input are multiplied like any
                // others.
                const bool covers = pads == Dims{0, 0, 0, 0} && dilations == Dims{1, 1} && kernel == size;
                const std::int64_t ordinary = perGroup == 1 && covers ? 2 : pixels;
                const float expected =
                    orderedSum(left, right, static_cast<std::size_t>(ordinary), each == 1) +
                    bias->floats()[static_cast<std::size_t>(f)];
                const float found = out[static_cast<std::size_t>(
                    ((n * window.output[0] + y) * window.output[1] + x) * filters + f)];
                QCOMPARE(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(expected));
            }
        }
    }
};

QTEST_GUILESS_MAIN(OrderedConvolutionTest)
#include "ordered_convolution_test.moc"
