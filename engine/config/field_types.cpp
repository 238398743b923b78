// SPDX-License-Identifier: Apache-2.0
#include "config/field_types.h"

#include <cmath>

#include "base/error.h"
#include "config/quantization_config.h"

namespace quantloupe {
namespace {

constexpr int kMaxBins = 8192;
constexpr double kWidestInterval = 1000;

template <typename T>
OrderedJson asItIs(const T& value) {
    return value;
}

std::string describeBounds(const NumberBounds& bounds) {
    if (std::isinf(bounds.most)) return fmt::format("a number of {} or more", bounds.least);
    return fmt::format("a number {} {} to {}", bounds.leastIncluded ? "from" : "above", bounds.least,
                       bounds.most);
}

}  // namespace

FieldType<bool> booleanField() {
    return {[](ObjectReader& reader, std::string_view key, bool& target) { reader.boolean(key, target); },
            asItIs<bool>,
            {{"type", "boolean"}}};
}

FieldType<int> integerField(int least, int most, const std::string& note) {
    return {[=](ObjectReader& reader, std::string_view key, int& target) {
                reader.integer(key, target, least, most, note);
            },
            asItIs<int>,
            {{"type", "integer"}, {"minimum", least}, {"maximum", most}}};
}

FieldType<int> binCountField(int least) {
    OrderedJson allowed = OrderedJson::array();
    for (int bins = least; bins <= kMaxBins; bins *= 2) allowed.push_back(bins);
    return {[=](ObjectReader& reader, std::string_view key, int& target) {
                reader.integer(key, target, least, kMaxBins);
                if ((target & (target - 1)) != 0)
                    failInput("{}: must be a power of two from {} to {}, not {}", reader.pathOf(key), least,
                              kMaxBins, target);
            },
            asItIs<int>,
            {{"enum", allowed}}};
}

FieldType<double> numberField(NumberBounds bounds) {
    OrderedJson schema = {{"type", "number"},
                          {bounds.leastIncluded ? "minimum" : "exclusiveMinimum", bounds.least}};
    if (!std::isinf(bounds.most)) schema["maximum"] = bounds.most;
    return {[=](ObjectReader& reader, std::string_view key, double& target) {
                const Json& value = *reader.find(key);
                const double number = value.is_number() ? value.get<double>() : std::nan("");
                const bool fits = number <= bounds.most &&
                                  (bounds.leastIncluded ? number >= bounds.least : number > bounds.least);
                if (!fits)
                    failInput("{}: must be {}, not {}", reader.pathOf(key), describeBounds(bounds),
                              describeValue(value));
                target = number;
            },
            asItIs<double>, std::move(schema)};
}

FieldType<int> biasBitsField() {
    return {[](ObjectReader& reader, std::string_view key, int& target) {
                const Json& value = *reader.find(key);
                if (value == "float")
                    target = kFloatBias;
                else if (value == 8 || value == 16 || value == 32)
                    target = value.get<int>();
                else
                    failInput("{}: must be 8, 16, 32 or 'float', not {}", reader.pathOf(key),
                              describeValue(value));
            },
            [](const int& bits) { return bits == kFloatBias ? OrderedJson("float") : OrderedJson(bits); },
            {{"enum", {8, 16, 32, "float"}}}};
}

FieldType<Precision> precisionField() {
    return {[](ObjectReader& reader, std::string_view key, Precision& target) {
                std::string name;
                reader.text(key, name);
                try {
                    target = precisionNamed(name);
                } catch (Error& error) {
                    error.addContext(reader.pathOf(key));
                    throw;
                }
            },
            [](const Precision& precision) { return OrderedJson(precisionName(precision)); },
            {{"type", "string"}, {"pattern", "^(float32|float16|w([2-9]|1[0-6])a([2-9]|1[0-6]))$"}}};
}

FieldType<std::array<double, 2>> intervalField() {
    return {[](ObjectReader& reader, std::string_view key, std::array<double, 2>& target) {
                const Json& value = *reader.find(key);
                const bool pair =
                    value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
                std::array<double, 2> read{};
                if (pair) read = {value[0].get<double>(), value[1].get<double>()};
                if (!pair || read[0] <= 0 || read[1] <= read[0] || read[1] > kWidestInterval)
                    failInput("{}: must be two numbers [start, end] with 0 < start < end, not {}",
                              reader.pathOf(key),
                              pair ? fmt::format("[{}, {}]", read[0], read[1]) : describeValue(value));
                target = read;
            },
            asItIs<std::array<double, 2>>,
            {{"type", "array"},
             {"minItems", 2},
             {"maxItems", 2},
             {"items", {{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", kWidestInterval}}}}};
}

FieldType<std::vector<std::string>> namesField() {
    return {[](ObjectReader& reader, std::string_view key, std::vector<std::string>& target) {
                reader.texts(key, target);
            },
            asItIs<std::vector<std::string>>,
            {{"type", "array"}, {"items", {{"type", "string"}}}}};
}

FieldType<std::vector<std::vector<std::string>>> nameSetsField() {
    return {[](ObjectReader& reader, std::string_view key, std::vector<std::vector<std::string>>& target) {
                const Json& sets = *reader.find(key);
                if (!sets.is_array())
                    failInput("{}: must be a list of lists of layers, not {}", reader.pathOf(key),
                              describeValue(sets));
                std::vector<std::vector<std::string>> result;
                for (const Json& set : sets) {
                    const std::string item = fmt::format("{}[{}]", key, result.size());
                    const Json wrapped = {{item, set}};
                    ObjectReader(wrapped, reader.path(), reader.allKeys()).texts(item, result.emplace_back());
                    if (result.back().empty()) failInput("{}: names no layers", reader.pathOf(item));
                }
                target = std::move(result);
            },
            asItIs<std::vector<std::vector<std::string>>>,
            {{"type", "array"}, {"items", {{"$ref", "#/$defs/someNames"}}}}};
}

}  // namespace quantloupe
