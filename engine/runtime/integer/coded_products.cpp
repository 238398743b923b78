// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products on codes: matrix rows gathered from the image, then IntegerProduct or
// IntegerDepthwise.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/integer/codes.h"
#include "runtime/integer/integer_depthwise.h"

namespace quantloupe {
namespace {

/// The weight as [depth, columns] and the requantization of its sums. Empty if it does not fit into 8 and 32
/// bits.
struct Prepared8 {
    std::vector<std::int8_t> weight;
    Requantization requantization;
};

/// `index(k, c)` is the position of the weight of depth k and column c in the codes.
template <typename Index>
std::optional<Prepared8> prepared(const CodedUnit& unit, std::size_t depth, std::size_t columns,
                                  Index index) {
    const ConstantCodes& weight = *unit.weight;
    if (weight.scales.size() != 1 && weight.scales.size() != columns) return std::nullopt;
    if (unit.bias != nullptr && unit.bias->codes.size() != columns) return std::nullopt;
    Prepared8 result;
    result.weight.resize(depth * columns);
    std::vector<std::int64_t> sums(columns, 0), magnitudes(columns, 0);
    for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t c = 0; c < columns; ++c) {
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

std::size_t elementOf(const CodedUnit& unit) { return unit.output ? 1 : sizeof(float); }

class RowProduct final : public Kernel {
  public:
    RowProduct(Prepared8 prepared, std::size_t rows, std::size_t depth, std::size_t columns,
               std::size_t element)
        : m_product(prepared.weight, depth, columns, std::move(prepared.requantization)),
          m_rows(rows),
          m_element(element) {}

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
    IntegerProduct m_product;
    std::size_t m_rows, m_element;
};

/// For any kernel, stride, dilation and padding: gathers the windows of 48 output pixels at a time.
class GatheredConvolution final : public Kernel {
  public:
    GatheredConvolution(Prepared8 prepared, const TensorDesc& input, const Window& window,
                        std::size_t columns, std::uint8_t zero, std::size_t element)
        : m_dims(input.dims),
          m_window(window),
          m_zero(zero),
          m_element(element),
          m_product(prepared.weight,
                    static_cast<std::size_t>(input.dims[1] * window.kernel[0] * window.kernel[1]), columns,
                    std::move(prepared.requantization)) {}

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
    DepthwiseConvolution(Prepared8 prepared, const TensorDesc& input, const Window& window, std::uint8_t zero,
                         std::size_t element)
        : m_dims(input.dims),
          m_outputBytes(static_cast<std::size_t>(input.dims[1] * window.output[0] * window.output[1]) *
                        element),
          m_depthwise(prepared.weight, static_cast<std::size_t>(input.dims[1]), window, zero,
                      std::move(prepared.requantization)) {}

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

bool isOne(const Dims& dims) {
    return std::all_of(dims.begin(), dims.end(), [](std::int64_t d) { return d == 1; });
}
bool isZero(const Dims& dims) {
    return std::all_of(dims.begin(), dims.end(), [](std::int64_t d) { return d == 0; });
}

}  // namespace

std::unique_ptr<Kernel> makeCodedConvolution(const CodedUnit& unit, const TensorDesc& input,
                                             const TensorDesc& output, const Window& window,
                                             std::int64_t groups, const Dims& dims) {
    if (!integerKernelsAvailable() || dims.size() != 4) return nullptr;
    const auto columns = static_cast<std::size_t>(dims[0]), channels = static_cast<std::size_t>(dims[1]);
    const std::size_t taps = static_cast<std::size_t>(dims[2] * dims[3]);
    const auto zero = static_cast<std::uint8_t>(-unit.input.low);
    const bool depthwise = groups > 1 && groups == input.dims[1] && dims[0] == groups && groups >= 16;
    if (groups > 1 && !depthwise) return nullptr;
    // Depth runs over the taps, with the channels of each tap contiguous; the file has the reverse order.
    auto weight = prepared(unit, taps * channels, columns, [&](std::size_t k, std::size_t c) {
        return (c * channels + k % channels) * taps + k / channels;
    });
    if (!weight) return nullptr;
    if (depthwise)
        return std::make_unique<DepthwiseConvolution>(std::move(*weight), input, window, zero,
                                                      elementOf(unit));
    const bool pointwise =
        taps == 1 && isOne(window.strides) && isZero(window.padBegin) && isZero(window.padEnd);
    if (pointwise) {
        const auto rows = static_cast<std::size_t>(output.dims[0] * output.dims[2] * output.dims[3]);
        return std::make_unique<RowProduct>(std::move(*weight), rows, channels, columns, elementOf(unit));
    }
    return std::make_unique<GatheredConvolution>(std::move(*weight), input, window, columns, zero,
                                                 elementOf(unit));
}

std::unique_ptr<Kernel> makeCodedProduct(const CodedUnit& unit, std::size_t rows, std::size_t depth,
                                         std::size_t columns, bool transposed) {
    if (!integerKernelsAvailable()) return nullptr;
    auto weight = prepared(unit, depth, columns, [&](std::size_t k, std::size_t c) {
        return transposed ? c * depth + k : k * columns + c;
    });
    if (!weight) return nullptr;
    return std::make_unique<RowProduct>(std::move(*weight), rows, depth, columns, elementOf(unit));
}

}  // namespace quantloupe
