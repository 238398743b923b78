// SPDX-License-Identifier: Apache-2.0
#include "config/object_reader.h"

#include <algorithm>
#include <cmath>

#include "base/short_text.h"
#include "base/text.h"
#include "config/near_names.h"

namespace quantloupe {
namespace {

std::string join(const std::vector<std::string_view>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string describeValue(const Json& value) {
    if (value.is_array()) return "a list";
    if (value.is_object()) return "an object";
    if (value.is_string()) return fmt::format("'{}'", shortName(value.get_ref<const std::string&>(), 60));
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ObjectReader::ObjectReader(const Json& value, std::string path, const std::vector<std::string>& allKeys)
    : m_value(&value), m_path(std::move(path)), m_allKeys(&allKeys) {
    if (value.is_object()) return;
    if (m_path.empty()) failInput("the configuration must be a JSON object, not {}", describeValue(value));
    failInput("{}: must be an object, not {}", m_path, describeValue(value));
}

std::string ObjectReader::pathOf(std::string_view key) const {
    return m_path.empty() ? std::string(key) : fmt::format("{}.{}", m_path, key);
}

const Json* ObjectReader::find(std::string_view key) {
    if (std::find(m_known.begin(), m_known.end(), key) == m_known.end()) m_known.emplace_back(key);
    const auto found = m_value->find(key);
    return found == m_value->end() ? nullptr : &*found;
}

void ObjectReader::refuse(std::string_view key, const Json& value, std::string_view expected) const {
    failInput("{}: must be {}, not {}", pathOf(key), expected, describeValue(value));
}

void ObjectReader::refuseChoice(std::string_view key, const std::string& value,
                                const std::vector<std::string_view>& available) const {
    const std::vector<std::string> names(available.begin(), available.end());
    failInput("{}: {} is unknown{}; available: {}", pathOf(key), describeValue(value),
              didYouMean(nearNames(names, value, 1)), join(available));
}

void ObjectReader::boolean(std::string_view key, bool& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) refuse(key, *value, "true or false");
    target = value->get<bool>();
}

void ObjectReader::integer(std::string_view key, int& target, int least, int most, std::string_view note) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_number()) refuse(key, *value, "a whole number");
    const double number = value->get<double>();
    if (number != std::floor(number)) refuse(key, *value, "a whole number");
    if (number < least || number > most)
        failInput("{}: {} is out of range; available: {}{}", pathOf(key), describeValue(*value),
                  least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most), note);
    target = static_cast<int>(number);
}

void ObjectReader::text(std::string_view key, std::string& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) refuse(key, *value, "a string");
    target = value->get<std::string>();
}

void ObjectReader::texts(std::string_view key, std::vector<std::string>& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) refuse(key, *value, "a list of strings");
    std::vector<std::string> result;
    for (const Json& item : *value) {
        if (!item.is_string()) refuse(fmt::format("{}[{}]", key, result.size()), item, "a string");
        result.push_back(item.get<std::string>());
    }
    target = std::move(result);
}

void ObjectReader::number(std::string_view key, double& target, double least, double most,
                          std::string_view note) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_number()) refuse(key, *value, "a number");
    const double number = value->get<double>();
    if (!(number >= least && number <= most))
        failInput("{}: {} is out of range; available: {:g} to {:g}{}", pathOf(key), describeValue(*value),
                  least, most, note);
    target = number;
}

ObjectReader ObjectReader::object(std::string_view key) {
    static const Json kEmpty = Json::object();
    const Json* value = find(key);
    return ObjectReader(value == nullptr ? kEmpty : *value, pathOf(key), *m_allKeys);
}

std::vector<std::string> ObjectReader::unread() const {
    std::vector<std::string> keys;
    for (const auto& item : m_value->items())
        if (std::find(m_known.begin(), m_known.end(), item.key()) == m_known.end())
            keys.push_back(item.key());
    return keys;
}

void ObjectReader::finish() const {
    for (const std::string& key : unread()) {
        // Prefer similar keys of the same object, then the same key elsewhere, then similar dotted keys.
        std::vector<std::string> near;
        for (const std::string& name : nearNames(m_known, key, 1)) near.push_back(pathOf(name));
        if (near.empty())
            for (const std::string& name : *m_allKeys)
                if (afterLastDot(name) == key && near.size() < 2) near.push_back(name);
        if (near.empty()) near = nearNames(*m_allKeys, pathOf(key), 1);
        // The object itself, or the list that contains it, is not a useful suggestion.
        std::erase_if(
            near, [&](const std::string& name) { return name == m_path || m_path.starts_with(name + "["); });
        const std::string hint =
            near.empty() ? fmt::format("; available: {}", fmt::join(m_known, ", ")) : didYouMean(near);
        failInput("unknown key '{}'{}", pathOf(key), hint);
    }
}

}  // namespace quantloupe
