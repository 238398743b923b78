// SPDX-License-Identifier: Apache-2.0
// The order of float32 operations in ONNX Runtime (MLAS) on a processor with fused multiply-adds:
//
// - A convolution is a product. Rows are filters, columns are the output's pixels, and the inner dimension
//   runs over the input channels and, for each, over the window row by row. Each element is summed from 0 by
//   fused multiply-adds, one block of the inner dimension at a time. The sums of the blocks are added, then
//   the bias.
// - A product with a single row (a depthwise convolution, filter by filter) rounds products and sums
//   separately and adds four products at a time, ((a + b) + c) + d, to the sum so far; for the rest two, then
//   one.
// - A transposed convolution multiplies each input pixel with all taps and adds the products to the output,
//   tap after tap.
// - A convolution with a single output pixel (as in squeeze-and-excitation) rounds products and sums
//   separately, in 8 lanes.
//
// Limitation: on processors without fused multiply-adds, ONNX Runtime uses another order.
#include <algorithm>

#include "base/error.h"
#include "runtime/operators/convolution_geometry.h"
#include "runtime/ordered/channel_scale.h"
#include "runtime/ordered/matrix_product.h"
#include "runtime/ordered/ordered_tiles.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

std::size_t extent(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Common to all kinds: extents, bias and bounds.
class ConvolutionKernel : public Kernel {
  public:
    explicit ConvolutionKernel(const ConvolutionSpec& spec)
        : m_geometry(spec),
          m_images(extent(spec.input.dims[0])),
          m_channels(extent(spec.input.dims[1])),
          m_filters(extent(spec.output.dims[1])),
          m_groups(extent(spec.groups)) {
        if (spec.scale != nullptr) m_scale = *spec.scale;
        if (spec.activation != nullptr)
            (spec.scale != nullptr ? m_scaledBounds : m_bounds) = *spec.activation;
    }
    std::size_t weightBytes() const override { return m_weight.size() * sizeof(float); }

  protected:
    /// Applies the batch normalization, if there is one, to output pixels that are still in the cache.
    void scale(float* outputs, std::size_t pixels) const {
        if (!m_scale.factor.empty()) scaleChannels(m_scale, outputs, pixels, m_scaledBounds);
    }

    ConvolutionGeometry m_geometry;
    std::size_t m_images, m_channels, m_filters, m_groups;
    AlignedVector<float> m_weight, m_bias;
    Activation m_bounds;  ///< before the batch normalization
    ChannelScale m_scale;
    Activation m_scaledBounds;  ///< after it
};

class FusedConvolution final : public ConvolutionKernel {
  public:
    explicit FusedConvolution(const ConvolutionSpec& spec)
        : ConvolutionKernel(spec),
          m_perGroup(m_channels / m_groups),
          m_each(m_filters / m_groups),
          m_inner(m_perGroup * m_geometry.taps()),
          m_pointwise(m_geometry.isPointwise()) {
        // Rows are gathered tap by tap, [tap][channel]; the sums run over [channel][tap].
        const std::size_t taps = m_geometry.taps();
        m_tapStride = spread(m_perGroup);
        m_rowStride = spread(taps * m_tapStride);
        for (std::size_t k = 0; k < m_inner; ++k)
            m_offsets.push_back(static_cast<std::ptrdiff_t>(k % taps * m_tapStride + k / taps));
        const std::size_t panels = panelFloats(m_inner, m_each);
        m_weight.resize(m_groups * panels);
        const float* weight = spec.weight->floats().data();
        for (std::size_t g = 0; g < m_groups; ++g)
            packPanels({weight + g * m_each * m_inner, m_inner, true}, m_inner, m_each,
                       m_weight.data() + g * panels);
        if (spec.bias == nullptr) return;
        for (std::size_t g = 0; g < m_groups; ++g) {
            const AlignedVector<float> padded =
                paddedToPanels(spec.bias->floats().subspan(g * m_each, m_each));
            m_bias.insert(m_bias.end(), padded.begin(), padded.end());
        }
    }
    std::size_t scratchBytes() const override {
        return m_pointwise ? 0 : kRowsTogether * m_rowStride * sizeof(float);
    }

    void run(const KernelArguments& arguments) const override {
        const auto* in = static_cast<const float*>(arguments.inputs[0]);
        auto* left = static_cast<float*>(arguments.scratch);
        WindowWalk walk(m_geometry);
        PackedProduct product;
        product.leftStride = m_pointwise ? m_channels : m_rowStride;
        product.inner = m_inner;
        product.offsets = m_geometry.taps() == 1 ? nullptr : m_offsets.data();
        product.columns = m_each;
        product.block = orderedBlock(m_geometry.outputPixels(), m_inner);
        product.bounds = m_bounds;
        product.resultStride = m_filters;
        // The pixels of all images are rows of one product; the sum of a row does not depend on the other
        // rows.
        const std::size_t pixels = m_images * m_geometry.outputPixels(),
                          together = m_pointwise && m_scale.factor.empty() ? pixels : kRowsTogether;
        for (std::size_t first = 0; first < pixels; first += together) {
            product.rows = std::min(together, pixels - first);
            for (std::size_t g = 0; g < m_groups; ++g) {
                if (!m_pointwise) gather(in, first, product.rows, g, walk, left);
                product.left = m_pointwise ? in + first * m_channels + g * m_perGroup : left;
                product.panels = m_weight.data() + g * panelFloats(m_inner, m_each);
                product.bias = m_bias.empty() ? nullptr : m_bias.data() + g * paddedColumns(m_each);
                product.result = static_cast<float*>(arguments.outputs[0]) + first * m_filters + g * m_each;
                if (m_geometry.outputPixels() == 1)
                    multiplyPackedInLanes(product);
                else
                    multiplyPacked(product);
            }
            scale(static_cast<float*>(arguments.outputs[0]) + first * m_filters, product.rows);
        }
    }

  private:
    /// Rounds up to an odd number of cache lines, so that values this far apart do not map to the same cache
    /// sets.
    static std::size_t spread(std::size_t values) {
        constexpr std::size_t kLine = 16;
        return values < kLine ? values : ((values + kLine - 1) / kLine | 1) * kLine;
    }

    /// The pixels in the windows, [row][tap][channel].
    void gather(const float* in, std::size_t first, std::size_t rows, std::size_t group, WindowWalk& walk,
                float* left) const {
        const std::size_t outputs = m_geometry.outputPixels(), inputs = m_geometry.inputPixels();
        for (std::size_t r = 0; r < rows; ++r) {
            const std::size_t image = (first + r) / outputs;
            const float* pixels = in + image * inputs * m_channels + group * m_perGroup;
            float* to = left + r * m_rowStride;
            for (const std::ptrdiff_t at : walk.at((first + r) - image * outputs)) {
                if (at < 0)
                    std::fill_n(to, m_perGroup, 0.0f);
                else
                    std::copy_n(pixels + static_cast<std::size_t>(at) * m_channels, m_perGroup, to);
                to += m_tapStride;
            }
        }
    }

    std::size_t m_perGroup, m_each, m_inner;
    std::size_t m_tapStride = 0, m_rowStride = 0;
    bool m_pointwise;
    std::vector<std::ptrdiff_t> m_offsets;
};

/// Groups with one channel and one filter: vectors run over the channels.
class DepthwiseConvolution final : public ConvolutionKernel {
  public:
    explicit DepthwiseConvolution(const ConvolutionSpec& spec)
        : ConvolutionKernel(spec), m_zeros(m_channels, 0.0f) {
        const std::size_t taps = m_geometry.taps();
        const float* weight = spec.weight->floats().data();
        m_weight.resize(m_channels * taps);
        for (std::size_t c = 0; c < m_channels; ++c)
            for (std::size_t t = 0; t < taps; ++t) m_weight[t * m_channels + c] = weight[c * taps + t];
        if (spec.bias != nullptr) m_bias.assign(spec.bias->floats().begin(), spec.bias->floats().end());
    }

    void run(const KernelArguments& arguments) const override {
        const std::size_t pixels = m_geometry.outputPixels(), taps = m_geometry.taps();
        const Tiles& best = tiles();
        WindowWalk walk(m_geometry);
        std::vector<const float*> from(taps);
        DepthwiseArguments pixel;
        pixel.taps = from.data();
        pixel.weight = m_weight.data();
        pixel.products = taps;
        pixel.channels = m_channels;
        pixel.bias = m_bias.empty() ? nullptr : m_bias.data();
        pixel.low = m_bounds.low;
        pixel.high = m_bounds.high;
        pixel.result = static_cast<float*>(arguments.outputs[0]);
        for (std::size_t n = 0; n < m_images; ++n) {
            const float* in =
                static_cast<const float*>(arguments.inputs[0]) + n * m_geometry.inputPixels() * m_channels;
            constexpr std::size_t kTogether = 32;  // pixels that are scaled while they are in the cache
            for (std::size_t p = 0; p < pixels; ++p, pixel.result += m_channels) {
                if (p % kTogether == 0 && p > 0) scale(pixel.result - kTogether * m_channels, kTogether);
                const auto& located = walk.at(p);
                for (std::size_t t = 0; t < taps; ++t)
                    from[t] = located[t] < 0 ? m_zeros.data()
                                             : in + static_cast<std::size_t>(located[t]) * m_channels;
                best.depthwise(pixel);
            }
            const std::size_t left = pixels == 0 ? 0 : (pixels - 1) % kTogether + 1;
            scale(pixel.result - left * m_channels, left);
        }
    }

  private:
    AlignedVector<float> m_zeros;
};

QUANTLOUPE_SIMD void addRow(const float* values, float* sums, std::size_t count) {
    for (std::size_t c = 0; c < count; ++c) sums[c] += values[c];
}

class TransposedConvolution final : public ConvolutionKernel {
  public:
    explicit TransposedConvolution(const ConvolutionSpec& spec)
        : ConvolutionKernel(spec), m_perGroup(m_channels / m_groups), m_each(m_filters / m_groups) {
        // [group][tap][panels of perGroup x each] from [channel][filter of the group][tap].
        const std::size_t taps = m_geometry.taps(), panels = panelFloats(m_perGroup, m_each);
        m_weight.resize(m_groups * taps * panels);
        std::vector<float> ofTap(m_perGroup * m_each);
        for (std::size_t g = 0; g < m_groups; ++g)
            for (std::size_t t = 0; t < taps; ++t) {
                const float* weight = spec.weight->floats().data() + g * m_perGroup * m_each * taps + t;
                for (std::size_t i = 0; i < ofTap.size(); ++i) ofTap[i] = weight[i * taps];
                packPanels({ofTap.data(), m_each, false}, m_perGroup, m_each,
                           m_weight.data() + (g * taps + t) * panels);
            }
        if (spec.bias != nullptr) m_bias.assign(spec.bias->floats().begin(), spec.bias->floats().end());
    }
    std::size_t scratchBytes() const override { return kRowsTogether * m_each * sizeof(float); }

    void run(const KernelArguments& arguments) const override {
        const std::size_t inputs = m_geometry.inputPixels(), outputs = m_geometry.outputPixels();
        const auto* in = static_cast<const float*>(arguments.inputs[0]);
        auto* out = static_cast<float*>(arguments.outputs[0]);
        std::fill_n(out, m_images * outputs * m_filters, 0.0f);
        for (std::size_t n = 0; n < m_images; ++n, in += inputs * m_channels, out += outputs * m_filters) {
            for (std::size_t g = 0; g < m_groups; ++g)
                for (std::size_t t = 0; t < m_geometry.taps(); ++t)
                    addTap(in + g * m_perGroup, g, t, static_cast<float*>(arguments.scratch),
                           out + g * m_each);
            for (std::size_t p = 0; p < outputs; ++p) finish(out + p * m_filters);
        }
    }

  private:
    void addTap(const float* in, std::size_t group, std::size_t tap, float* products, float* out) const {
        const std::size_t inputs = m_geometry.inputPixels();
        PackedProduct product;
        product.leftStride = m_channels;
        product.panels =
            m_weight.data() + (group * m_geometry.taps() + tap) * panelFloats(m_perGroup, m_each);
        product.inner = m_perGroup;
        product.columns = m_each;
        product.block = orderedBlock(inputs, m_perGroup);
        product.result = products;
        product.resultStride = m_each;
        for (std::size_t first = 0; first < inputs; first += kRowsTogether) {
            product.left = in + first * m_channels;
            product.rows = std::min(kRowsTogether, inputs - first);
            multiplyPacked(product);
            for (std::size_t r = 0; r < product.rows; ++r)
                if (const std::ptrdiff_t at = outputOf(first + r, tap); at >= 0)
                    addRow(products + r * m_each, out + static_cast<std::size_t>(at) * m_filters, m_each);
        }
    }

    /// The output position of the product of an input pixel and a tap; -1 in the padding.
    std::ptrdiff_t outputOf(std::size_t pixel, std::size_t tap) const {
        const ConvolutionGeometry& g = m_geometry;
        const std::size_t at[3] = {pixel / (g.input[1] * g.input[2]), pixel / g.input[2] % g.input[1],
                                   pixel % g.input[2]};
        const std::size_t taps[3] = {tap / (g.kernel[1] * g.kernel[2]), tap / g.kernel[2] % g.kernel[1],
                                     tap % g.kernel[2]};
        std::ptrdiff_t index = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(at[d]) * g.stride[d] - g.pad[d] +
                                     static_cast<std::ptrdiff_t>(taps[d]) * g.dilation[d];
            if (i < 0 || i >= static_cast<std::ptrdiff_t>(g.output[d])) return -1;
            index = index * static_cast<std::ptrdiff_t>(g.output[d]) + i;
        }
        return index;
    }

    void finish(float* pixel) const {
        for (std::size_t c = 0; c < m_filters; ++c) {
            const float value = m_bias.empty() ? pixel[c] : pixel[c] + m_bias[c];
            const float low = value < m_bounds.low ? m_bounds.low : value;
            pixel[c] = low > m_bounds.high ? m_bounds.high : low;
        }
    }

    std::size_t m_perGroup, m_each;
};

void requireSpatialDimensions(const ConvolutionSpec& spec) {
    if (spec.window.kernel.empty() || spec.window.kernel.size() > 3)
        fail(ErrorKind::Unsupported, "convolution and pooling need 1 to 3 spatial dimensions");
}

}  // namespace

std::unique_ptr<Kernel> makeConvolution(const ConvolutionSpec& spec) {
    requireSpatialDimensions(spec);
    const std::int64_t filters = spec.output.dims[1], channels = spec.input.dims[1];
    if (spec.groups == channels && filters == channels && channels > 0)
        return std::make_unique<DepthwiseConvolution>(spec);
    return std::make_unique<FusedConvolution>(spec);
}

std::unique_ptr<Kernel> makeTransposedConvolution(const ConvolutionSpec& spec) {
    requireSpatialDimensions(spec);
    return std::make_unique<TransposedConvolution>(spec);
}

}  // namespace quantloupe
