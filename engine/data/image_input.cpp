// SPDX-License-Identifier: Apache-2.0
#include "data/image_input.h"

#include <cstring>

#include "base/error.h"
#include "data/image_geometry.h"

namespace quantloupe {

namespace {

/// Computes each step in double and rounds it to float, which gives the same result as float arithmetic. The
/// casts keep the compiler from contracting operations.
float normalized(int pixel, float scale, float mean, float std) {
    const auto scaled = static_cast<float>(static_cast<double>(pixel) * static_cast<double>(scale));
    const auto centered = static_cast<float>(static_cast<double>(scaled) - static_cast<double>(mean));
    return static_cast<float>(static_cast<double>(centered) / static_cast<double>(std));
}

bool isIdentity(const Preprocess& preprocess) {
    const auto all = [](const std::vector<float>& values, float expected) {
        return std::all_of(values.begin(), values.end(), [&](float value) { return value == expected; });
    };
    return preprocess.scale == 1.0f && all(preprocess.mean, 0.0f) && all(preprocess.std, 1.0f);
}

struct Axes {
    std::size_t channels, height, width;
};
Axes axesOf(Preprocess::Layout layout) {
    return layout == Preprocess::Layout::Nchw ? Axes{1, 2, 3} : Axes{3, 1, 2};
}

std::string_view nameOf(Preprocess::Layout layout) {
    return layout == Preprocess::Layout::Nchw ? "NCHW" : "NHWC";
}

}  // namespace

ImageInput::ImageInput(const InputSpec& spec, const Preprocess& preprocess)
    : m_spec(spec),
      m_shape(spec.shape),
      m_preprocess(preprocess),
      m_channels(preprocess.color == Preprocess::Color::Gray ? 1 : 3) {
    if (spec.type != DataType::Float32 && !(spec.type == DataType::UInt8 && isIdentity(preprocess)))
        failInput(
            "input '{}' takes {}, but images are converted to float32 (or uint8, with scale 1, mean 0 and "
            "std 1)",
            spec.name, dataTypeName(spec.type));
    if (preprocess.mean.size() != m_channels || preprocess.std.size() != m_channels)
        failInput("the preprocessing outputs {} channels but 'mean' has {} numbers and 'std' {}", m_channels,
                  preprocess.mean.size(), preprocess.std.size());
    if (m_shape.size() == 3 && !spec.sampleAxis) m_shape.insert(m_shape.begin(), Dim{});
    if (!m_shape.empty()) {  // otherwise the model does not say
        if (m_shape.size() != 4)
            failInput("input '{}' has the shape {}, which is not an image: use arrays (.npy, .npz) instead",
                      spec.name, toString(spec.shape));
        const Axes axes = axesOf(preprocess.layout);
        const Dim& channels = m_shape[axes.channels];
        if (channels.known() && channels.value != static_cast<std::int64_t>(m_channels))
            failInput(
                "input '{}' ({}) takes {} channels in the layout {}, but the preprocessing outputs {}: check "
                "its 'layout' and 'color'",
                spec.name, toString(spec.shape), channels.value, nameOf(preprocess.layout), m_channels);
        if (const auto& size = preprocess.centerCrop ? preprocess.centerCrop : preprocess.resize) {
            const Dim& height = m_shape[axes.height];
            const Dim& width = m_shape[axes.width];
            if ((height.known() && height.value != (*size)[0]) ||
                (width.known() && width.value != (*size)[1]))
                failInput(
                    "input '{}' ({}) does not take the {}×{} pixels (height × width) that the preprocessing "
                    "gives: check its 'resize' and 'center_crop'",
                    spec.name, toString(spec.shape), (*size)[0], (*size)[1]);
        }
    }
    m_values.resize(m_channels);
    for (std::size_t c = 0; c < m_channels; ++c)
        for (int pixel = 0; pixel < 256; ++pixel)
            m_values[c][static_cast<std::size_t>(pixel)] =
                normalized(pixel, preprocess.scale, preprocess.mean[c], preprocess.std[c]);
}

Image ImageInput::pixels(Image image) const {
    if (m_preprocess.color == Preprocess::Color::Gray) image = toGray(image);
    image = resizedAndCropped(image, m_preprocess);
    if (m_preprocess.color == Preprocess::Color::Bgr)
        for (std::size_t i = 0; i + 2 < image.pixels.size(); i += 3)
            std::swap(image.pixels[i], image.pixels[i + 2]);
    if (m_shape.size() == 4) {
        const Axes axes = axesOf(m_preprocess.layout);
        const Dim& height = m_shape[axes.height];
        const Dim& width = m_shape[axes.width];
        if ((height.known() && height.value != image.height) || (width.known() && width.value != image.width))
            failInput(
                "it has {}×{} pixels (height × width) but input '{}' takes {}: set 'resize' in the "
                "preprocessing",
                image.height, image.width, m_spec.name, toString(m_spec.shape));
    }
    return image;
}

SampleTensor ImageInput::convert(Image image) const {
    image = pixels(std::move(image));
    const auto area = static_cast<std::size_t>(image.height) * static_cast<std::size_t>(image.width);
    const bool channelsFirst = m_preprocess.layout == Preprocess::Layout::Nchw;
    const auto channels = static_cast<std::int64_t>(m_channels);
    SampleTensor tensor;
    tensor.type = m_spec.type;
    tensor.dims =
        channelsFirst ? Dims{channels, image.height, image.width} : Dims{image.height, image.width, channels};
    tensor.bytes.resize(area * m_channels * elementSize(tensor.type));
    const auto place = [&](std::size_t pixel, std::size_t c) {
        return channelsFirst ? c * area + pixel : pixel * m_channels + c;
    };
    for (std::size_t c = 0; c < m_channels; ++c)
        for (std::size_t i = 0; i < area; ++i) {
            const std::uint8_t pixel = image.pixels[i * m_channels + c];
            if (tensor.type == DataType::UInt8)
                tensor.bytes[place(i, c)] = static_cast<std::byte>(pixel);
            else
                std::memcpy(tensor.bytes.data() + place(i, c) * sizeof(float), &m_values[c][pixel],
                            sizeof(float));
        }
    return tensor;
}

}  // namespace quantloupe
