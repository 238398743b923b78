// SPDX-License-Identifier: Apache-2.0
// The order of operations in ONNX Runtime (MLAS, as of 1.31 on AVX2):
//
// - Softmax: e^(x - largest) as 2^n times a polynomial in r, with fused multiply-adds. The sum runs in 8
//   lanes, which are added in neighboring pairs. The result is multiplied by the reciprocal of the sum.
// - LayerNormalization: the mean in double. The squares of the differences are summed by fused multiply-adds
//   in 8 lanes, and halves of the lanes are added to halves. The result is multiplied by the reciprocal of
//   the deviation, then a fused multiply-add applies scale and bias.
// - erf: a polynomial up to 0.92, and 1 - e^-(a polynomial) above.
// - Means: a window that covers its whole input is summed in 4 lanes in memory order, and halves are added to
//   halves. Other windows (strides of at most 2, two dimensions and more) are summed down the columns first,
//   then along the row, all others one value after the other. Finally, the sum is divided.
//
// Limitations: with AVX-512, ONNX Runtime sums Softmax in 16 lanes; it normalizes rows of fewer than 8 values
// in another way.
#include "runtime/ordered/ordered_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/row_math.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

constexpr float kLowestExponent = -88.3762626647949f;

/// x = n ln 2 + r.
QUANTLOUPE_INLINE float reduced(float x, float* n) {
    *n = std::fma(x, 1.44269504088896341f, kRound) - kRound;
    return std::fma(*n, -1.42860677e-6f, std::fma(*n, -6.93145752e-1f, x));
}
QUANTLOUPE_INLINE float powerOfTwo(float n) {
    return std::bit_cast<float>((static_cast<std::uint32_t>(static_cast<std::int32_t>(n)) + 127u) << 23);
}

QUANTLOUPE_INLINE float softmaxExp(float x) {
    float n;
    const float r = reduced(x < kLowestExponent ? kLowestExponent : x, &n);
    float p = 0x1.694000p-10f;
    p = std::fma(p, r, 0x1.125edcp-7f);
    p = std::fma(p, r, 0x1.555b5ap-5f);
    p = std::fma(p, r, 0x1.555450p-3f);
    p = std::fma(p, r, 0x1.fffff6p-2f);
    p = std::fma(p, r, 1.0f);
    p = std::fma(p, r, 1.0f);
    return p * powerOfTwo(n);
}

QUANTLOUPE_INLINE float erfOf(float given) {
    constexpr float kLargest = 3.925f, kSplit = 0.921875f;
    const float size = std::fabs(given), x = size > kLargest ? kLargest : size;
    const float square = x * x;
    float small = -5.99104969e-4f;
    small = std::fma(small, square, 4.99339588e-3f);
    small = std::fma(small, square, -2.67667342e-2f);
    small = std::fma(small, square, 1.12818025e-1f);
    small = std::fma(small, square, -3.76124859e-1f);
    small = std::fma(small, square, 1.28379151e-1f);
    small = std::fma(small, x, x);
    float big = 1.72948930e-5f;
    big = std::fma(big, x, -3.83208680e-4f);
    big = std::fma(big, x, 3.88393435e-3f);
    big = std::fma(big, x, -2.42545605e-2f);
    big = std::fma(big, x, 1.06777847e-1f);
    big = std::fma(big, x, 6.34846687e-1f);
    big = std::fma(big, x, 1.28717512e-1f);
    big = -std::fma(big, x, x);
    float n;
    const float r = reduced(big < kLowestExponent ? kLowestExponent : big, &n);
    float p = 1.38319808e-3f;
    p = std::fma(p, r, 8.37550033e-3f);
    p = std::fma(p, r, 4.16689515e-2f);
    p = std::fma(p, r, 1.66664466e-1f);
    p = std::fma(p, r, 4.99999851e-1f);
    p = std::fma(p, r, 1.0f);
    p = std::fma(p, r, 1.0f);
    const float value = x > kSplit ? 1.0f - p * powerOfTwo(n) : small;
    return std::copysign(value, given);
}

/// The sums of `Rows` rows in double. Each sum runs over its row one value after the other, so several rows
/// at a time keep the processor busy.
template <std::size_t Rows>
QUANTLOUPE_INLINE void sumRows(const float* in, std::size_t width, double* sums) {
    double sum[Rows] = {};
    for (std::size_t i = 0; i < width; ++i)
#pragma GCC unroll 8
        for (std::size_t r = 0; r < Rows; ++r) sum[r] += static_cast<double>(in[r * width + i]);
    for (std::size_t r = 0; r < Rows; ++r) sums[r] = sum[r];
}

QUANTLOUPE_INLINE float sumOfSquares(const float* in, float mean, std::size_t width) {
    float lanes[8] = {};
    const std::size_t whole = width / 8 * 8;
    for (std::size_t i = 0; i < whole; i += 8)
        for (std::size_t j = 0; j < 8; ++j) {
            const float distance = in[i + j] - mean;
            lanes[j] = std::fma(distance, distance, lanes[j]);
        }
    float sum =
        ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    for (std::size_t i = whole; i < width; ++i) sum = std::fma(in[i] - mean, in[i] - mean, sum);
    return sum;
}

QUANTLOUPE_INLINE void normalize(const float* in, float mean, float factor, const float* scale,
                                 const float* bias, float* out, std::size_t width) {
    if (bias != nullptr)
        for (std::size_t i = 0; i < width; ++i) out[i] = std::fma((in[i] - mean) * factor, scale[i], bias[i]);
    else
        for (std::size_t i = 0; i < width; ++i) out[i] = (in[i] - mean) * factor * scale[i];
}

struct Span {
    std::size_t begin, end, step;
    std::size_t count() const { return end > begin ? (end - begin + step - 1) / step : 0; }
};

/// The inputs that the window of one output covers along one dimension.
Span covered(const Window& window, std::size_t d, std::size_t output, std::size_t extent) {
    const std::int64_t step = window.dilations[d];
    std::int64_t start = static_cast<std::int64_t>(output) * window.strides[d] - window.padBegin[d];
    const std::int64_t end =
        std::min<std::int64_t>(start + (window.kernel[d] - 1) * step + 1, static_cast<std::int64_t>(extent));
    if (start < 0) start += (-start + step - 1) / step * step;
    return {static_cast<std::size_t>(start), static_cast<std::size_t>(std::max<std::int64_t>(end, 0)),
            static_cast<std::size_t>(step)};
}

enum class SumOrder { Lanes, Columns, Plain };

class OrderedAverage final : public Kernel {
  public:
    OrderedAverage(const TensorDesc& input, const Window& window, bool withPadding, bool plain)
        : m_window(window), m_withPadding(withPadding) {
        // With fewer than three dimensions, leading ones have extent 1.
        const std::size_t rank = window.kernel.size();
        Dims spatial(input.dims.begin() + 2, input.dims.end());
        bool covers = true, small = true;
        for (std::size_t d = 0; d < rank; ++d) {
            covers = covers && window.kernel[d] == spatial[d] && window.strides[d] == 1 &&
                     window.padBegin[d] == 0 && window.padEnd[d] == 0;
            small = small && window.kernel[d] <= 32 && window.dilations[d] == 1;
        }
        constexpr std::int64_t kRow = 2045;  // ONNX Runtime does not buffer longer rows
        const bool columns = rank >= 2 && window.strides[rank - 1] <= 2 && small &&
                             spatial[rank - 1] + window.padBegin[rank - 1] + window.padEnd[rank - 1] <= kRow;
        m_order = plain     ? SumOrder::Plain
                  : covers  ? SumOrder::Lanes
                  : columns ? SumOrder::Columns
                            : SumOrder::Plain;
        for (Dims* dims :
             {&m_window.kernel, &m_window.strides, &m_window.dilations, &m_window.output, &spatial})
            dims->insert(dims->begin(), 3 - rank, 1);
        for (Dims* dims : {&m_window.padBegin, &m_window.declaredEnd})
            dims->insert(dims->begin(), 3 - rank, 0);
        for (std::size_t d = 0; d < 3; ++d) m_extents[d] = static_cast<std::size_t>(spatial[d]);
        m_images = static_cast<std::size_t>(input.dims[0]);
        m_channels = static_cast<std::size_t>(input.dims[1]);
    }
    std::size_t scratchBytes() const override { return 4 * m_channels * sizeof(float); }

    void run(const KernelArguments& arguments) const override {
        const std::size_t pixels = m_extents[0] * m_extents[1] * m_extents[2];
        const auto* in = static_cast<const float*>(arguments.inputs[0]);
        auto* out = static_cast<float*>(arguments.outputs[0]);
        auto* scratch = static_cast<float*>(arguments.scratch);
        const auto count = [&](std::size_t d) { return static_cast<std::size_t>(m_window.output[d]); };
        for (std::size_t n = 0; n < m_images; ++n, in += pixels * m_channels)
            for (std::size_t z = 0; z < count(0); ++z)
                for (std::size_t y = 0; y < count(1); ++y)
                    for (std::size_t x = 0; x < count(2); ++x, out += m_channels) {
                        const Span spans[3] = {covered(m_window, 0, z, m_extents[0]),
                                               covered(m_window, 1, y, m_extents[1]),
                                               covered(m_window, 2, x, m_extents[2])};
                        std::size_t divisor = 1;
                        const std::size_t at[3] = {z, y, x};
                        for (std::size_t d = 0; d < 3; ++d)
                            divisor *= m_withPadding ? withPadding(d, at[d]) : spans[d].count();
                        if (m_order == SumOrder::Lanes)
                            sumLanes(in, pixels, scratch, out);
                        else if (m_order == SumOrder::Columns)
                            sumColumns(in, spans, scratch, out);
                        else
                            sumPlain(in, spans, out);
                        // A window entirely in the padding: 0.
                        const float by = static_cast<float>(std::max<std::size_t>(divisor, 1));
                        for (std::size_t c = 0; c < m_channels; ++c) out[c] /= by;
                    }
    }

  private:
    /// The cells of the window of one output that are input or declared padding.
    std::size_t withPadding(std::size_t d, std::size_t output) const {
        const std::int64_t start =
                               static_cast<std::int64_t>(output) * m_window.strides[d] - m_window.padBegin[d],
                           end = static_cast<std::int64_t>(m_extents[d]) + m_window.declaredEnd[d],
                           step = m_window.dilations[d];
        return static_cast<std::size_t>(
            std::clamp<std::int64_t>((end - start + step - 1) / step, 0, m_window.kernel[d]));
    }
    void add(const float* values, float* sums) const {
        for (std::size_t c = 0; c < m_channels; ++c) sums[c] += values[c];
    }
    const float* pixel(const float* in, std::size_t z, std::size_t y, std::size_t x) const {
        return in + ((z * m_extents[1] + y) * m_extents[2] + x) * m_channels;
    }

    void sumLanes(const float* in, std::size_t pixels, float* lanes, float* out) const {
        std::fill_n(lanes, 4 * m_channels, 0.0f);
        const std::size_t whole = pixels / 4 * 4;
        for (std::size_t i = 0; i < whole; ++i) add(in + i * m_channels, lanes + i % 4 * m_channels);
        for (std::size_t c = 0; c < m_channels; ++c)
            out[c] =
                (lanes[c] + lanes[c + 2 * m_channels]) + (lanes[c + m_channels] + lanes[c + 3 * m_channels]);
        for (std::size_t i = whole; i < pixels; ++i) add(in + i * m_channels, out);
    }
    void sumColumns(const float* in, const Span* spans, float* column, float* out) const {
        std::fill_n(out, m_channels, 0.0f);
        for (std::size_t x = spans[2].begin; x < spans[2].end; ++x) {
            std::fill_n(column, m_channels, 0.0f);
            for (std::size_t z = spans[0].begin; z < spans[0].end; ++z)
                for (std::size_t y = spans[1].begin; y < spans[1].end; ++y) add(pixel(in, z, y, x), column);
            add(column, out);
        }
    }
    void sumPlain(const float* in, const Span* spans, float* out) const {
        std::fill_n(out, m_channels, 0.0f);
        for (std::size_t z = spans[0].begin; z < spans[0].end; z += spans[0].step)
            for (std::size_t y = spans[1].begin; y < spans[1].end; y += spans[1].step)
                for (std::size_t x = spans[2].begin; x < spans[2].end; x += spans[2].step)
                    add(pixel(in, z, y, x), out);
    }

    Window m_window;
    bool m_withPadding;
    SumOrder m_order;
    std::size_t m_extents[3] = {1, 1, 1}, m_images = 0, m_channels = 0;
};

}  // namespace

QUANTLOUPE_SIMD void orderedSoftmax(const float* in, float* out, std::size_t width) {
    const float top = largestOf(in, width, std::numeric_limits<float>::lowest());
    for (std::size_t i = 0; i < width; ++i) out[i] = softmaxExp(in[i] - top);
    float lanes[8] = {};
    const std::size_t whole = width / 8 * 8;
    for (std::size_t i = 0; i < whole; i += 8)
        for (std::size_t j = 0; j < 8; ++j) lanes[j] += out[i + j];
    for (std::size_t i = whole; i < width; ++i) lanes[i - whole] += out[i];
    const float sum =
        ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    const float factor = 1.0f / sum;
    for (std::size_t i = 0; i < width; ++i) out[i] *= factor;
}

QUANTLOUPE_SIMD void orderedLayerNorm(const float* in, const float* scale, const float* bias, float epsilon,
                                      float* out, std::size_t rows, std::size_t width) {
    constexpr std::size_t kTogether = 8;
    double sums[kTogether];
    for (std::size_t row = 0; row < rows; ++row, in += width, out += width) {
        const std::size_t at = row % kTogether;
        if (rows - row + at < kTogether)
            sumRows<1>(in, width, sums + at);
        else if (at == 0)
            sumRows<kTogether>(in, width, sums);
        const auto mean = static_cast<float>(sums[at] / static_cast<double>(width));
        const float variance = sumOfSquares(in, mean, width) / static_cast<float>(width);
        normalize(in, mean, 1.0f / std::sqrt(variance + epsilon), scale, bias, out, width);
    }
}

QUANTLOUPE_SIMD void orderedErf(const float* in, float* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out[i] = erfOf(in[i]);
}

std::unique_ptr<Kernel> makeOrderedAverage(const TensorDesc& input, const Window& window, bool withPadding,
                                           bool plain) {
    return std::make_unique<OrderedAverage>(input, window, withPadding, plain);
}

}  // namespace quantloupe
