// SPDX-License-Identifier: Apache-2.0
#pragma once
// The subset of protobuf's text format that configurations use: fields, messages, strings, words and
// comments.

#include <string>
#include <string_view>
#include <vector>

namespace quantloupe {

/// A message of protobuf text: fields in order, each a scalar or a message.
struct ProtoField {
    std::string name;
    int line = 0;
    bool message = false, quoted = false;
    std::string text;
    std::vector<ProtoField> fields;
};

/// A string in double quotes, with the escapes of C, which every version of protobuf reads.
std::string protoQuoted(std::string_view text);

/// Throws Error naming the line and the field.
std::vector<ProtoField> parseProtoText(std::string_view text);

}  // namespace quantloupe
