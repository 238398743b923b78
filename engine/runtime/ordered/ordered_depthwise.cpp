// SPDX-License-Identifier: Apache-2.0
// The order of the sums is described in ordered_convolution.cpp.
#include <algorithm>

#include "runtime/ordered/channel_scale.h"
#include "runtime/ordered/convolution_kernel.h"
#include "runtime/ordered/ordered_tiles.h"

namespace quantloupe {
namespace {

/// Vectors run over the channels.
class DepthwiseConvolution final : public ConvolutionKernel {
  public:
    explicit DepthwiseConvolution(const ConvolutionSpec& spec)
        : ConvolutionKernel(spec), m_zeros(m_geometry.input[2] * m_channels, 0.0f) {
        const std::size_t taps = m_geometry.taps();
        const float* weight = spec.weight->floats().data();
        m_weight.resize(m_channels * taps);
        for (std::size_t c = 0; c < m_channels; ++c)
            for (std::size_t t = 0; t < taps; ++t) m_weight[t * m_channels + c] = weight[c * taps + t];
        if (spec.bias != nullptr) m_bias.assign(spec.bias->floats().begin(), spec.bias->floats().end());
        if (spec.scale != nullptr) {
            m_factor.assign(spec.scale->factor.begin(), spec.scale->factor.end());
            m_offset.assign(spec.scale->offset.begin(), spec.scale->offset.end());
        }
    }

    void run(const KernelArguments& arguments) const override {
        const std::size_t rowPixels = m_geometry.output[2],
                          rows = m_geometry.output[0] * m_geometry.output[1];
        WindowWalk walk(m_geometry);
        std::vector<const float*> from(m_geometry.taps());
        DepthwiseArguments run;
        run.taps = from.data();
        run.step = static_cast<std::size_t>(m_geometry.stride[2]) * m_channels;
        run.weight = m_weight.data();
        run.products = m_geometry.taps();
        run.channels = m_channels;
        run.bias = m_bias.empty() ? nullptr : m_bias.data();
        run.factor = m_factor.empty() ? nullptr : m_factor.data();
        run.offset = m_offset.empty() ? nullptr : m_offset.data();
        run.low = m_bounds.low;
        run.high = m_bounds.high;
        run.result = static_cast<float*>(arguments.outputs[0]);
        const auto [begin, end] = inside();
        for (std::size_t n = 0; n < m_images; ++n) {
            const float* in =
                static_cast<const float*>(arguments.inputs[0]) + n * m_geometry.inputPixels() * m_channels;
            for (std::size_t row = 0; row < rows; ++row) {
                float* const results = run.result;
                for (std::size_t x = 0; x < rowPixels;
                     x += run.pixels, run.result += run.pixels * m_channels) {
                    run.pixels = x == begin && x < end ? end - begin : 1;
                    const auto& located = walk.at(row * rowPixels + x);
                    for (std::size_t t = 0; t < from.size(); ++t)
                        from[t] = located[t] < 0 ? m_zeros.data()
                                                 : in + static_cast<std::size_t>(located[t]) * m_channels;
                    tiles().depthwise(run);
                }
                finish(results, rowPixels * m_channels);
            }
        }
    }

  private:
    /// The output pixels of a row whose windows do not exceed the row of the input: [first, second).
    std::pair<std::size_t, std::size_t> inside() const {
        const ConvolutionGeometry& g = m_geometry;
        const std::ptrdiff_t reach = (static_cast<std::ptrdiff_t>(g.kernel[2]) - 1) * g.dilation[2],
                             most = static_cast<std::ptrdiff_t>(g.input[2]) - 1 - reach + g.pad[2];
        const std::ptrdiff_t begin = (std::max<std::ptrdiff_t>(g.pad[2], 0) + g.stride[2] - 1) / g.stride[2],
                             end = most < 0 ? 0 : most / g.stride[2] + 1;
        const auto within = [&](std::ptrdiff_t x) {
            return std::min(static_cast<std::size_t>(x), g.output[2]);
        };
        return {within(begin), within(std::max(begin, end))};
    }

    AlignedVector<float> m_zeros;  ///< a row of the input in the padding
};

}  // namespace

std::unique_ptr<Kernel> makeDepthwiseConvolution(const ConvolutionSpec& spec) {
    return std::make_unique<DepthwiseConvolution>(spec);
}

}  // namespace quantloupe
