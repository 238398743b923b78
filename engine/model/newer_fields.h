// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fields of ONNX's messages that only newer versions of the library know. Older ones keep them as unknown
// fields.

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <string>
#include <string_view>
#include <vector>

namespace onnx {
class NodeProto;
}

namespace quantloupe {

/// Returns the messages of a repeated field. Damaged ones are left out.
template <typename Item>
std::vector<Item> itemsOf(const google::protobuf::Message& message, int number) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    std::vector<Item> items;
    if (const auto* field = message.GetDescriptor()->FindFieldByNumber(number)) {
        for (int i = 0; i < reflection.FieldSize(message, field); ++i)
            items.emplace_back().CopyFrom(reflection.GetRepeatedMessage(message, field, i));
        return items;
    }
    const google::protobuf::UnknownFieldSet& unknown = reflection.GetUnknownFields(message);
    for (int i = 0; i < unknown.field_count(); ++i) {
        const google::protobuf::UnknownField& field = unknown.field(i);
        Item item;
        if (field.number() == number &&
            field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
            item.ParseFromString(std::string(field.length_delimited())))
            items.push_back(std::move(item));
    }
    return items;
}

/// Returns a value of the node's metadata (ONNX 1.16 and later); empty if there is none with this key.
std::string metadataOf(const onnx::NodeProto& node, std::string_view key);
void addMetadata(onnx::NodeProto& node, std::string_view key, std::string value);

}  // namespace quantloupe
