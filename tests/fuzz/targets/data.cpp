// SPDX-License-Identifier: Apache-2.0
// Targets for samples: arrays, images and the files that describe them.

#include <algorithm>

#include "data/annotations.h"
#include "data/dataset.h"
#include "data/image_codecs.h"
#include "data/numpy_file.h"
#include "data/preprocess.h"
#include "support.h"
#include "targets.h"

namespace quantloupe::fuzz {
namespace {

/// The samples of the arrays as inputs of models with the same and with other shapes.
void readSamples(const std::map<std::string, ConstantPtr>& arrays) {
    for (const Dims& dims : {Dims{3}, Dims{1, 2, 2}, Dims{}}) {
        mayRefuse([&] {
            Shape shape{Dim{}};
            for (const std::int64_t dim : dims) shape.push_back({dim, {}});
            const DatasetPtr samples = arrayDataset(arrays, nullptr, {{"x", DataType::Float32, shape}});
            for (std::size_t i = 0; i < std::min<std::size_t>(samples->size(), 3); ++i) samples->sample(i);
            if (samples->size() > 0) samples->sample(samples->size() - 1);
        });
    }
}

}  // namespace

void arrays(std::string_view bytes) {
    const MemoryFile file(bytes);
    mayRefuse([&] {
        if (!bytes.starts_with("PK")) return readSamples({{"arr_0", loadNpy(file.path())}});
        const auto arrays = loadNpz(file.path());
        readSamples(arrays);
        for (const auto& [name, array] : arrays) readSamples({{"x", array}});
    });
}

void images(std::string_view bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    mayRefuse([&] {
        const Image image = decodeImage(data, bytes.size(), "input");
        require(image.pixels.size() == static_cast<std::size_t>(image.width) * image.height * image.channels,
                "an image with another number of pixels than its size");
        const Image small = resizeImage(image, 7, 5, Interpolation::Bicubic);
        toGray(centerCrop(small, 4, 4));
    });
    mayRefuse([&] { decodePngLabels(data, bytes.size()); });
}

void settings(std::string_view bytes) {
    mayRefuse([&] {
        const Preprocess read = preprocessFromJson(bytes);
        require(preprocessFromJson(preprocessToJson(read)) == read,
                "preprocessing changes when it is written");
    });
    const MemoryFile file(bytes);
    mayRefuse([&] { readCoco(file.path()); });
}

}  // namespace quantloupe::fuzz
