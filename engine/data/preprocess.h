// SPDX-License-Identifier: Apache-2.0
#pragma once
// How an image becomes the network's input: resize, centre crop, x = (pixel * scale - mean) / std, layout.

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
    Color color = Color::Rgb;
    std::optional<std::array<int, 2>> resize;      ///< height, width; nothing: the image must fit already
    Interpolation interpolation = Interpolation::Bilinear;  ///< of the resize, always antialiased
    std::optional<std::array<int, 2>> centerCrop;  ///< height, width, after the resize
    float scale = 1.0f / 255.0f;
    std::vector<float> mean = {0, 0, 0};  ///< one a channel, in the order of `color`
    std::vector<float> std = {1, 1, 1};
    Layout layout = Layout::Nchw;
    bool operator==(const Preprocess&) const = default;
};

/// {"color","resize","interpolation","center_crop","scale","mean","std","layout"}, every key optional.
/// `color` is "RGB", "BGR" or "GRAY", `interpolation` "bilinear" or "bicubic", `layout` "NCHW" or "NHWC".
/// Throws Error naming the key that is unknown, doubled or has a wrong value.
Preprocess preprocessFromJson(std::string_view text);
std::string preprocessToJson(const Preprocess& preprocess);
Preprocess loadPreprocess(const std::filesystem::path& path);
/// NAME.preprocess.json beside NAME.onnx, if there is one.
std::optional<std::filesystem::path> preprocessBeside(const std::filesystem::path& model);

}  // namespace quantloupe
