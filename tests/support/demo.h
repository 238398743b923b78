// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bundled demo, opened as the programs open it.

#include <memory>

#include "config/config_json.h"
#include "session/session.h"

namespace quantloupe::test {

inline std::filesystem::path demoFolder() { return std::filesystem::path(QUANTLOUPE_SOURCE_DIR) / "resources" / "demo"; }

/// A session on a model with its preprocessing and data; `samples` 0: all.
inline std::unique_ptr<Session> openSession(const std::filesystem::path& model, const std::filesystem::path& data,
                                            const std::filesystem::path& calibration, SessionOptions options = {}) {
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

inline QuantizationConfig demoConfig() { return loadConfig(demoFolder() / "demo.config.json"); }

}  // namespace quantloupe::test
