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

std::string externalModelBytes(const std::string& location) {
    onnx::ModelProto model;
    model.ParseFromString(textModelBytes(
        "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] X) => (float[2] Y) { Y = Add (X, X) }"));
    model.mutable_graph()->mutable_node(0)->set_input(1, std::string("W"));
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("W");
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value(location);
    return model.SerializeAsString();
}

LoadedModel textModel(const std::string& text) {
    const std::string bytes = textModelBytes(text);
    return parseModel(bytes.data(), bytes.size());
}

std::filesystem::path assets() { return QUANTLOUPE_SOURCE_DIR "/tests/assets"; }

std::filesystem::path asset(const std::string& path) {
    for (const std::filesystem::path& folder : {assets(), std::filesystem::path(QUANTLOUPE_TEST_ASSETS)})
        if (std::filesystem::exists(folder / path)) return folder / path;
    return {};
}

std::string missingAsset(const std::string& path) {
    return "larger comparison, optional: " + path +
           " is not in tests/assets, and the full test material is not there (tests/assets/README.md)";
}

}  // namespace quantloupe::test
