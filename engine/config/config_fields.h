// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of the configuration's fields. Each field is described once, in config_fields.cpp: JSON key,
// type, range or choices, help text, command-line option, whether a layer may override it, and what depends
// on it. JSON reading and writing, the schema, --set, the command-line options and their help, presets, and
// the cache keys of options that are not read per layer (quantize/layer_scheme.h) are derived from this
// table.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/version.h"
#include "config/field_types.h"
#include "config/quantization_config.h"

namespace quantloupe {

/// The options that a layer may override, with the values that apply to one layer.
struct LayerOptions {
    QuantizationOptions quantization;
    CalibrationOptions calibration;
};

/// The effect of a change of a field.
enum class FieldEffect {
    Results,    ///< all results
    Selection,  ///< which layers are quantized
    Export,     ///< only exported files
};

struct Field {
    std::string key;     ///< dotted JSON key: "quantization.weight.bits"
    std::string help;    ///< one sentence, for the command line's help and the schema
    OrderedJson schema;  ///< JSON Schema of the value, without default and description
    std::string option;  ///< command-line option, "--weight-bits"; empty: only --set
    FieldEffect effect = FieldEffect::Results;
    bool changesModel = false;  ///< the prepared float model depends on it
    bool namesLayers = false;   ///< names layers of the current model: presets do not change it

    /// Reads the value of a key that is present; takes the last part of the key. Throws Error for a value
    /// that is not allowed.
    std::function<void(ObjectReader&, std::string_view, QuantizationConfig&)> read;
    /// Returns the value; null if the field is optional and not set.
    std::function<OrderedJson(const QuantizationConfig&)> write;
    /// Copies the value from the first configuration to the second.
    std::function<void(const QuantizationConfig&, QuantizationConfig&)> copy;

    // The same for the settings of a layer. These functions are empty if a layer cannot override the field.
    std::function<void(ObjectReader&, std::string_view, LayerSettings&)> readLayer;
    std::function<OrderedJson(const LayerSettings&)> writeLayer;
    /// Copies the layer's own value, if it is set, to the options.
    std::function<void(const LayerSettings&, LayerOptions&)> applyLayer;
    std::function<void(const LayerOptions&, VersionBuilder&)> addTo;

    bool ofLayer() const { return static_cast<bool>(readLayer); }
    /// The key within a layer: "weight.bits".
    std::string layerKey() const;
};

/// A group of fields whose keys begin with the same parts.
struct FieldGroup {
    std::string key;  ///< "quantization.weight"
    std::string help;
};

/// Sets further properties of a field that FieldTable::add() has added.
template <typename Type, typename Access>
class FieldSetup {
  public:
    FieldSetup(Field& field, Access access, Type type)
        : m_field(field), m_access(access), m_type(std::move(type)) {}
    FieldSetup& option(std::string name) { return set(m_field.option, std::move(name)); }
    FieldSetup& effect(FieldEffect effect) { return set(m_field.effect, effect); }
    FieldSetup& changesModel() { return set(m_field.changesModel, true); }
    FieldSetup& namesLayers() { return set(m_field.namesLayers, true); }
    /// Allows layers to override the field; `own(settings)` returns the layer's value, a std::optional.
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
    /// In the order in which they are written; the fields of a group are adjacent.
    std::vector<Field> fields;
    std::vector<FieldGroup> groups;

    /// Adds a field of type `type` that is stored in `access(config)`.
    template <typename Type, typename Access>
    class FieldSetup<Type, Access> add(std::string key, Access access, Type type, std::string help);
    void group(std::string key, std::string help) { groups.push_back({std::move(key), std::move(help)}); }
    /// Returns the field with this key. Throws Error if there is none.
    const Field& at(std::string_view key) const;
    /// Returns the fields whose keys begin with `prefix`, which ends with a dot.
    std::span<const Field> below(std::string_view prefix) const;
};

inline constexpr std::string_view kParameterPrefix = "calibration.parameters.";

/// Returns all fields of QuantizationConfig except the name of the preset.
const FieldTable& configFields();
/// Returns the fields that a layer may override.
const std::vector<Field>& layerFields();

/// Returns the JSON Schema in docs/config.schema.json.
OrderedJson configSchema(const FieldTable& table = configFields());

/// Returns the fields of a group as a JSON object, without those that are not set. The keys of all fields
/// begin with `prefix`, which ends with a dot or is empty.
OrderedJson writeFields(std::span<const Field> fields, std::string_view prefix,
                        const QuantizationConfig& config);
/// Reads the fields from an object. Throws Error for an unknown key or a value that is not allowed.
void readFields(ObjectReader& reader, std::span<const Field> fields, std::string_view prefix,
                QuantizationConfig& config);
/// Do the same for the settings of a layer.
OrderedJson writeLayerFields(std::span<const Field> fields, const LayerSettings& settings);
void readLayerFields(ObjectReader& reader, std::span<const Field> fields, LayerSettings& settings);

/// Returns a default configuration with the chosen fields copied from `config`.
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

/// Returns the type for a value that a layer may leave unset.
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
