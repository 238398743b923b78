// SPDX-License-Identifier: Apache-2.0
// Reading and writing of the configuration's fields.
#include "config/config_fields.h"

namespace quantloupe {
namespace {

/// Calls `leaf(field, name)` for each field directly below the prefix and `group(name, fields, prefix)` for
/// each group of fields, in their order. Prefixes are given by their length.
template <typename KeyOf, typename Leaf, typename Group>
void forEachMember(std::span<const Field> fields, std::size_t prefix, const KeyOf& keyOf, const Leaf& leaf,
                   const Group& group) {
    for (std::size_t i = 0; i < fields.size();) {
        const std::string key = keyOf(fields[i]);
        const std::size_t dot = key.find('.', prefix);
        if (dot == std::string::npos) {
            leaf(fields[i], key.substr(prefix));
            ++i;
            continue;
        }
        const std::string inner = key.substr(0, dot + 1);
        std::size_t end = i + 1;
        while (end < fields.size() && keyOf(fields[end]).starts_with(inner)) ++end;
        group(key.substr(prefix, dot - prefix), fields.subspan(i, end - i), dot + 1);
        i = end;
    }
}

template <typename KeyOf, typename Read>
void readGroup(ObjectReader& reader, std::span<const Field> fields, std::size_t prefix, const KeyOf& keyOf,
               const Read& read) {
    forEachMember(
        fields, prefix, keyOf,
        [&](const Field& field, const std::string& name) {
            if (reader.find(name) != nullptr) read(field, reader, name);
        },
        [&](const std::string& name, std::span<const Field> inner, std::size_t innerPrefix) {
            ObjectReader object = reader.object(name);
            readGroup(object, inner, innerPrefix, keyOf, read);
            object.finish();
        });
}

template <typename KeyOf, typename Write>
OrderedJson writeGroup(std::span<const Field> fields, std::size_t prefix, const KeyOf& keyOf,
                       const Write& write, bool emptyGroups) {
    OrderedJson json = OrderedJson::object();
    forEachMember(
        fields, prefix, keyOf,
        [&](const Field& field, const std::string& name) {
            OrderedJson value = write(field);
            if (!value.is_null()) json[name] = std::move(value);
        },
        [&](const std::string& name, std::span<const Field> inner, std::size_t innerPrefix) {
            OrderedJson object = writeGroup(inner, innerPrefix, keyOf, write, emptyGroups);
            if (emptyGroups || !object.empty()) json[name] = std::move(object);
        });
    return json;
}

const auto kKey = [](const Field& field) { return field.key; };
const auto kLayerKey = [](const Field& field) { return field.layerKey(); };

}  // namespace

OrderedJson writeFields(std::span<const Field> fields, std::string_view prefix,
                        const QuantizationConfig& config) {
    return writeGroup(
        fields, prefix.size(), kKey, [&](const Field& field) { return field.write(config); }, true);
}

void readFields(ObjectReader& reader, std::span<const Field> fields, std::string_view prefix,
                QuantizationConfig& config) {
    readGroup(reader, fields, prefix.size(), kKey,
              [&](const Field& field, ObjectReader& from, const std::string& name) {
                  field.read(from, name, config);
              });
}

OrderedJson writeLayerFields(std::span<const Field> fields, const LayerSettings& settings) {
    return writeGroup(
        fields, 0, kLayerKey, [&](const Field& field) { return field.writeLayer(settings); }, false);
}

void readLayerFields(ObjectReader& reader, std::span<const Field> fields, LayerSettings& settings) {
    readGroup(reader, fields, 0, kLayerKey,
              [&](const Field& field, ObjectReader& from, const std::string& name) {
                  field.readLayer(from, name, settings);
              });
}

QuantizationConfig onlyFields(const QuantizationConfig& config,
                              const std::function<bool(const Field&)>& chosen, const FieldTable& table) {
    QuantizationConfig result;
    for (const Field& field : table.fields)
        if (chosen(field)) field.copy(config, result);
    return result;
}

void setField(QuantizationConfig& config, const Field& field, const Json& value) {
    const std::size_t dot = field.key.rfind('.');
    const std::string group = dot == std::string::npos ? std::string() : field.key.substr(0, dot);
    const std::string leaf = dot == std::string::npos ? field.key : field.key.substr(dot + 1);
    const Json object = {{leaf, value}};
    static const std::vector<std::string> kNoKeys;
    ObjectReader reader(object, group, kNoKeys);
    field.read(reader, leaf, config);
}

}  // namespace quantloupe
