// SPDX-License-Identifier: Apache-2.0
// The order of float32 operations in ONNX Runtime (MLAS) on a processor with fused multiply-adds:
//
// - A convolution is a product. Rows are filters, columns are the output's pixels, and the inner dimension
//   runs over the input channels and, for each, over the window row by row. Each element is summed from 0 by
//   fused multiply-adds, one block of the inner dimension at a time. The sums of the blocks are added, then
//   the bias.
// - A product with a single row (one filter per group) rounds products and sums
//   separately and adds four products at a time, ((a + b) + c) + d, to the sum so far; for the rest two, then
//   one.
// - A transposed convolution multiplies each input pixel with all taps and adds the products to the output,
//   tap after tap.
// - A convolution with a single output pixel (as in squeeze-and-excitation) rounds products and sums
//   separately, in 8 lanes.
//
// Limitations: on processors without fused multiply-adds, ONNX Runtime uses another order. With a single
// output pixel, it uses other orders for a depthwise convolution whose window covers the input, and in groups
// of several channels for the filters after the last multiple of four.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "runtime/ordered/channel_planes.h"
#include "runtime/ordered/channel_scale.h"
#include "runtime/ordered/convolution_kernel.h"
#include "runtime/ordered/matrix_product.h"
#include "runtime/ordered/ordered_tiles.h"
#include "runtime/ordered/window_gather.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

class FusedConvolution final : public ConvolutionKernel {
  public:
    explicit FusedConvolution(const ConvolutionSpec& spec)
        : ConvolutionKernel(spec),
          m_perGroup(m_channels / m_groups),
          m_each(m_filters / m_groups),
          m_inner(m_perGroup * m_geometry.taps()),
          m_block(orderedBlock(m_geometry.outputPixels(), m_inner)),
          m_pointwise(m_geometry.isPointwise()),
          m_rowsTogether(rowsTogether(m_inner, m_each)),
          m_gather(m_geometry, m_channels, m_perGroup) {
        if (ChannelPlanes::suits(m_geometry)) m_planes.emplace(m_geometry, m_images, m_perGroup, m_channels);
        const std::size_t panels = panelFloats(m_inner, m_each);
        m_weight.resize(m_groups * panels);
        const float* weight = spec.weight->floats().data();
        for (std::size_t g = 0; g < m_groups; ++g)
            packPanels({weight + g * m_each * m_inner, m_inner, true}, m_inner, m_each,
                       m_weight.data() + g * panels);
        if (spec.bias != nullptr) m_bias = padded(spec.bias->floats());
        if (spec.scale != nullptr) {
            m_factor = padded(spec.scale->factor);
            m_offset = padded(spec.scale->offset);
        }
    }
    std::size_t scratchBytes() const override {
        if (m_planes) return m_planes->floats() * sizeof(float);
        return m_pointwise ? 0 : m_rowsTogether * m_inner * sizeof(float);
    }

    void run(const KernelArguments& arguments) const override {
        const auto* in = static_cast<const float*>(arguments.inputs[0]);
        auto* out = static_cast<float*>(arguments.outputs[0]);
        if (m_planes)
            runOnPlanes(in, static_cast<float*>(arguments.scratch), out);
        else
            runOnRows(in, static_cast<float*>(arguments.scratch), out);
    }

  private:
    void runOnPlanes(const float* in, float* planes, float* out) const {
        PackedProduct product;
        product.offsets = m_planes->offsets();
        product.left = planes;
        product.leftStride = 1;
        for (const OutputBand& band : m_planes->bands()) {
            const std::vector<std::size_t> starts = m_planes->lineStarts(band);
            product.lineStarts = starts.data();
            product.lineRows = band.columns;
            product.rows = band.rows();
            const std::size_t pixel =
                (band.image * m_geometry.output[1] + band.line) * m_geometry.output[2] + band.column;
            for (std::size_t g = 0; g < m_groups; ++g) {
                m_planes->fill(band, in + g * m_perGroup, planes);
                multiplyGroup(product, g, out + pixel * m_filters);
            }
            finish(out + pixel * m_filters, product.rows * m_filters);
        }
    }

    void runOnRows(const float* in, float* left, float* out) const {
        WindowGather::Walk walk(m_geometry);
        PackedProduct product;
        product.leftStride = m_channels;
        product.interleaved = !m_pointwise;
        // The pixels of all images are rows of one product; the sum of a row does not depend on the other
        // rows.
        const std::size_t pixels = m_images * m_geometry.outputPixels();
        const bool atOnce = m_pointwise && !m_swish;
        const EvenParts parts(pixels, atOnce ? std::max<std::size_t>(pixels, 1) : m_rowsTogether);
        for (std::size_t part = 0; part < parts.parts(); ++part) {
            const std::size_t first = parts.begin(part);
            product.rows = parts.begin(part + 1) - first;
            for (std::size_t g = 0; g < m_groups; ++g) {
                if (!m_pointwise) gather(in + g * m_perGroup, first, product.rows, walk, left);
                product.left = m_pointwise ? in + first * m_channels + g * m_perGroup : left;
                multiplyGroup(product, g, out + first * m_filters);
            }
            finish(out + first * m_filters, product.rows * m_filters);
        }
    }

    /// Writes the pixels in the windows of `rows` outputs, interleaved for multiplyPacked().
    void gather(const float* in, std::size_t first, std::size_t rows, WindowGather::Walk& walk,
                float* left) const {
        const EvenParts together = rowTiles(rows);
        for (std::size_t tile = 0; tile < together.parts(); ++tile) {
            const std::size_t begin = together.begin(tile), count = together.begin(tile + 1) - begin;
            m_gather.gather(in, first + begin, count, count, walk, left + begin * m_inner);
        }
    }

    /// Multiplies the left factors by the weights of a group. `out` points to the first pixel.
    void multiplyGroup(PackedProduct& product, std::size_t group, float* out) const {
        product.inner = m_inner;
        product.columns = m_each;
        product.block = m_block;
        product.bounds = m_bounds;
        product.panels = m_weight.data() + group * panelFloats(m_inner, m_each);
        product.bias = ofGroup(m_bias, group);
        product.factor = ofGroup(m_factor, group);
        product.offset = ofGroup(m_offset, group);
        product.result = out + group * m_each;
        product.resultStride = m_filters;
        const bool oneChannelOnePosition = m_perGroup == 1 && m_geometry.coversInput();
        if (m_geometry.outputPixels() == 1 && !oneChannelOnePosition)
            multiplyPackedInLanes(product);
        else
            multiplyPacked(product);
    }

    /// One value per filter, each group padded to panels.
    AlignedVector<float> padded(std::span<const float> values) const {
        AlignedVector<float> all;
        for (std::size_t g = 0; g < m_groups; ++g) {
            const AlignedVector<float> group = paddedToPanels(values.subspan(g * m_each, m_each));
            all.insert(all.end(), group.begin(), group.end());
        }
        return all;
    }
    const float* ofGroup(const AlignedVector<float>& values, std::size_t group) const {
        return values.empty() ? nullptr : values.data() + group * paddedColumns(m_each);
    }

    std::size_t m_perGroup, m_each, m_inner, m_block;
    bool m_pointwise;
    std::optional<ChannelPlanes> m_planes;
    std::size_t m_rowsTogether;
    WindowGather m_gather;
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
    std::size_t scratchBytes() const override { return kMostRowsTogether * m_each * sizeof(float); }

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
            for (std::size_t p = 0; p < outputs; ++p) finishPixel(out + p * m_filters);
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
        for (std::size_t first = 0; first < inputs; first += kMostRowsTogether) {
            product.left = in + first * m_channels;
            product.rows = std::min(kMostRowsTogether, inputs - first);
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

    void finishPixel(float* pixel) const {
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
    if (spec.groups == filters && filters > 0 && channels > 0)
        return filters == channels ? makeDepthwiseConvolution(spec) : makeSingleFilterConvolution(spec);
    return std::make_unique<FusedConvolution>(spec);
}

std::unique_ptr<Kernel> makeTransposedConvolution(const ConvolutionSpec& spec) {
    requireSpatialDimensions(spec);
    return std::make_unique<TransposedConvolution>(spec);
}

}  // namespace quantloupe
