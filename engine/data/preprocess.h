// SPDX-License-Identifier: Apache-2.0
#pragma once
// Preprocessing of images: resize (or letterbox), center crop, x = (pixel * scale - mean) / std, layout.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/image.h"

namespace quantloupe {

struct Preprocess {
    enum class Color { Rgb, Bgr, Gray };
    enum class Layout { Nchw, Nhwc };
    enum class Fit {
        Stretch,    ///< to exactly the size
        Letterbox,  ///< keeps the aspect ratio and pads with gray (114), as YOLO does
    };
    Color color = Color::Rgb;
    std::optional<std::array<int, 2>> resize;  ///< height, width; empty: the image must already fit
    Fit fit = Fit::Stretch;                    ///< how images are resized
    Interpolation interpolation = Interpolation::Bilinear;  ///< for resizing, always antialiased
    std::optional<std::array<int, 2>> centerCrop;           ///< height, width, after the resize
    float scale = 1.0f / 255.0f;
    std::vector<float> mean = {0, 0, 0};  ///< one per channel, in the order of `color`
    std::vector<float> std = {1, 1, 1};
    Layout layout = Layout::Nchw;
    bool operator==(const Preprocess&) const = default;
};

/// {"color","resize","fit","interpolation","center_crop","scale","mean","std","layout"}, every key optional.
/// `color` is "RGB", "BGR" or "GRAY", `fit` "stretch" or "letterbox", `interpolation` "bilinear" or
/// "bicubic", `layout` "NCHW" or "NHWC". Throws Error naming a key that is unknown, duplicate or has an
/// invalid value.
Preprocess preprocessFromJson(std::string_view text);
std::string preprocessToJson(const Preprocess& preprocess);
Preprocess loadPreprocess(const std::filesystem::path& path);
/// Returns the path of NAME.preprocess.json next to NAME.onnx, if it exists.
std::optional<std::filesystem::path> preprocessBeside(const std::filesystem::path& model);

}  // namespace quantloupe
