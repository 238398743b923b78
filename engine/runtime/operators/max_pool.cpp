// SPDX-License-Identifier: Apache-2.0
#include "runtime/operators/max_pool.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "runtime/simd.h"

namespace quantloupe {
namespace {

/// The values of a window along one dimension that are in the input.
struct Reach {
    std::int64_t first = 0, step = 1, count = 0;
};

Reach reachOf(const Window& window, std::size_t d, std::int64_t output, std::int64_t extent) {
    const std::int64_t start = output * window.strides[d] - window.padBegin[d], step = window.dilations[d];
    const std::int64_t before = start < 0 ? (-start + step - 1) / step : 0;
    const std::int64_t within = start < extent ? (extent - 1 - start) / step + 1 : 0;
    return {start + before * step, step, std::min(within, window.kernel[d]) - before};
}

QUANTLOUPE_SIMD void keepLarger(const float* values, float* largest, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) largest[i] = values[i] > largest[i] ? values[i] : largest[i];
}

class MaxPool final : public Kernel {
  public:
    MaxPool(const TensorDesc& input, const Window& window) : m_window(window), m_images(input.dims[0]) {
        m_channels = static_cast<std::size_t>(input.dims[1]);
        m_spatial.assign(input.dims.begin() + 2, input.dims.end());
        // With fewer than three dimensions, leading ones have extent 1.
        const std::size_t missing = 3 - m_spatial.size();
        for (Dims* dims :
             {&m_window.kernel, &m_window.strides, &m_window.dilations, &m_window.output, &m_spatial})
            dims->insert(dims->begin(), missing, 1);
        m_window.padBegin.insert(m_window.padBegin.begin(), missing, 0);
    }

    void run(const KernelArguments& arguments) const override {
        const auto* in = static_cast<const float*>(arguments.inputs[0]);
        auto* out = static_cast<float*>(arguments.outputs[0]);
        const auto image = static_cast<std::size_t>(m_spatial[0] * m_spatial[1] * m_spatial[2]) * m_channels;
        for (std::int64_t n = 0; n < m_images; ++n, in += image)
            for (std::int64_t z = 0; z < m_window.output[0]; ++z)
                for (std::int64_t y = 0; y < m_window.output[1]; ++y)
                    for (std::int64_t x = 0; x < m_window.output[2]; ++x, out += m_channels)
                        findLargest(in, {z, y, x}, out);
    }

  private:
    void findLargest(const float* image, const std::array<std::int64_t, 3>& at, float* out) const {
        std::array<Reach, 3> taps;
        for (std::size_t d = 0; d < 3; ++d) taps[d] = reachOf(m_window, d, at[d], m_spatial[d]);
        bool first = true;
        for (std::int64_t i = 0; i < taps[0].count; ++i)
            for (std::int64_t j = 0; j < taps[1].count; ++j)
                for (std::int64_t k = 0; k < taps[2].count; ++k) {
                    const float* const pixel =
                        image +
                        static_cast<std::size_t>(
                            (position(taps[0], i) * m_spatial[1] + position(taps[1], j)) * m_spatial[2] +
                            position(taps[2], k)) *
                            m_channels;
                    if (std::exchange(first, false))
                        std::copy_n(pixel, m_channels, out);
                    else
                        keepLarger(pixel, out, m_channels);
                }
        if (first) std::fill_n(out, m_channels, std::numeric_limits<float>::lowest());
    }
    static std::int64_t position(const Reach& taps, std::int64_t index) {
        return taps.first + index * taps.step;
    }

    Window m_window;
    Dims m_spatial;
    std::int64_t m_images;
    std::size_t m_channels = 0;
};

}  // namespace

std::unique_ptr<Kernel> makeMaxPool(const TensorDesc& input, const Window& window) {
    return std::make_unique<MaxPool>(input, window);
}

}  // namespace quantloupe
