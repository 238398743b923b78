// SPDX-License-Identifier: Apache-2.0
#include "support/demo.h"

#include <algorithm>

#include "config/config_json.h"

namespace quantloupe::test {

std::filesystem::path demoFolder() {
    return std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "resources" / "demo";
}

std::unique_ptr<Session> openSession(const std::filesystem::path& model, const std::filesystem::path& data,
                                     const std::filesystem::path& calibration, SessionOptions options) {
    auto session = std::make_unique<Session>(loadModel(model), options);
    Preprocess preprocess;
    if (const auto file = preprocessBeside(model)) preprocess = loadPreprocess(*file);
    const auto inputs = inputSpecsOf(session->graph());
    session->setData(openDataset(data, inputs, preprocess), openDataset(calibration, inputs, preprocess));
    return session;
}

std::unique_ptr<Session> openDemo(SessionOptions options) {
    const auto folder = demoFolder();
    return openSession(folder / "mobilenetv2_cifar10.onnx", folder / "val", folder / "calibration", options);
}

std::filesystem::path fewImages(const std::filesystem::path& from, const std::filesystem::path& to,
                                std::size_t perClass) {
    for (const auto& folder : std::filesystem::directory_iterator(from)) {
        std::vector<std::filesystem::path> images;
        for (const auto& image : std::filesystem::directory_iterator(folder.path()))
            images.push_back(image.path());
        std::ranges::sort(images);
        const std::filesystem::path place = to / folder.path().filename();
        std::filesystem::create_directories(place);
        for (std::size_t i = 0; i < std::min(perClass, images.size()); ++i)
            std::filesystem::copy_file(images[i], place / images[i].filename());
    }
    return to;
}

QuantizationConfig demoConfig() { return loadConfig(demoFolder() / "demo.config.json"); }

const LayerResult& layerNamed(const Evaluation& evaluation, std::string_view name) {
    for (const LayerResult& item : evaluation.layers)
        if (item.name == name) return item;
    throw std::runtime_error("no layer " + std::string(name));
}

}  // namespace quantloupe::test
