// SPDX-License-Identifier: Apache-2.0
#include "model/newer_fields.h"

#include <onnx/onnx_pb.h>

#include <utility>

namespace quantloupe {
namespace {

constexpr int kMetadataProps = 9;  // of NodeProto

}  // namespace

std::string metadataOf(const onnx::NodeProto& node, std::string_view key) {
    for (const auto& entry : itemsOf<onnx::StringStringEntryProto>(node, kMetadataProps))
        if (entry.key() == key) return entry.value();
    return {};
}

void addMetadata(onnx::NodeProto& node, std::string_view key, std::string value) {
    onnx::StringStringEntryProto entry;
    entry.set_key(std::string(key));
    entry.set_value(std::move(value));
    const google::protobuf::Reflection& reflection = *node.GetReflection();
    if (const auto* field = node.GetDescriptor()->FindFieldByNumber(kMetadataProps))
        reflection.AddMessage(&node, field)->CopyFrom(entry);
    else
        reflection.MutableUnknownFields(&node)->AddLengthDelimited(kMetadataProps, entry.SerializeAsString());
}

}  // namespace quantloupe
