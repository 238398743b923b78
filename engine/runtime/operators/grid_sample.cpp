// SPDX-License-Identifier: Apache-2.0
// GridSample on images and volumes: values at positions given as data, by nearest neighbor, linear or cubic
// interpolation.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/memory_limit.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

enum class Interpolation { Nearest, Linear, Cubic };
enum class Outside { Zeros, Border, Reflection };

/// One axis of the image.
struct Axis {
    std::int64_t extent;
    bool alignCorners;
    Outside outside;

    float low() const { return alignCorners ? 0.0f : -0.5f; }
    float high() const { return static_cast<float>(extent) - (alignCorners ? 1.0f : 0.5f); }
    /// -1 and 1 are the centers of the corner pixels, or their outer edges.
    float place(float grid) const {
        const auto length = static_cast<float>(extent);
        return alignCorners ? (grid + 1) / 2 * (length - 1) : ((grid + 1) * length - 1) / 2;
    }
    float reflected(float x) const {
        const float range = high() - low();
        if (!(range > 0)) return low();
        float beyond = x < low() ? low() - x : x > high() ? x - high() : 0;
        if (beyond == 0) return x;
        const auto turns = static_cast<std::int64_t>(beyond / range);
        beyond -= static_cast<float>(turns) * range;
        const bool fromLow = (x < low()) == (turns % 2 == 0);
        return fromLow ? low() + beyond : high() - beyond;
    }
    /// The position of a grid value after applying the padding mode. The taps of cubic interpolation are
    /// moved one by one instead (pixel()), as in PyTorch and ONNX Runtime.
    float position(float grid, Interpolation how) const {
        constexpr float kFar = 1e9f;  // farther positions, also NaN, would not fit into an index
        // Nearest neighbors are rounded before they are reflected, as in ONNX Runtime, not after as in
        // PyTorch.
        const float x = how == Interpolation::Nearest ? std::nearbyint(place(grid)) : place(grid);
        if (!(std::fabs(x) < kFar)) return x > 0 ? kFar : -kFar;
        if (how == Interpolation::Cubic || (x >= low() && x <= high())) return x;
        return outside == Outside::Border       ? std::clamp(x, 0.0f, static_cast<float>(extent - 1))
               : outside == Outside::Reflection ? reflected(x)
                                                : x;
    }
    /// The pixel of an index that may be outside; -1: none, counts as zero.
    std::int64_t pixel(std::int64_t i) const {
        if (i >= 0 && i < extent) return i;
        if (outside == Outside::Zeros) return -1;
        if (outside == Outside::Border) return std::clamp<std::int64_t>(i, 0, extent - 1);
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(reflected(static_cast<float>(i))), 0,
                                        extent - 1);
    }
};

/// First index and weights of the neighbors along an axis.
struct Taps {
    std::int64_t first;
    int count;
    float weights[4];
};

Taps tapsAt(float x, Interpolation how) {
    if (how == Interpolation::Nearest) return {static_cast<std::int64_t>(std::nearbyint(x)), 1, {1}};
    const float floor = std::floor(x), t = x - floor;
    const auto at = static_cast<std::int64_t>(floor);
    if (how == Interpolation::Linear) return {at, 2, {1 - t, t}};
    constexpr float kSharpness = -0.75f;
    const auto near = [](float d) { return ((kSharpness + 2) * d - (kSharpness + 3)) * d * d + 1; };
    const auto far = [](float d) {
        return ((kSharpness * d - 5 * kSharpness) * d + 8 * kSharpness) * d - 4 * kSharpness;
    };
    return {at - 1, 4, {far(t + 1), near(t), near(1 - t), far(2 - t)}};
}

Interpolation interpolationOf(const std::string& mode) {
    if (mode == "nearest") return Interpolation::Nearest;
    if (mode == "bilinear" || mode == "linear") return Interpolation::Linear;
    if (mode == "bicubic" || mode == "cubic") return Interpolation::Cubic;
    failInput("GridSample has no mode '{}'", mode);
}

Outside outsideOf(const std::string& padding) {
    if (padding == "zeros") return Outside::Zeros;
    if (padding == "border") return Outside::Border;
    if (padding == "reflection") return Outside::Reflection;
    failInput("GridSample has no padding_mode '{}'", padding);
}

CompiledNode compileGridSample(const NodeContext& context) {
    requireFloat(context, 0);
    requireFloat(context, 1);
    const Dims& data = context.input(0).dims;
    const Dims& grid = context.input(1).dims;
    if (data.size() != 4 && data.size() != 5)
        fail(ErrorKind::Unsupported, "GridSample of {} is not supported, only of images and volumes",
             toString(data));
    const bool volume = data.size() == 5;
    if (grid.size() != data.size() || grid[0] != data[0] || grid.back() != (volume ? 3 : 2))
        failInput("GridSample's grid {} does not fit {}", toString(grid), toString(data));
    const Dims extents(data.begin() + 2, data.end());
    if (std::ranges::any_of(extents, [](std::int64_t extent) { return extent < 1; }))
        failInput("GridSample cannot sample empty images ({})", toString(data));
    const Attributes& attributes = context.node.attributes;
    const Interpolation how = interpolationOf(attributes.text("mode", "bilinear"));
    const Outside outside = outsideOf(attributes.text("padding_mode", "zeros"));
    const bool align = attributes.integer("align_corners", 0) != 0;
    if (volume && how == Interpolation::Cubic)
        fail(ErrorKind::Unsupported, "cubic GridSample of volumes is not supported");
    // An image is a volume with one slice.
    const Axis slices{volume ? data[2] : 1, align, outside},
        rows{extents[extents.size() - 2], align, outside}, columns{extents.back(), align, outside};
    const Dims placeDims(grid.begin() + 1, grid.end() - 1);
    const auto places = static_cast<std::size_t>(elementCount(placeDims));
    const auto samples = static_cast<std::size_t>(data[0]), channels = static_cast<std::size_t>(data[1]);
    const auto image = static_cast<std::size_t>(elementCount(extents));
    TensorDesc output{DataType::Float32, {data[0], data[1]}, Layout::Plain};
    output.dims.insert(output.dims.end(), placeDims.begin(), placeDims.end());
    return {{output}, makeKernel([=](const KernelArguments& a) {
                const auto* at = static_cast<const float*>(a.inputs[1]);
                for (std::size_t s = 0; s < samples; ++s)
                    for (std::size_t p = 0; p < places; ++p, at += volume ? 3 : 2) {
                        const Taps x = tapsAt(columns.position(at[0], how), how),
                                   y = tapsAt(rows.position(at[1], how), how),
                                   z = volume ? tapsAt(slices.position(at[2], how), how) : Taps{0, 1, {1}};
                        for (std::size_t c = 0; c < channels; ++c) {
                            const float* in =
                                static_cast<const float*>(a.inputs[0]) + (s * channels + c) * image;
                            float sum = 0;
                            const auto add = [&](int k, int i, int j) {
                                const std::int64_t slice = slices.pixel(z.first + k),
                                                   row = rows.pixel(y.first + i),
                                                   column = columns.pixel(x.first + j);
                                if (slice >= 0 && row >= 0 && column >= 0)
                                    sum += z.weights[k] * y.weights[i] * x.weights[j] *
                                           in[(slice * rows.extent + row) * columns.extent + column];
                            };
                            for (int k = 0; k < z.count; ++k)
                                for (int i = 0; i < y.count; ++i)
                                    for (int j = 0; j < x.count; ++j) add(k, i, j);
                            static_cast<float*>(a.outputs[0])[(s * channels + c) * places + p] = sum;
                        }
                    }
            })};
}

/// The grid of an affine transformation: one point for each pixel, in coordinates from -1 to 1.
CompiledNode compileAffineGrid(const NodeContext& context) {
    requireFloat(context, 0);
    const Dims& theta = context.input(0).dims;
    const Dims size = context.needConstant(1, "the size of an AffineGrid").toInt64s();
    const std::size_t rank = size.size() < 2 ? 0 : size.size() - 2;  // spatial dimensions
    const auto extent = static_cast<std::int64_t>(rank);
    if ((rank != 2 && rank != 3) || theta != Dims{size[0], extent, extent + 1})
        failInput("AffineGrid of size {} needs transformations of {}×2×3 or {}×3×4, not {}", toString(size),
                  size.empty() ? 0 : size[0], size.empty() ? 0 : size[0], toString(theta));
    TensorDesc output{DataType::Float32, {size[0]}, Layout::Plain};
    output.dims.insert(output.dims.end(), size.begin() + 2, size.end());
    output.dims.push_back(extent);
    const std::size_t points = static_cast<std::size_t>(elementCount({size.begin() + 2, size.end()}));
    // The coordinates of the pixels in each dimension, x first.
    const bool align = context.node.attributes.integer("align_corners", 0) != 0;
    std::vector<std::vector<float>> coordinates;
    for (std::size_t d = rank; d-- > 0;) {
        const auto count = static_cast<double>(size[d + 2]);
        requireMemory(static_cast<std::size_t>(size[d + 2]) * sizeof(float));
        std::vector<float>& values = coordinates.emplace_back();
        for (std::int64_t i = 0; i < size[d + 2]; ++i) {
            const auto at = static_cast<double>(i);
            values.push_back(static_cast<float>(align ? (count > 1 ? 2 * at / (count - 1) - 1 : 0)
                                                      : (2 * at + 1) / count - 1));
        }
    }
    return {{output}, makeKernel([=, samples = static_cast<std::size_t>(size[0])](const KernelArguments& a) {
                const auto* matrix = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                for (std::size_t s = 0; s < samples; ++s, matrix += rank * (rank + 1))
                    for (std::size_t point = 0; point < points; ++point) {
                        float from[3];
                        std::size_t rest = point;
                        for (std::size_t d = 0; d < rank; ++d) {
                            from[d] = coordinates[d][rest % coordinates[d].size()];
                            rest /= coordinates[d].size();
                        }
                        for (std::size_t row = 0; row < rank; ++row) {
                            const float* const factors = matrix + row * (rank + 1);
                            float sum = factors[rank];
                            for (std::size_t d = 0; d < rank; ++d) sum += factors[d] * from[d];
                            *out++ = sum;
                        }
                    }
            })};
}

}  // namespace

void addGridSamples(OperatorTable& table) {
    table["AffineGrid"] = {compileAffineGrid};
    table["GridSample"] = {compileGridSample};
}

}  // namespace quantloupe
