// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime (MLAS) does with float32 on a processor with fused multiply-adds:
// - A convolution is a product: rows are filters, columns the output's pixels, the inner dimension runs over input channels, then the
//   window row by row. Each element is summed by fused multiply-adds from 0, one after the other, a block of the inner dimension at a
//   time; the blocks' sums are added up, then the bias.
// - A product of a single row (a depthwise convolution, filter by filter) rounds products and sums apart, four products at a time:
//   ((a + b) + c) + d, then plus what is there; a rest of two or three likewise.
// - Gemm begins with its bias, MatMul with 0.
// Cost: about that of any float product; oneDNN is faster by a little, and sums in orders of its own.
// Weaknesses: products of a single column (one output pixel) and Gemm of a single row have further kernels there, whose order is not
// this one; nor is that of processors without fused multiply-adds.
#include "runtime/ordered_product.h"

#include <algorithm>

#include "runtime/aligned.h"
#include "runtime/ordered_tiles.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

std::size_t extent(std::int64_t n) { return static_cast<std::size_t>(n); }

std::size_t panelsOf(std::size_t columns) { return (columns + kTileColumns - 1) / kTileColumns; }

float bounded(float x, const Activation& bounds) {
    const float low = x < bounds.low ? bounds.low : x;
    return low > bounds.high ? bounds.high : low;
}

/// [panel][inner][kTileColumns] from value(inner, column), the last panel filled up with 0.
template <typename F>
void packPanels(std::size_t inner, std::size_t columns, float* packed, F value) {
    for (std::size_t panel = 0; panel < panelsOf(columns); ++panel)
        for (std::size_t k = 0; k < inner; ++k)
            for (std::size_t c = 0; c < kTileColumns; ++c) {
                const std::size_t column = panel * kTileColumns + c;
                *packed++ = column < columns ? value(k, column) : 0.0f;
            }
}

/// Where the window of each output pixel lies, for up to three spatial dimensions (the first ones 1 where there are fewer).
struct Geometry {
    std::size_t input[3] = {1, 1, 1}, output[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
    std::ptrdiff_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, pad[3] = {0, 0, 0};

    explicit Geometry(const ConvolutionSpec& spec) {
        const std::size_t rank = spec.window.kernel.size();
        for (std::size_t d = 0; d < rank; ++d) {
            const std::size_t to = 3 - rank + d;
            input[to] = extent(spec.input.dims[2 + d]);
            output[to] = extent(spec.window.output[d]);
            kernel[to] = extent(spec.window.kernel[d]);
            stride[to] = spec.window.strides[d];
            dilation[to] = spec.window.dilations[d];
            pad[to] = spec.window.padBegin[d];
        }
    }
    std::size_t inputPixels() const { return input[0] * input[1] * input[2]; }
    std::size_t outputPixels() const { return output[0] * output[1] * output[2]; }
    std::size_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }

    /// The input pixel under each tap of an output pixel's window; -1 in the padding.
    void locate(std::size_t pixel, std::ptrdiff_t* taps) const {
        const std::size_t at[3] = {pixel / (output[1] * output[2]), pixel / output[2] % output[1], pixel % output[2]};
        std::ptrdiff_t start[3];
        for (std::size_t d = 0; d < 3; ++d) start[d] = static_cast<std::ptrdiff_t>(at[d]) * stride[d] - pad[d];
        for (std::size_t z = 0; z < kernel[0]; ++z)
            for (std::size_t y = 0; y < kernel[1]; ++y)
                for (std::size_t x = 0; x < kernel[2]; ++x) {
                    const std::size_t steps[3] = {z, y, x};
                    std::ptrdiff_t index = 0;
                    bool inside = true;
                    for (std::size_t d = 0; d < 3; ++d) {
                        const std::ptrdiff_t i = start[d] + static_cast<std::ptrdiff_t>(steps[d]) * dilation[d];
                        inside = inside && i >= 0 && i < static_cast<std::ptrdiff_t>(input[d]);
                        index = index * static_cast<std::ptrdiff_t>(input[d]) + i;
                    }
                    *taps++ = inside ? index : -1;
                }
    }
};

class OrderedConvolution : public Kernel {
  public:
    explicit OrderedConvolution(const ConvolutionSpec& spec)
        : m_geometry(spec),
          m_images(extent(spec.input.dims[0])),
          m_channels(extent(spec.input.dims[1])),
          m_filters(extent(spec.output.dims[1])),
          m_groups(extent(spec.groups)),
          m_inner(m_channels / m_groups * m_geometry.taps()),
          m_weight(spec.weight->floats().begin(), spec.weight->floats().end()) {
        if (spec.bias != nullptr) m_bias.assign(spec.bias->floats().begin(), spec.bias->floats().end());
        if (spec.activation != nullptr) m_bounds = *spec.activation;
    }

  protected:
    void finishPixel(const float* sums, std::size_t first, std::size_t count, float* pixel) const {
        for (std::size_t c = 0; c < count; ++c) {
            const float value = m_bias.empty() ? sums[c] : sums[c] + m_bias[first + c];
            pixel[first + c] = bounded(value, m_bounds);
        }
    }

    Geometry m_geometry;
    std::size_t m_images, m_channels, m_filters, m_groups, m_inner;
    AlignedVector<float> m_weight;
    std::vector<float> m_bias;
    Activation m_bounds;
};

class FusedConvolution final : public OrderedConvolution {
  public:
    explicit FusedConvolution(const ConvolutionSpec& spec) : OrderedConvolution(spec), m_each(m_filters / m_groups) {
        m_block = orderedBlock(m_geometry.outputPixels(), m_inner);
        AlignedVector<float> packed(m_groups * panelsOf(m_each) * m_inner * kTileColumns);
        for (std::size_t g = 0; g < m_groups; ++g)
            packPanels(m_inner, m_each, packed.data() + g * panelsOf(m_each) * m_inner * kTileColumns,
                       [&](std::size_t k, std::size_t c) { return m_weight[(g * m_each + c) * m_inner + k]; });
        m_weight = std::move(packed);
    }
    std::size_t weightBytes() const override { return m_weight.size() * sizeof(float); }
    std::size_t scratchBytes() const override {
        return kTileRows * (m_inner * sizeof(float) + m_geometry.taps() * sizeof(std::ptrdiff_t));
    }

    void run(const KernelArguments& arguments) const override {
        const std::size_t taps = m_geometry.taps(), pixels = m_geometry.outputPixels(), perGroup = m_channels / m_groups;
        auto* located = static_cast<std::ptrdiff_t*>(arguments.scratch);
        auto* left = reinterpret_cast<float*>(located + kTileRows * taps);
        alignas(32) float result[kTileRows * kTileColumns];
        for (std::size_t n = 0; n < m_images; ++n) {
            const float* in = static_cast<const float*>(arguments.inputs[0]) + n * m_geometry.inputPixels() * m_channels;
            float* out = static_cast<float*>(arguments.outputs[0]) + n * pixels * m_filters;
            for (std::size_t first = 0; first < pixels; first += kTileRows) {
                const std::size_t rows = std::min(kTileRows, pixels - first);
                for (std::size_t r = 0; r < rows; ++r) m_geometry.locate(first + r, located + r * taps);
                for (std::size_t g = 0; g < m_groups; ++g) {
                    for (std::size_t r = 0; r < kTileRows; ++r)
                        for (std::size_t t = 0; t < taps; ++t) {
                            const std::ptrdiff_t at = r < rows ? located[r * taps + t] : -1;
                            const float* from = in + at * static_cast<std::ptrdiff_t>(m_channels) + g * perGroup;
                            float* to = left + t * kTileRows + r;
                            for (std::size_t c = 0; c < perGroup; ++c) to[c * taps * kTileRows] = at < 0 ? 0.0f : from[c];
                        }
                    for (std::size_t panel = 0; panel < panelsOf(m_each); ++panel) {
                        const float* right = m_weight.data() + (g * panelsOf(m_each) + panel) * m_inner * kTileColumns;
                        multiplyTile({left, right, m_inner, m_block, nullptr, result});
                        const std::size_t column = panel * kTileColumns, count = std::min(kTileColumns, m_each - column);
                        for (std::size_t r = 0; r < rows; ++r)
                            finishPixel(result + r * kTileColumns, g * m_each + column, count, out + (first + r) * m_filters);
                    }
                }
            }
        }
    }

  private:
    std::size_t m_each, m_block;
};

/// Adds four, two or one products of each of `count` channels to `sums`; `in` and `weight` point to the products' factors.
QUANTLOUPE_SIMD void addProducts(const float* const* in, const float* weight, std::size_t stride, std::size_t products, bool first,
                                 float* sums, std::size_t count) {
    const float *w0 = weight, *w1 = weight + stride, *w2 = w1 + stride, *w3 = w2 + stride;
    const float *x0 = in[0], *x1 = in[1], *x2 = in[2], *x3 = in[3];
    const float keep = first ? 0.0f : 1.0f;
    if (products == 4)
        for (std::size_t c = 0; c < count; ++c)
            sums[c] = (((x0[c] * w0[c] + x1[c] * w1[c]) + x2[c] * w2[c]) + x3[c] * w3[c]) + keep * sums[c];
    else if (products == 2)
        for (std::size_t c = 0; c < count; ++c) sums[c] = (x0[c] * w0[c] + x1[c] * w1[c]) + keep * sums[c];
    else
        for (std::size_t c = 0; c < count; ++c) sums[c] = x0[c] * w0[c] + keep * sums[c];
}

/// One filter for each group of one channel: vectors run over the channels.
class DepthwiseConvolution final : public OrderedConvolution {
  public:
    explicit DepthwiseConvolution(const ConvolutionSpec& spec) : OrderedConvolution(spec), m_zeros(m_channels, 0.0f) {
        AlignedVector<float> turned(m_weight.size());
        for (std::size_t c = 0; c < m_channels; ++c)
            for (std::size_t t = 0; t < m_inner; ++t) turned[t * m_channels + c] = m_weight[c * m_inner + t];
        m_weight = std::move(turned);
    }
    std::size_t weightBytes() const override { return m_weight.size() * sizeof(float); }
    std::size_t scratchBytes() const override { return m_inner * sizeof(std::ptrdiff_t) + m_channels * sizeof(float); }

    void run(const KernelArguments& arguments) const override {
        const std::size_t pixels = m_geometry.outputPixels();
        auto* located = static_cast<std::ptrdiff_t*>(arguments.scratch);
        auto* sums = reinterpret_cast<float*>(located + m_inner);
        for (std::size_t n = 0; n < m_images; ++n) {
            const float* in = static_cast<const float*>(arguments.inputs[0]) + n * m_geometry.inputPixels() * m_channels;
            float* out = static_cast<float*>(arguments.outputs[0]) + n * pixels * m_channels;
            for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
                m_geometry.locate(pixel, located);
                std::fill_n(sums, m_channels, 0.0f);
                for (std::size_t t = 0; t < m_inner;) {
                    const std::size_t left = m_inner - t, products = left >= 4 ? 4 : left >= 2 ? 2 : 1;
                    const float* from[4];
                    for (std::size_t i = 0; i < 4; ++i) {
                        const std::ptrdiff_t at = i < products ? located[t + i] : -1;
                        from[i] = at < 0 ? m_zeros.data() : in + at * static_cast<std::ptrdiff_t>(m_channels);
                    }
                    addProducts(from, m_weight.data() + t * m_channels, m_channels, products, t == 0, sums, m_channels);
                    t += products;
                }
                finishPixel(sums, 0, m_channels, out + pixel * m_channels);
            }
        }
    }

  private:
    AlignedVector<float> m_zeros;
};

class OrderedProduct final : public Kernel {
  public:
    explicit OrderedProduct(const MatrixProductSpec& spec)
        : m_rows(extent(spec.output[spec.output.size() - 2])),
          m_columns(extent(spec.output.back())),
          m_inner(extent(spec.left.back())),
          m_transposed(spec.transposeRight) {
        // Offsets of the batch's matrices; a dimension of 1 is read again and again.
        const std::size_t rank = spec.output.size() - 2;
        std::vector<std::size_t> index(rank, 0);
        const std::size_t batches = extent(elementCount(Dims(spec.output.begin(), spec.output.end() - 2)));
        const auto offset = [&](const Dims& dims) {
            std::size_t at = 0;
            for (std::size_t d = 0; d < rank; ++d) at = at * extent(dims[d]) + (dims[d] == 1 ? 0 : index[d]);
            return at;
        };
        for (std::size_t b = 0; b < batches; ++b) {
            m_batches.push_back({offset(spec.left) * m_rows * m_inner, offset(spec.right) * m_inner * m_columns});
            for (std::size_t d = rank; d-- > 0;) {
                if (++index[d] < extent(spec.output[d])) break;
                index[d] = 0;
            }
        }
        m_block = orderedBlock(m_columns, m_inner);
        if (spec.constantRight != nullptr && rank == 0) {
            m_packed.resize(panelBytes() / sizeof(float));
            pack(spec.constantRight->floats().data(), m_packed.data());
        } else if (spec.constantRight != nullptr) {
            m_right.assign(spec.constantRight->floats().begin(), spec.constantRight->floats().end());
        }
        if (spec.bias != nullptr) {
            m_bias.assign(panelsOf(m_columns) * kTileColumns, 0.0f);
            std::ranges::copy(spec.bias->floats(), m_bias.begin());
        }
        if (spec.activation != nullptr) m_bounds = *spec.activation;
    }
    std::size_t weightBytes() const override { return (m_packed.size() + m_right.size()) * sizeof(float); }
    std::size_t scratchBytes() const override {
        return kTileRows * m_inner * sizeof(float) + (m_packed.empty() ? panelBytes() : 0);
    }

    void run(const KernelArguments& arguments) const override {
        auto* left = static_cast<float*>(arguments.scratch);
        float* scratch = left + kTileRows * m_inner;
        const auto* given = m_right.empty() && m_packed.empty() ? static_cast<const float*>(arguments.inputs[1]) : m_right.data();
        auto* out = static_cast<float*>(arguments.outputs[0]);
        alignas(32) float result[kTileRows * kTileColumns];
        for (const auto& [leftAt, rightAt] : m_batches) {
            const float* in = static_cast<const float*>(arguments.inputs[0]) + leftAt;
            const float* panels = m_packed.data();
            if (m_packed.empty()) {
                pack(given + rightAt, scratch);
                panels = scratch;
            }
            for (std::size_t first = 0; first < m_rows; first += kTileRows) {
                const std::size_t rows = std::min(kTileRows, m_rows - first);
                for (std::size_t r = 0; r < kTileRows; ++r)
                    for (std::size_t k = 0; k < m_inner; ++k) left[k * kTileRows + r] = r < rows ? in[(first + r) * m_inner + k] : 0.0f;
                for (std::size_t column = 0; column < m_columns; column += kTileColumns) {
                    multiplyTile({left, panels + column * m_inner, m_inner, m_block, m_bias.empty() ? nullptr : m_bias.data() + column,
                                  result});
                    const std::size_t count = std::min(kTileColumns, m_columns - column);
                    for (std::size_t r = 0; r < rows; ++r)
                        for (std::size_t c = 0; c < count; ++c)
                            out[(first + r) * m_columns + column + c] = bounded(result[r * kTileColumns + c], m_bounds);
                }
            }
            out += m_rows * m_columns;
        }
    }

  private:
    std::size_t panelBytes() const { return panelsOf(m_columns) * m_inner * kTileColumns * sizeof(float); }
    void pack(const float* right, float* packed) const {
        packPanels(m_inner, m_columns, packed, [&](std::size_t k, std::size_t c) {
            return m_transposed ? right[c * m_inner + k] : right[k * m_columns + c];
        });
    }

    struct Offsets {
        std::size_t left, right;
    };
    std::size_t m_rows, m_columns, m_inner, m_block;
    bool m_transposed;
    std::vector<Offsets> m_batches;
    AlignedVector<float> m_packed, m_right, m_bias;
    Activation m_bounds;
};

}  // namespace

std::size_t orderedBlock(std::size_t columns, std::size_t inner) {
    // A panel of 128 columns by 128 products; where there are fewer columns it is deeper.
    std::size_t width = 128, depth = 128;
    if (columns >= inner) return std::max<std::size_t>(depth, 1);
    while (width > 16 && width / 2 >= columns) {
        depth *= 2;
        width /= 2;
    }
    return depth;
}

std::unique_ptr<Kernel> makeOrderedConvolution(const ConvolutionSpec& spec) {
    if (spec.window.kernel.size() > 3) return nullptr;
    const std::int64_t filters = spec.output.dims[1], channels = spec.input.dims[1];
    if (spec.groups == channels && filters == channels && channels > 0) return std::make_unique<DepthwiseConvolution>(spec);
    return std::make_unique<FusedConvolution>(spec);
}

std::unique_ptr<Kernel> makeOrderedProduct(const MatrixProductSpec& spec) {
    if (spec.alpha != 1.0f || spec.transposeLeft) return nullptr;
    return std::make_unique<OrderedProduct>(spec);
}

}  // namespace quantloupe
