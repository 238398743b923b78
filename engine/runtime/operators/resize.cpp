// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: one dimension after the other, each output index a weighted sum of input indices. (All
// of ONNX's modes are products of one-dimensional ones.) Linear interpolation in images is done in one
// step (bilinear.h).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/memory_limit.h"
#include "runtime/operators/bilinear.h"
#include "runtime/operators/operators.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

struct Axis {
    std::size_t outer = 1, from = 1, to = 1, inner = 1;
    std::vector<std::size_t> first;                   ///< for each output index: the index of its first tap
    std::vector<std::pair<std::size_t, float>> taps;  ///< input index and weight
    std::vector<bool> beyond;  ///< whether an output index gets the extrapolation value; empty: none does
    float extrapolated = 0;
};

struct Mode {
    std::string kind, coordinates, nearest;
    double cubic = -0.75;
    bool excludeOutside = false, antialias = false;
    float extrapolated = 0;

    bool crops() const { return coordinates == "tf_crop_and_resize"; }
    bool isPlainLinear() const { return kind == "linear" && !antialias && !excludeOutside && !crops(); }
};

/// The part of an axis that tf_crop_and_resize reads, as fractions of its length.
struct CropRegion {
    double start = 0, end = 1;
};

/// Up to opset 10, there is no nearest_mode; ONNX Runtime then rounds up if the image shrinks.
constexpr const char* kSimple = "simple";

/// T is float for nearest pixels and for linear interpolation in images, as in ONNX Runtime: many coordinates
/// are close to the middle between two pixels.
template <typename T>
T sourceCoordinate(const std::string& mode, T x, T scale, T from, T to) {
    const T half = 0.5;
    if (mode == "half_pixel") return (x + half) / scale - half;
    if (mode == "pytorch_half_pixel") return to > 1 ? (x + half) / scale - half : 0;
    if (mode == "half_pixel_symmetric") {
        const T adjustment = to / (scale * from), center = from / 2;
        return center * (1 - adjustment) + ((x + half) / scale - half);
    }
    if (mode == "align_corners") return to == 1 ? 0 : x * (from - 1) / (to - 1);
    if (mode == "asymmetric") return x / scale;
    if (mode == "tf_half_pixel_for_nn") return (x + half) / scale;
    fail(ErrorKind::Unsupported, "the coordinate transformation '{}' is not supported", mode);
}

float roundNearest(const std::string& mode, float x, float scale) {
    if (mode == kSimple) return scale < 1 ? std::ceil(x) : std::floor(x);
    const bool middle = x == std::floor(x) + 0.5f;
    if (mode == "round_prefer_floor") return middle ? std::floor(x) : std::round(x);
    if (mode == "round_prefer_ceil") return middle ? std::ceil(x) : std::round(x);
    if (mode == "floor") return std::floor(x);
    if (mode == "ceil") return std::ceil(x);
    failInput("the nearest_mode '{}' is unknown", mode);
}

double filterValue(const Mode& mode, double x) {
    x = std::abs(x);
    if (mode.kind == "linear") return std::max(0.0, 1 - x);
    const double a = mode.cubic;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// The coordinate of an output index for tf_crop_and_resize.
template <typename T>
T croppedCoordinate(const CropRegion& region, T x, T from, T to) {
    const auto start = static_cast<T>(region.start), end = static_cast<T>(region.end);
    return to > 1 ? start * (from - 1) + x * (end - start) * (from - 1) / (to - 1)
                  : (start + end) * (from - 1) / 2;
}

void findTaps(Axis& axis, const Mode& mode, double scale, const CropRegion& region) {
    const auto coordinateOf = [&]<typename T>(std::size_t i, T factor) {
        const auto x = static_cast<T>(i), from = static_cast<T>(axis.from), to = static_cast<T>(axis.to);
        return mode.crops() ? croppedCoordinate(region, x, from, to)
                            : sourceCoordinate(mode.coordinates, x, factor, from, to);
    };
    const auto last = static_cast<std::int64_t>(axis.from) - 1;
    // The filter widens when the image shrinks.
    const double stretch = mode.antialias && scale < 1 ? scale : 1.0;
    const double reach = (mode.kind == "linear" ? 1 : 2) / stretch;
    requireMemory(axis.to * (sizeof axis.first[0] + sizeof axis.taps[0]));
    for (std::size_t i = 0; i < axis.to; ++i) {
        axis.first.push_back(axis.taps.size());
        if (mode.crops()) {
            const float x = coordinateOf(i, static_cast<float>(scale));  // as in ONNX Runtime
            axis.beyond.push_back(!(x >= 0 && x <= static_cast<float>(last)));
            if (axis.beyond.back()) continue;
        }
        if (mode.kind == "nearest") {
            const auto factor = static_cast<float>(scale);
            const float x = coordinateOf(i, factor);
            const auto at = std::clamp(static_cast<std::int64_t>(roundNearest(mode.nearest, x, factor)),
                                       std::int64_t{0}, last);
            axis.taps.emplace_back(static_cast<std::size_t>(at), 1.0f);
            continue;
        }
        const double x = coordinateOf(i, scale);
        std::vector<std::pair<std::int64_t, double>> found;
        double sum = 0;
        for (auto k = static_cast<std::int64_t>(std::floor(x - reach));
             k <= static_cast<std::int64_t>(std::ceil(x + reach)); ++k) {
            const bool outside = k < 0 || k > last;
            const double weight = filterValue(mode, (static_cast<double>(k) - x) * stretch);
            if (weight == 0 || (outside && mode.excludeOutside)) continue;
            found.emplace_back(std::clamp<std::int64_t>(k, 0, last), weight);
            sum += weight;
        }
        for (const auto& [at, weight] : found)
            axis.taps.emplace_back(static_cast<std::size_t>(at), static_cast<float>(weight / sum));
    }
    axis.first.push_back(axis.taps.size());
}

QUANTLOUPE_SIMD void resample(const Axis& axis, const float* in, float* out) {
    for (std::size_t o = 0; o < axis.outer; ++o, in += axis.from * axis.inner)
        for (std::size_t i = 0; i < axis.to; ++i, out += axis.inner) {
            if (!axis.beyond.empty() && axis.beyond[i]) {
                std::fill_n(out, axis.inner, axis.extrapolated);
                continue;
            }
            for (std::size_t t = axis.first[i]; t < axis.first[i + 1]; ++t) {
                const float* row = in + axis.taps[t].first * axis.inner;
                const float weight = axis.taps[t].second;
                if (t == axis.first[i])
                    for (std::size_t k = 0; k < axis.inner; ++k) out[k] = row[k] * weight;
                else
                    for (std::size_t k = 0; k < axis.inner; ++k) out[k] += row[k] * weight;
            }
        }
}

class ResizeKernel final : public Kernel {
  public:
    ResizeKernel(std::vector<Axis> axes, std::size_t largest) : m_axes(std::move(axes)), m_largest(largest) {}
    std::size_t scratchBytes() const override {
        return m_axes.size() < 2 ? 0 : 2 * m_largest * sizeof(float);
    }
    void run(const KernelArguments& a) const override {
        auto* scratch = static_cast<float*>(a.scratch);
        const auto* from = static_cast<const float*>(a.inputs[0]);
        for (std::size_t i = 0; i < m_axes.size(); ++i) {
            float* to =
                i + 1 == m_axes.size() ? static_cast<float*>(a.outputs[0]) : scratch + (i % 2) * m_largest;
            resample(m_axes[i], from, to);
            from = to;
        }
    }

  private:
    std::vector<Axis> m_axes;
    std::size_t m_largest;
};

/// The nearest elements of any type.
class PickKernel final : public Kernel {
  public:
    PickKernel(std::vector<Axis> axes, std::size_t largest, std::size_t elementSize)
        : m_axes(std::move(axes)), m_largest(largest * elementSize), m_elementSize(elementSize) {}
    std::size_t scratchBytes() const override { return m_axes.size() < 2 ? 0 : 2 * m_largest; }
    void run(const KernelArguments& a) const override {
        auto* scratch = static_cast<std::byte*>(a.scratch);
        const auto* from = static_cast<const std::byte*>(a.inputs[0]);
        for (std::size_t i = 0; i < m_axes.size(); ++i) {
            std::byte* to = i + 1 == m_axes.size() ? static_cast<std::byte*>(a.outputs[0])
                                                   : scratch + (i % 2) * m_largest;
            pick(m_axes[i], from, to);
            from = to;
        }
    }

  private:
    void pick(const Axis& axis, const std::byte* in, std::byte* out) const {
        const std::size_t row = axis.inner * m_elementSize;
        for (std::size_t o = 0; o < axis.outer; ++o, in += axis.from * row)
            for (std::size_t i = 0; i < axis.to; ++i, out += row)
                std::memcpy(out, in + axis.taps[i].first * row, row);
    }

    std::vector<Axis> m_axes;
    std::size_t m_largest, m_elementSize;
};

struct Target {
    Dims dims;
    std::vector<double> scales;
    std::vector<CropRegion> regions;
};

/// Sets the same scale for all axes: the largest that makes no size larger than given, or the smallest that
/// makes none smaller.
void keepAspectRatio(Target& target, const Dims& from, const std::vector<std::size_t>& axes,
                     const std::string& policy) {
    if (policy != "not_larger" && policy != "not_smaller")
        failInput("Resize has no keep_aspect_ratio_policy '{}'", policy);
    std::vector<double> scales;
    for (const std::size_t d : axes) scales.push_back(target.scales[d]);
    if (scales.empty()) return;
    const double scale = policy == "not_larger" ? std::ranges::min(scales) : std::ranges::max(scales);
    for (const std::size_t d : axes) {
        const double extent = std::round(scale * static_cast<double>(from[d]));
        if (!(extent < 1e9)) failInput("Resize to {} is not possible", extent);
        target.scales[d] = scale;
        target.dims[d] = static_cast<std::int64_t>(extent);
    }
}

/// Upsample has its scales as an attribute in opset 7.
std::vector<double> scalesOf(const NodeContext& context, std::size_t input) {
    if (!context.has(input)) {
        if (const std::vector<float> scales = context.node.attributes.reals("scales"); !scales.empty())
            return {scales.begin(), scales.end()};
        failInput("{} needs scales", context.node.op);
    }
    return context.needConstant(input, "Resize's scales").toDoubles();
}

Target targetOf(const NodeContext& context, bool crops) {
    const Dims& dims = context.input(0).dims;
    const std::size_t scaleInput = context.node.op == "Upsample" || context.opset() < 11 ? 1 : 2;
    const auto given = [&](std::size_t i) { return context.has(i) && context.input(i).count() > 0; };
    std::vector<std::size_t> axes;
    for (const std::int64_t axis : context.node.attributes.integers("axes"))
        axes.push_back(normalizedAxis(axis, dims.size()));
    if (axes.empty())
        for (std::size_t d = 0; d < dims.size(); ++d) axes.push_back(d);
    Target target{dims, std::vector<double>(dims.size(), 1.0), std::vector<CropRegion>(dims.size())};
    if (crops && scaleInput == 2 && given(1)) {
        const std::vector<double> region = context.needConstant(1, "Resize's region").toDoubles();
        if (region.size() != 2 * axes.size())
            failInput("Resize's region has {} values for {} dimensions", region.size(), axes.size());
        for (std::size_t i = 0; i < axes.size(); ++i)
            target.regions[axes[i]] = {region[i], region[axes.size() + i]};
    }
    if (scaleInput == 2 && given(3)) {
        const Dims sizes = context.needConstant(3, "Resize's sizes").toInt64s();
        if (sizes.size() != axes.size())
            failInput("Resize has {} sizes for {} dimensions", sizes.size(), axes.size());
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const std::size_t d = axes[i];
            target.dims[d] = sizes[i];
            target.scales[d] = static_cast<double>(sizes[i]) / static_cast<double>(dims[d]);
        }
        const std::string policy = context.node.attributes.text("keep_aspect_ratio_policy", "stretch");
        if (policy != "stretch") keepAspectRatio(target, dims, axes, policy);
        return target;
    }
    const std::vector<double> scales = scalesOf(context, scaleInput);
    if (scales.size() != axes.size())
        failInput("Resize has {} scales for {} dimensions", scales.size(), axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t d = axes[i];
        if (!(scales[i] > 0)) failInput("Resize's scale {} is not positive", scales[i]);
        if (static_cast<double>(dims[d]) * scales[i] > 1e9)
            failInput("Resize's scale {} is too large", scales[i]);
        target.scales[d] = scales[i];
        // In float32, as in ONNX Runtime: 10 times 0.7 is 7.
        target.dims[d] =
            static_cast<std::int64_t>(static_cast<float>(dims[d]) * static_cast<float>(scales[i]));
    }
    return target;
}

/// Returns the position of the rows in the memory order if only rows and columns are resized: two successive
/// axes, or one of the last two dimensions. `resized`: positions of the resized axes, ascending.
std::optional<std::size_t> rowsOf(const std::vector<std::size_t>& resized,
                                  const std::vector<std::size_t>& order) {
    if (resized.size() == 2 && resized[1] == resized[0] + 1) return resized[0];
    if (resized.size() != 1 || order.size() < 3) return std::nullopt;  // the rows must not be samples
    const auto positionOf = [&](std::size_t dimension) {
        return static_cast<std::size_t>(std::ranges::find(order, dimension) - order.begin());
    };
    const std::size_t rows = positionOf(order.size() - 2), columns = positionOf(order.size() - 1);
    const bool plane = columns == rows + 1 && (resized[0] == rows || resized[0] == columns);
    return plane ? std::optional(rows) : std::nullopt;
}

/// `rows`: see rowsOf().
std::unique_ptr<Kernel> makeBilinear(const TensorDesc& input, const Target& target,
                                     const std::string& coordinates, std::size_t rows) {
    const auto order = input.memoryOrder();
    const auto axisAt = [&](std::size_t position) {
        const std::size_t d = order[position];
        BilinearAxis axis{static_cast<std::size_t>(input.dims[d]), {}};
        const auto scale = static_cast<float>(target.scales[d]), from = static_cast<float>(input.dims[d]),
                   to = static_cast<float>(target.dims[d]);
        requireMemory(static_cast<std::size_t>(target.dims[d]) * sizeof(float));
        for (std::int64_t i = 0; i < target.dims[d]; ++i) {
            const auto x = static_cast<float>(i);
            axis.coordinates.push_back(scale == 1 ? x : sourceCoordinate(coordinates, x, scale, from, to));
        }
        return axis;
    };
    std::size_t outer = 1, inner = 1;
    for (std::size_t k = 0; k < order.size(); ++k)
        if (k < rows || k > rows + 1)
            (k < rows ? outer : inner) *= static_cast<std::size_t>(input.dims[order[k]]);
    return makeBilinearKernel(axisAt(rows), axisAt(rows + 1), outer, inner);
}

/// `resized`: positions of the resized axes in the memory order.
std::unique_ptr<Kernel> makeResize(const TensorDesc& input, const Target& target, const Mode& mode,
                                   const std::vector<std::size_t>& resized) {
    const auto order = input.memoryOrder();
    TensorDesc output = input;
    std::vector<Axis> axes;
    std::size_t largest = 0;
    for (const std::size_t k : resized) {
        const std::size_t d = order[k];
        Axis axis;
        for (std::size_t j = 0; j < order.size(); ++j)
            if (j != k) (j < k ? axis.outer : axis.inner) *= static_cast<std::size_t>(output.dims[order[j]]);
        axis.from = static_cast<std::size_t>(input.dims[d]);
        axis.to = static_cast<std::size_t>(target.dims[d]);
        axis.extrapolated = mode.extrapolated;
        findTaps(axis, mode, target.scales[d], target.regions[d]);
        axes.push_back(std::move(axis));
        output.dims[d] = target.dims[d];
        largest = std::max(largest, output.count());
    }
    if (input.type != DataType::Float32)
        return std::make_unique<PickKernel>(std::move(axes), largest, elementSize(input.type));
    return std::make_unique<ResizeKernel>(std::move(axes), largest);
}

CompiledNode compileResize(const NodeContext& context) {
    const TensorDesc& input = context.input(0);
    const Attributes& attributes = context.node.attributes;
    const bool old = context.node.op == "Upsample" || context.opset() < 11;
    Mode mode{attributes.text("mode", "nearest"),
              attributes.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
              old ? kSimple : attributes.text("nearest_mode", "round_prefer_floor"),
              attributes.real("cubic_coeff_a", -0.75f),
              attributes.integer("exclude_outside", 0) != 0,
              attributes.integer("antialias", 0) != 0,
              attributes.real("extrapolation_value", 0)};
    if (mode.kind != "nearest" && mode.kind != "linear" && mode.kind != "cubic")
        failInput("Resize's mode '{}' is unknown", mode.kind);
    if (mode.kind != "nearest" || mode.crops() || elementSize(input.type) == 0) requireFloat(context, 0);
    const Target target = targetOf(context, mode.crops());
    if (target.dims == input.dims) return {{input}, nullptr};  // as in ONNX Runtime, whatever the scales are
    TensorDesc output = input;
    std::vector<std::size_t> resized;  // positions in the memory order
    const auto order = input.memoryOrder();
    for (std::size_t k = 0; k < order.size(); ++k) {
        const std::size_t d = order[k];
        // As in ONNX Runtime, an axis that keeps its size is not cropped.
        if (target.dims[d] == input.dims[d] && target.scales[d] == 1.0) continue;
        if (target.dims[d] < 1 || input.dims[d] < 1 || target.dims[d] > (std::int64_t{1} << 31))
            failInput("Resize to {} is not possible", toString(target.dims));
        output.dims[d] = target.dims[d];
        resized.push_back(k);
    }
    if (resized.empty()) return {{output}, nullptr};
    const auto rows = mode.isPlainLinear() ? rowsOf(resized, order) : std::nullopt;
    return {{output},
            rows ? makeBilinear(input, target, mode.coordinates, *rows)
                 : makeResize(input, target, mode, resized)};
}

}  // namespace

std::vector<double> resizeScales(const NodeContext& context) { return targetOf(context, false).scales; }

void addResizes(OperatorTable& table) {
    table["Resize"] = {compileResize, LayoutPolicy::Any};
    table["Upsample"] = {compileResize, LayoutPolicy::Any};
}

}  // namespace quantloupe
