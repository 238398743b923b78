// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens the bundled demo as the programs do.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "config/config_json.h"
#include "session/session.h"

namespace quantloupe::test {

inline std::filesystem::path demoFolder() {
    return std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "resources" / "demo";
}

/// Opens a session on a model with its preprocessing and data; `samples` 0: all.
inline std::unique_ptr<Session> openSession(const std::filesystem::path& model,
                                            const std::filesystem::path& data,
                                            const std::filesystem::path& calibration,
                                            SessionOptions options = {}) {
    auto session = std::make_unique<Session>(loadModel(model), options);
    Preprocess preprocess;
    if (const auto file = preprocessBeside(model)) preprocess = loadPreprocess(*file);
    const auto inputs = inputSpecsOf(session->graph());
    session->setData(openDataset(data, inputs, preprocess), openDataset(calibration, inputs, preprocess));
    return session;
}

inline std::unique_ptr<Session> openDemo(SessionOptions options = {}) {
    const auto folder = demoFolder();
    return openSession(folder / "mobilenetv2_cifar10.onnx", folder / "val", folder / "calibration", options);
}

/// Copies the first images of each class by name and returns `to`. A small data set keeps tests that run two
/// programs fast.
inline std::filesystem::path fewImages(const std::filesystem::path& from, const std::filesystem::path& to,
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

inline QuantizationConfig demoConfig() { return loadConfig(demoFolder() / "demo.config.json"); }

}  // namespace quantloupe::test
