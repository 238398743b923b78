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

/// Returns the folder of models, data and oracles; empty if there is none (then the test reports that it is
/// skipped).
std::filesystem::path assets();

}  // namespace quantloupe::test
