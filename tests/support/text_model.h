// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small models for tests, written in ONNX's textual form (onnx/defs/parser.h).

#include <filesystem>
#include <string>

#include "model/load_model.h"

namespace quantloupe::test {

/// Parses "<ir_version: 8, opset_import: [\"\" : 13]> agraph (float[N,3] X) => (float[N,3] Y) { Y = Relu(X)
/// }" and loads it as a file would be. Initializers are written in the graph's value list: <float[2] W = {1,
/// 2}>.
LoadedModel textModel(const std::string& text);
/// The serialized ModelProto of the text.
std::string textModelBytes(const std::string& text);
/// Y = X + W with two values each. The values of W are float32 and in the file `location` (ONNX external
/// data).
std::string externalModelBytes(const std::string& location);

/// Returns the folder of models, data and oracles in the repository (tests/assets/README.md).
std::filesystem::path assets();

/// Returns the path of a model, data set or oracle, for example "models/vit_cifar10.onnx": in assets(), else
/// in the full test material; empty if neither has it.
std::filesystem::path asset(const std::string& path);
/// Why a test is skipped if asset(path) is empty.
std::string missingAsset(const std::string& path);

}  // namespace quantloupe::test

/// Skips the test if the asset is only in the full test material and that is not there.
#define QUANTLOUPE_NEEDS(file) \
    if (quantloupe::test::asset(file).empty()) QSKIP(quantloupe::test::missingAsset(file).c_str())
/// The same, and declares the asset's path.
#define QUANTLOUPE_ASSET(variable, file) \
    QUANTLOUPE_NEEDS(file);              \
    const std::filesystem::path variable = quantloupe::test::asset(file)
