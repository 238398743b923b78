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

std::filesystem::path assets() {
    const std::filesystem::path folder = QUANTLOUPE_TEST_ASSETS;
    return std::filesystem::exists(folder / "models") ? folder : std::filesystem::path();
}

}  // namespace quantloupe::test
