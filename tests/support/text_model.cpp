// SPDX-License-Identifier: Apache-2.0
#include "support/text_model.h"

#include <onnx/defs/parser.h>

#include <stdexcept>

namespace quantloupe::test {

std::string textModelBytes(const std::string& text) {
    onnx::ModelProto model;
    const auto status = onnx::OnnxParser::Parse(model, text.c_str());
    if (!status.IsOK()) throw std::runtime_error("test model does not parse: " + status.ErrorMessage());
    return model.SerializeAsString();
}

LoadedModel textModel(const std::string& text) {
    const std::string bytes = textModelBytes(text);
    return parseModel(bytes.data(), bytes.size());
}

std::filesystem::path assets() {
    const std::filesystem::path folder = QUANTLOUPE_TEST_ASSETS;
    return std::filesystem::exists(folder / "models") ? folder : std::filesystem::path();
}

}  // namespace quantloupe::test
