// SPDX-License-Identifier: Apache-2.0
// Matrix rows gathered from the image, then IntegerProduct or IntegerDepthwise.
#include <algorithm>
#include <cstring>

#include "runtime/integer/coded_kernels.h"
#include "runtime/integer/integer_depthwise.h"

namespace quantloupe {
namespace {

class RowProduct final : public Kernel {
  public:
    RowProduct(CodedWeight weight, const CodedRows& shape)
        : m_rows(shape.rows),
          m_element(weight.outputBytes()),
          m_product(weight.weight, shape.depth, shape.columns, std::move(weight.requantization)) {}

    std::size_t scratchBytes() const override {
        return m_product.scratchBytes() + IntegerProduct::kRows * m_product.paddedDepth();
    }
    std::size_t weightBytes() const override { return m_product.weightBytes(); }
    void run(const KernelArguments& a) const override {
        const auto* rows = static_cast<const std::uint8_t*>(a.inputs[0]);
        auto* output = static_cast<std::byte*>(a.outputs[0]);
        auto* gathered = static_cast<std::uint8_t*>(a.scratch) + m_product.scratchBytes();
        const std::size_t depth = m_product.depth();
        for (std::size_t first = 0; first < m_rows; first += IntegerProduct::kRows) {
            const std::size_t count = std::min(IntegerProduct::kRows, m_rows - first);
            const std::uint8_t* from = rows + first * depth;
            if (m_product.paddedDepth() != depth) {
                for (std::size_t r = 0; r < count; ++r)
                    std::memcpy(gathered + r * m_product.paddedDepth(), from + r * depth, depth);
                from = gathered;
            }
            m_product.run(from, m_product.paddedDepth(), count,
                          output + first * m_product.columns() * m_element, m_product.columns(), a.scratch);
        }
    }

  private:
    std::size_t m_rows, m_element;
    IntegerProduct m_product;
};

/// For any kernel, stride, dilation and padding: gathers the windows of 48 output pixels at a time.
class GatheredConvolution final : public Kernel {
  public:
    GatheredConvolution(CodedWeight weight, const CodedWindows& shape)
        : m_dims(shape.input),
          m_window(shape.window),
          m_zero(shape.zero),
          m_element(weight.outputBytes()),
          m_product(weight.weight, weight.weight.size() / shape.columns, shape.columns,
                    std::move(weight.requantization)) {}

    std::size_t scratchBytes() const override {
        return m_product.scratchBytes() + IntegerProduct::kRows * m_product.paddedDepth();
    }
    std::size_t weightBytes() const override { return m_product.weightBytes(); }
    void run(const KernelArguments& a) const override {
        auto* gathered = static_cast<std::uint8_t*>(a.scratch) + m_product.scratchBytes();
        auto* output = static_cast<std::byte*>(a.outputs[0]);
        const auto* image = static_cast<const std::uint8_t*>(a.inputs[0]);
        const std::size_t padded = m_product.paddedDepth();
        std::size_t waiting = 0;
        const auto flush = [&] {
            m_product.run(gathered, padded, waiting, output, m_product.columns(), a.scratch);
            output += waiting * m_product.columns() * m_element;
            waiting = 0;
        };
        for (std::int64_t n = 0; n < m_dims[0]; ++n, image += m_dims[1] * m_dims[2] * m_dims[3])
            for (std::int64_t row = 0; row < m_window.output[0]; ++row)
                for (std::int64_t column = 0; column < m_window.output[1]; ++column) {
                    gather(image, row, column, gathered + waiting * padded);
                    if (++waiting == IntegerProduct::kRows) flush();
                }
        if (waiting > 0) flush();
    }

  private:
    void gather(const std::uint8_t* image, std::int64_t row, std::int64_t column, std::uint8_t* to) const {
        const Window& w = m_window;
        const auto channels = static_cast<std::size_t>(m_dims[1]);
        for (std::int64_t i = 0; i < w.kernel[0]; ++i) {
            const std::int64_t y = row * w.strides[0] - w.padBegin[0] + i * w.dilations[0];
            const std::int64_t x0 = column * w.strides[1] - w.padBegin[1];
            const bool whole =
                w.dilations[1] == 1 && y >= 0 && y < m_dims[2] && x0 >= 0 && x0 + w.kernel[1] <= m_dims[3];
            if (whole) {
                const std::size_t run = static_cast<std::size_t>(w.kernel[1]) * channels;
                std::memcpy(to, image + static_cast<std::size_t>(y * m_dims[3] + x0) * channels, run);
                to += run;
                continue;
            }
            for (std::int64_t j = 0; j < w.kernel[1]; ++j, to += channels) {
                const std::int64_t x = x0 + j * w.dilations[1];
                if (y >= 0 && y < m_dims[2] && x >= 0 && x < m_dims[3])
                    std::memcpy(to, image + static_cast<std::size_t>(y * m_dims[3] + x) * channels, channels);
                else
                    std::memset(to, m_zero, channels);
            }
        }
    }

    Dims m_dims;
    Window m_window;
    std::uint8_t m_zero;
    std::size_t m_element;
    IntegerProduct m_product;
};

class DepthwiseConvolution final : public Kernel {
  public:
    DepthwiseConvolution(CodedWeight weight, const CodedWindows& shape)
        : m_dims(shape.input),
          m_outputBytes(static_cast<std::size_t>(shape.window.output[0] * shape.window.output[1]) *
                        shape.columns * weight.outputBytes()),
          m_depthwise(weight.weight, shape.columns, shape.window, shape.zero,
                      std::move(weight.requantization)) {}

    std::size_t weightBytes() const override { return m_depthwise.weightBytes(); }
    void run(const KernelArguments& a) const override {
        const auto* image = static_cast<const std::uint8_t*>(a.inputs[0]);
        auto* output = static_cast<std::byte*>(a.outputs[0]);
        for (std::int64_t n = 0; n < m_dims[0]; ++n) {
            m_depthwise.run(image, m_dims[2], m_dims[3], output);
            image += m_dims[1] * m_dims[2] * m_dims[3];
            output += m_outputBytes;
        }
    }

  private:
    Dims m_dims;
    std::size_t m_outputBytes;
    IntegerDepthwise m_depthwise;
};

}  // namespace

std::unique_ptr<Kernel> makeRowsAvx2(CodedWeight weight, const CodedRows& shape) {
    return std::make_unique<RowProduct>(std::move(weight), shape);
}

std::unique_ptr<Kernel> makeConvolutionAvx2(CodedWeight weight, const CodedWindows& shape) {
    return std::make_unique<GatheredConvolution>(std::move(weight), shape);
}

std::unique_ptr<Kernel> makeDepthwiseAvx2(CodedWeight weight, const CodedWindows& shape) {
    return std::make_unique<DepthwiseConvolution>(std::move(weight), shape);
}

}  // namespace quantloupe
