// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of the configuration's fields. Each field is described once, in config_fields.cpp: JSON key,
// type, range or choices, help text, command-line option, whether a layer may override it and what depends on
// it. JSON reading and writing, the schema, --set, the command line's options and their help, cache keys and
// presets follow this table.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/version.h"
#include "config/field_types.h"
#include "config/quantization_config.h"

namespace quantloupe {

/// The options that a layer may override, as they apply to one layer.
struct LayerOptions {
    QuantizationOptions quantization;
    CalibrationOptions calibration;
};

/// What changes when a field does.
enum class FieldEffect {
    Results,    ///< numbers
    Selection,  ///< which layers are quantized
    Export,     ///< only the exported files
};

struct Field {
    std::string key;     ///< dotted JSON key: "quantization.weight.bits"
    std::string help;    ///< one sentence, for the command line's help and the schema
    OrderedJson schema;  ///< JSON Schema of the value, without default and description
    std::string option;  ///< of the command line, "--weight-bits"; empty: only --set
    FieldEffect effect = FieldEffect::Results;
    bool changesModel = false;  ///< the prepared float model depends on it
    bool namesLayers = false;   ///< belongs to the model at hand: presets leave it alone

    /// Reads the key's value, which is present, with the last part of the key. Throws Error for one that is
    /// not allowed.
    std::function<void(ObjectReader&, std::string_view, QuantizationConfig&)> read;
    /// The value; null where the field is optional and not set.
    std::function<OrderedJson(const QuantizationConfig&)> write;
    /// Copies the value from the first configuration to the second.
    std::function<void(const QuantizationConfig&, QuantizationConfig&)> copy;

    // The same for the settings of a layer; empty for a field that a layer cannot override.
    std::function<void(ObjectReader&, std::string_view, LayerSettings&)> readLayer;
    std::function<OrderedJson(const LayerSettings&)> writeLayer;
    /// Applies the layer's own value, if it has one.
    std::function<void(const LayerSettings&, LayerOptions&)> applyLayer;
    std::function<void(const LayerOptions&, VersionBuilder&)> addTo;

    bool ofLayer() const { return static_cast<bool>(readLayer); }
    /// The key within a layer: "weight.bits".
    std::string layerKey() const;
};

/// A group of fields: the part of the key before a dot.
struct FieldGroup {
    std::string key;  ///< "quantization.weight"
    std::string help;
};

/// Refines the field that FieldTable::add() added.
template <typename Type, typename Access>
class FieldSetup {
  public:
    FieldSetup(Field& field, Access access, Type type)
        : m_field(field), m_access(access), m_type(std::move(type)) {}
    FieldSetup& option(std::string name) { return set(m_field.option, std::move(name)); }
    FieldSetup& effect(FieldEffect effect) { return set(m_field.effect, effect); }
    FieldSetup& changesModel() { return set(m_field.changesModel, true); }
    FieldSetup& namesLayers() { return set(m_field.namesLayers, true); }
    /// A layer may override the field; `own(settings)` is the layer's value, a std::optional.
    template <typename Own>
    FieldSetup& layer(Own own);

  private:
    template <typename T>
    FieldSetup& set(T& member, T value) {
        member = std::move(value);
        return *this;
    }
    Field& m_field;
    Access m_access;
    Type m_type;
};

struct FieldTable {
    /// in the order in which they are written; the fields of a group follow one another
    std::vector<Field> fields;
    std::vector<FieldGroup> groups;

    /// Adds a field of type `type` at `access(config)`.
    template <typename Type, typename Access>
    class FieldSetup<Type, Access> add(std::string key, Access access, Type type, std::string help);
    void group(std::string key, std::string help) { groups.push_back({std::move(key), std::move(help)}); }
    /// Throws Error if there is no such field.
    const Field& at(std::string_view key) const;
    /// The fields whose keys begin with `prefix`, which ends with a dot.
    std::span<const Field> below(std::string_view prefix) const;
};

inline constexpr std::string_view kParameterPrefix = "calibration.parameters.";

/// All fields of QuantizationConfig but the preset's name.
const FieldTable& configFields();
/// Those that a layer may override.
const std::vector<Field>& layerFields();

/// The schema of docs/config.schema.json.
OrderedJson configSchema(const FieldTable& table = configFields());

/// Fields below a group as a JSON object, without those that are not set. `prefix` ends with a dot or is
/// empty; all fields begin with it.
OrderedJson writeFields(std::span<const Field> fields, std::string_view prefix,
                        const QuantizationConfig& config);
/// Reads the fields from an object. Throws Error for an unknown key or a value that is not allowed.
void readFields(ObjectReader& reader, std::span<const Field> fields, std::string_view prefix,
                QuantizationConfig& config);
/// The same for a layer's settings.
OrderedJson writeLayerFields(std::span<const Field> fields, const LayerSettings& settings);
void readLayerFields(ObjectReader& reader, std::span<const Field> fields, LayerSettings& settings);

/// A default configuration with the values that `config` has in the chosen fields.
QuantizationConfig onlyFields(const QuantizationConfig& config,
                              const std::function<bool(const Field&)>& chosen,
                              const FieldTable& table = configFields());

/// Sets one field. Throws Error for a value that is not allowed.
void setField(QuantizationConfig& config, const Field& field, const Json& value);

namespace detail {

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
void addValue(VersionBuilder& builder, const T& value) {
    if constexpr (IsOptional<T>::value) {
        builder.add(value.has_value());
        if (value) addValue(builder, *value);
    } else if constexpr (requires { value.begin(); }) {
        for (const auto& item : value) addValue(builder, item);
    } else {
        builder.add(value);
    }
}

/// `type` for a value that a layer may leave unset.
template <typename Type>
auto optionalType(const Type& type) {
    if constexpr (IsOptional<typename Type::Value>::value)
        return type;
    else
        return optionalField(type);
}

}  // namespace detail

template <typename Type, typename Access>
FieldSetup<Type, Access> FieldTable::add(std::string key, Access access, Type type, std::string help) {
    Field& field = fields.emplace_back();
    field.key = std::move(key);
    field.help = std::move(help);
    field.schema = type.schema;
    field.read = [=](ObjectReader& reader, std::string_view leaf, QuantizationConfig& config) {
        type.read(reader, leaf, access(config));
    };
    field.write = [=](const QuantizationConfig& config) { return type.write(access(config)); };
    field.copy = [=](const QuantizationConfig& from, QuantizationConfig& to) { access(to) = access(from); };
    return {field, access, std::move(type)};
}

template <typename Type, typename Access>
template <typename Own>
FieldSetup<Type, Access>& FieldSetup<Type, Access>::layer(Own own) {
    const auto type = detail::optionalType(m_type);
    m_field.readLayer = [=](ObjectReader& reader, std::string_view leaf, LayerSettings& settings) {
        type.read(reader, leaf, own(settings));
    };
    m_field.writeLayer = [=](const LayerSettings& settings) { return type.write(own(settings)); };
    m_field.applyLayer = [=, network = m_access](const LayerSettings& settings, LayerOptions& options) {
        if (own(settings)) network(options) = *own(settings);
    };
    m_field.addTo = [network = m_access](const LayerOptions& options, VersionBuilder& builder) {
        detail::addValue(builder, network(options));
    };
    return *this;
}

}  // namespace quantloupe
