// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "runtime/integer/coded_kernels.h"
#include "runtime/integer/depthwise_vnni.h"
#include "runtime/integer/segmented_convolution.h"

namespace quantloupe {
namespace {

SegmentedProduct::Shape shapeOf(const CodedRows& rows) {
    SegmentedProduct::Shape shape;
    shape.segmentDepth = shape.stride = rows.depth;
    shape.columns = rows.columns;
    shape.rowsAtOnce = rows.rows;
    return shape;
}

/// Reads the rows in place, except for the last ones, which the product would read beyond the end.
class RowProduct final : public Kernel {
  public:
    RowProduct(CodedWeight weight, const CodedRows& shape, const SegmentTiles* tiles)
        : m_rows(shape.rows),
          m_depth(shape.depth),
          m_outputBytes(weight.outputBytes()),
          m_product(weight.weight, shapeOf(shape), std::move(weight.requantization), tiles) {
        const std::size_t group = m_product.spareRows() + 1,
                          beyond = (kBlockDepth - m_depth % kBlockDepth) % kBlockDepth,
                          last = std::min(m_rows, (beyond + m_depth - 1) / m_depth);
        m_inPlace = (m_rows - last) / group * group;
    }

    std::size_t scratchBytes() const override {
        if (m_inPlace == m_rows) return 0;
        return (m_rows - m_inPlace + m_product.spareRows()) * m_depth + SegmentedProduct::kSpareBytes;
    }
    std::size_t weightBytes() const override { return m_product.weightBytes(); }
    void run(const KernelArguments& a) const override {
        const auto* rows = static_cast<const std::uint8_t*>(a.inputs[0]);
        if (m_inPlace > 0) m_product.run({rows, m_inPlace, m_inPlace, m_inPlace}, a.outputs[0]);
        const std::size_t left = m_rows - m_inPlace;
        if (left == 0) return;
        auto* copy = static_cast<std::uint8_t*>(a.scratch);
        std::memcpy(copy, rows + m_inPlace * m_depth, left * m_depth);
        m_product.run({copy, left, left, left}, static_cast<std::byte*>(a.outputs[0]) +
                                                    m_inPlace * m_product.columns() * m_outputBytes);
    }

  private:
    std::size_t m_rows, m_depth, m_outputBytes;
    SegmentedProduct m_product;
    std::size_t m_inPlace;
};

/// Calls run(image, output) for each image.
template <typename Run>
void forEachImage(const KernelArguments& a, const CodedWindows& shape, std::size_t outputBytes, Run run) {
    const auto* image = static_cast<const std::uint8_t*>(a.inputs[0]);
    auto* output = static_cast<std::byte*>(a.outputs[0]);
    const std::size_t step = static_cast<std::size_t>(shape.window.output[0] * shape.window.output[1]) *
                             shape.columns * outputBytes;
    for (std::int64_t n = 0; n < shape.input[0]; ++n) {
        run(image, output);
        image += shape.input[1] * shape.input[2] * shape.input[3];
        output += step;
    }
}

class Convolution final : public Kernel {
  public:
    Convolution(CodedWeight weight, const CodedWindows& shape, const SegmentTiles* tiles)
        : m_shape(shape),
          m_outputBytes(weight.outputBytes()),
          m_convolution(weight.weight, shape.input[1], shape.input[2], shape.input[3], shape.window,
                        shape.columns, shape.zero, std::move(weight.requantization), tiles) {}

    std::size_t scratchBytes() const override { return m_convolution.scratchBytes(); }
    std::size_t weightBytes() const override { return m_convolution.weightBytes(); }
    void run(const KernelArguments& a) const override {
        forEachImage(a, m_shape, m_outputBytes, [&](const std::uint8_t* image, void* output) {
            m_convolution.run(image, output, static_cast<std::uint8_t*>(a.scratch));
        });
    }

  private:
    CodedWindows m_shape;
    std::size_t m_outputBytes;
    SegmentedConvolution m_convolution;
};

class Depthwise final : public Kernel {
  public:
    Depthwise(const CodedWeight& weight, const CodedWindows& shape)
        : m_shape(shape),
          m_outputBytes(weight.outputBytes()),
          m_depthwise(weight.weight, shape.columns, shape.window, shape.zero, weight.requantization) {}

    std::size_t scratchBytes() const override { return m_depthwise.scratchBytes(); }
    std::size_t weightBytes() const override { return m_depthwise.weightBytes(); }
    void run(const KernelArguments& a) const override {
        forEachImage(a, m_shape, m_outputBytes, [&](const std::uint8_t* image, void* output) {
            m_depthwise.run(image, m_shape.input[2], m_shape.input[3], output,
                            static_cast<std::uint8_t*>(a.scratch));
        });
    }

  private:
    CodedWindows m_shape;
    std::size_t m_outputBytes;
    DepthwiseVnni m_depthwise;
};

}  // namespace

std::unique_ptr<Kernel> makeRowsVnni(CodedWeight weight, const CodedRows& shape, const SegmentTiles* tiles) {
    return std::make_unique<RowProduct>(std::move(weight), shape, tiles);
}

std::unique_ptr<Kernel> makeConvolutionVnni(CodedWeight weight, const CodedWindows& shape,
                                            const SegmentTiles* tiles) {
    return std::make_unique<Convolution>(std::move(weight), shape, tiles);
}

std::unique_ptr<Kernel> makeDepthwiseVnni(const CodedWeight& weight, const CodedWindows& shape) {
    return std::make_unique<Depthwise>(weight, shape);
}

}  // namespace quantloupe
