// SPDX-License-Identifier: Apache-2.0
// Convolutions with one filter per group and several input channels, for example the last layer of a depth
// or mask network. In ONNX Runtime they are products with a single row (ordered_convolution.cpp).
#include <algorithm>

#include "runtime/ordered/channel_scale.h"
#include "runtime/ordered/convolution_kernel.h"
#include "runtime/ordered/ordered_tiles.h"
#include "runtime/ordered/window_gather.h"

namespace quantloupe {
namespace {

/// Vectors run over the output pixels: the kernel for depthwise convolutions takes them as its channels.
class SingleFilterConvolution final : public ConvolutionKernel {
  public:
    explicit SingleFilterConvolution(const ConvolutionSpec& spec)
        : ConvolutionKernel(spec),
          m_perGroup(m_channels / m_groups),
          m_inner(m_perGroup * m_geometry.taps()),
          m_gather(m_geometry, m_channels, m_perGroup) {
        m_weight = repeated(spec.weight->floats());
        if (spec.bias != nullptr) m_bias = repeated(spec.bias->floats());
        if (spec.scale != nullptr) {
            m_factor = repeated(spec.scale->factor);
            m_offset = repeated(spec.scale->offset);
        }
    }
    std::size_t scratchBytes() const override { return (m_inner + 1) * kTogether * sizeof(float); }

    void run(const KernelArguments& arguments) const override {
        const auto* in = static_cast<const float*>(arguments.inputs[0]);
        auto* out = static_cast<float*>(arguments.outputs[0]);
        auto* const left = static_cast<float*>(arguments.scratch);
        float* const results = left + m_inner * kTogether;
        const std::size_t pixels = m_images * m_geometry.outputPixels();
        WindowGather::Walk walk(m_geometry);
        std::vector<const float*> taps(m_inner);
        for (std::size_t k = 0; k < m_inner; ++k) taps[k] = left + k * kTogether;
        DepthwiseArguments row;
        row.taps = taps.data();
        row.pixels = 1;
        row.products = m_inner;
        row.channels = kTogether;
        row.low = m_bounds.low;
        row.high = m_bounds.high;
        row.result = results;
        for (std::size_t first = 0; first < pixels; first += kTogether) {
            const std::size_t count = std::min(kTogether, pixels - first);
            for (std::size_t g = 0; g < m_groups; ++g) {
                m_gather.gather(in + g * m_perGroup, first, count, kTogether, walk, left);
                row.weight = m_weight.data() + g * m_inner * kTogether;
                row.bias = ofGroup(m_bias, g);
                row.factor = ofGroup(m_factor, g);
                row.offset = ofGroup(m_offset, g);
                tiles().depthwise(row);
                for (std::size_t r = 0; r < count; ++r) out[(first + r) * m_filters + g] = results[r];
            }
            finish(out + first * m_filters, count * m_filters);
        }
    }

  private:
    static constexpr std::size_t kTogether = 16;  ///< output pixels

    /// Every value once for each of the output pixels.
    static AlignedVector<float> repeated(std::span<const float> values) {
        AlignedVector<float> all;
        all.reserve(values.size() * kTogether);
        for (const float value : values) all.insert(all.end(), kTogether, value);
        return all;
    }
    static const float* ofGroup(const AlignedVector<float>& values, std::size_t group) {
        return values.empty() ? nullptr : values.data() + group * kTogether;
    }

    std::size_t m_perGroup, m_inner;
    WindowGather m_gather;
};

}  // namespace

std::unique_ptr<Kernel> makeSingleFilterConvolution(const ConvolutionSpec& spec) {
    return std::make_unique<SingleFilterConvolution>(spec);
}

}  // namespace quantloupe
