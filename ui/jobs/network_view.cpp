// SPDX-License-Identifier: Apache-2.0
#include "jobs/network_view.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "style/words.h"

namespace quantloupe::ui {

namespace {

constexpr std::size_t kViews = 4;

struct ImageTensor {
    std::vector<float> values;
    int channels = 0, height = 0, width = 0;
    bool channelsFirst = true;
    float at(int c, int y, int x) const {
        const int index = channelsFirst ? (c * height + y) * width + x : (y * width + x) * channels + c;
        return values[static_cast<std::size_t>(index)];
    }
};

std::optional<ImageTensor> imageOf(const std::vector<SampleTensor>& sample) {
    if (sample.size() != 1 || sample[0].type != DataType::Float32 || sample[0].dims.size() != 3)
        return std::nullopt;
    const Dims& dims = sample[0].dims;
    const auto fits = [](std::int64_t channels) { return channels == 1 || channels == 3; };
    ImageTensor image;
    image.channelsFirst = fits(dims[0]);
    if (!image.channelsFirst && !fits(dims[2])) return std::nullopt;
    const std::size_t c = image.channelsFirst ? 0 : 2, h = image.channelsFirst ? 1 : 0,
                      w = image.channelsFirst ? 2 : 1;
    if (dims[h] < 1 || dims[w] < 1 || dims[h] > 8192 || dims[w] > 8192) return std::nullopt;
    image.channels = static_cast<int>(dims[c]), image.height = static_cast<int>(dims[h]),
    image.width = static_cast<int>(dims[w]);
    image.values.resize(sample[0].bytes.size() / sizeof(float));
    std::memcpy(image.values.data(), sample[0].bytes.data(), image.values.size() * sizeof(float));
    return image;
}

}  // namespace

std::pair<QList<QImage>, QString> networkViews(const Dataset& data) {
    std::vector<ImageTensor> tensors;
    float low = 0, high = 0;
    bool any = false;
    for (const std::size_t index : spreadEvenly(data.size(), kViews)) {
        auto image = imageOf(data.sample(index));
        if (!image) return {};
        for (const float value : image->values) {
            if (!std::isfinite(value)) continue;
            low = any ? std::min(low, value) : value;
            high = any ? std::max(high, value) : value;
            any = true;
        }
        tensors.push_back(std::move(*image));
    }
    QList<QImage> views;
    const float span = high > low ? high - low : 1;
    for (const ImageTensor& tensor : tensors) {
        QImage view(tensor.width, tensor.height, QImage::Format_RGB32);
        const auto level = [&](int c, int y, int x) {
            const float value = tensor.at(std::min(c, tensor.channels - 1), y, x);
            return std::isfinite(value) ? static_cast<int>(std::lround((value - low) / span * 255)) : 0;
        };
        for (int y = 0; y < tensor.height; ++y)
            for (int x = 0; x < tensor.width; ++x)
                view.setPixel(x, y, qRgb(level(0, y, x), level(1, y, x), level(2, y, x)));
        views.append(view);
    }
    const auto text = [](float value) {
        return QString::number(value, 'f', 2).replace(QLatin1Char('-'), QChar(0x2212));
    };
    return {views, any ? text(low) + Words::tr(" to ") + text(high) : QString()};
}

}  // namespace quantloupe::ui
