// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens the bundled demo as the programs do.

#include <filesystem>
#include <memory>

#include "session/session.h"

namespace quantloupe::test {

std::filesystem::path demoFolder();

/// Opens a session on a model with its preprocessing and data.
std::unique_ptr<Session> openSession(const std::filesystem::path& model, const std::filesystem::path& data,
                                     const std::filesystem::path& calibration, SessionOptions options = {});

std::unique_ptr<Session> openDemo(SessionOptions options = {});

/// Copies the first images of each class by name and returns `to`. A small data set keeps tests that run two
/// programs fast.
std::filesystem::path fewImages(const std::filesystem::path& from, const std::filesystem::path& to,
                                std::size_t perClass);

QuantizationConfig demoConfig();

/// Throws std::runtime_error if there is no such layer.
const LayerResult& layerNamed(const Evaluation& evaluation, std::string_view name);

}  // namespace quantloupe::test
