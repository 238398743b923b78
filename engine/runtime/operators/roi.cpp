// SPDX-License-Identifier: Apache-2.0
// RoiAlign: samples regions of a feature map to a fixed size by bilinear interpolation. Source: ONNX's
// definition (opset 10 and 16) of K. He et al., Mask R-CNN, 2017.
#include <cmath>

#include "base/error.h"
#include "runtime/operators/operators.h"

namespace quantloupe {
namespace {

struct RoiAlign {
    std::size_t channels, height, width, outputHeight, outputWidth;
    std::int64_t sampling;
    float scale, offset;
    bool average, atLeastOnePixel;

    /// One channel of one region; `map` is its feature map.
    void run(const float* map, const float* roi, float* out) const {
        const float left = roi[0] * scale - offset, top = roi[1] * scale - offset;
        float roiWidth = roi[2] * scale - offset - left, roiHeight = roi[3] * scale - offset - top;
        if (atLeastOnePixel) {
            roiWidth = std::max(roiWidth, 1.0f);
            roiHeight = std::max(roiHeight, 1.0f);
        }
        const float binHeight = roiHeight / static_cast<float>(outputHeight),
                    binWidth = roiWidth / static_cast<float>(outputWidth);
        const auto samples = [&](float extent, std::size_t bins) {
            return sampling > 0 ? sampling
                                : static_cast<std::int64_t>(std::ceil(extent / static_cast<float>(bins)));
        };
        const std::int64_t rows = samples(roiHeight, outputHeight), columns = samples(roiWidth, outputWidth);
        for (std::size_t y = 0; y < outputHeight; ++y)
            for (std::size_t x = 0; x < outputWidth; ++x) {
                float sum = 0, top4 = 0;
                for (std::int64_t r = 0; r < rows; ++r)
                    for (std::int64_t c = 0; c < columns; ++c) {
                        const float atY =
                            top + static_cast<float>(y) * binHeight +
                            (static_cast<float>(r) + 0.5f) * binHeight / static_cast<float>(rows);
                        const float atX =
                            left + static_cast<float>(x) * binWidth +
                            (static_cast<float>(c) + 0.5f) * binWidth / static_cast<float>(columns);
                        float parts[4];
                        interpolate(map, atY, atX, parts);
                        if (average)
                            sum += parts[0] + parts[1] + parts[2] + parts[3];
                        else {
                            const float most =
                                std::max(std::max(parts[0], parts[1]), std::max(parts[2], parts[3]));
                            top4 = r + c == 0 ? most : std::max(top4, most);
                        }
                    }
                *out++ = average ? sum / static_cast<float>(std::max<std::int64_t>(rows * columns, 1)) : top4;
            }
    }

    /// The four weighted neighbors of a point; zeros outside the map.
    void interpolate(const float* map, float y, float x, float* parts) const {
        std::fill_n(parts, 4, 0.0f);
        const auto lastRow = static_cast<float>(height), lastColumn = static_cast<float>(width);
        if (y < -1 || y > lastRow || x < -1 || x > lastColumn) return;
        y = std::max(y, 0.0f);
        x = std::max(x, 0.0f);
        auto y0 = static_cast<std::size_t>(y), x0 = static_cast<std::size_t>(x);
        std::size_t y1 = y0 + 1, x1 = x0 + 1;
        if (y0 + 1 >= height) {
            y0 = y1 = height - 1;
            y = static_cast<float>(y0);
        }
        if (x0 + 1 >= width) {
            x0 = x1 = width - 1;
            x = static_cast<float>(x0);
        }
        const float dy = y - static_cast<float>(y0), dx = x - static_cast<float>(x0);
        parts[0] = (1 - dy) * (1 - dx) * map[y0 * width + x0];
        parts[1] = (1 - dy) * dx * map[y0 * width + x1];
        parts[2] = dy * (1 - dx) * map[y1 * width + x0];
        parts[3] = dy * dx * map[y1 * width + x1];
    }
};

CompiledNode compileRoiAlign(const NodeContext& context) {
    for (std::size_t i = 0; i < 2; ++i) requireFloat(context, i);
    const Dims& dims = context.input(0).dims;
    const Dims& rois = context.input(1).dims;
    const Attributes& attributes = context.node.attributes;
    if (dims.size() != 4 || rois.size() != 2 || rois[1] != 4 || context.input(2).dims != Dims{rois[0]} ||
        context.input(2).type != DataType::Int64 || dims[2] < 1 || dims[3] < 1)
        failInput("RoiAlign of {} for regions {} is not possible", toString(dims), toString(rois));
    const std::string mode = attributes.text("mode", "avg");
    if (mode != "avg" && mode != "max") failInput("RoiAlign's mode must be avg or max, not '{}'", mode);
    const bool half =
        attributes.text("coordinate_transformation_mode",
                        context.opset() >= 16 ? "half_pixel" : "output_half_pixel") == "half_pixel";
    RoiAlign align;
    align.channels = static_cast<std::size_t>(dims[1]);
    align.height = static_cast<std::size_t>(dims[2]);
    align.width = static_cast<std::size_t>(dims[3]);
    align.outputHeight = static_cast<std::size_t>(attributes.integer("output_height", 1));
    align.outputWidth = static_cast<std::size_t>(attributes.integer("output_width", 1));
    align.sampling = attributes.integer("sampling_ratio", 0);
    align.scale = attributes.real("spatial_scale", 1.0f);
    align.offset = half ? 0.5f : 0.0f;
    align.average = mode == "avg";
    align.atLeastOnePixel = !half;
    const TensorDesc output{
        DataType::Float32,
        {rois[0], dims[1], attributes.integer("output_height", 1), attributes.integer("output_width", 1)},
        Layout::Plain};
    return {
        {output},
        makeKernel([align, images = dims[0],
                    count = static_cast<std::size_t>(rois[0])](const KernelArguments& a) {
            const std::size_t map = align.height * align.width, each = align.outputHeight * align.outputWidth;
            for (std::size_t r = 0; r < count; ++r) {
                const std::int64_t image = static_cast<const std::int64_t*>(a.inputs[2])[r];
                if (image < 0 || image >= images)
                    failInput("RoiAlign's region {} refers to image {}, but there are {}", r, image, images);
                for (std::size_t c = 0; c < align.channels; ++c)
                    align.run(static_cast<const float*>(a.inputs[0]) +
                                  (static_cast<std::size_t>(image) * align.channels + c) * map,
                              static_cast<const float*>(a.inputs[1]) + r * 4,
                              static_cast<float*>(a.outputs[0]) + (r * align.channels + c) * each);
            }
        })};
}

}  // namespace

void addRegions(OperatorTable& table) { table["RoiAlign"] = {compileRoiAlign}; }

}  // namespace quantloupe
