// SPDX-License-Identifier: Apache-2.0
#include "data/preprocess.h"

#include <cmath>

#include "base/error.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/strict_json.h"
#include "base/text.h"

namespace quantloupe {

namespace {

constexpr const char* kKeys = "color, resize, fit, interpolation, center_crop, scale, mean, std, layout";
constexpr int kMaxInputSide = 16384;
constexpr std::uint64_t kMaxPreprocessBytes = 1 << 20;

float numberOf(const OrderedJson& value, const std::string& key) {
    if (!value.is_number()) failInput("'{}' must be a number, not {}", key, value.dump());
    const auto number = static_cast<float>(value.get<double>());
    if (!std::isfinite(number)) failInput("'{}' must be a finite number, not {}", key, value.dump());
    return number;
}

std::vector<float> numbersOf(const OrderedJson& value, const std::string& key) {
    if (!value.is_array())
        failInput("'{}' must be a list of numbers, one per channel, not {}", key, value.dump());
    std::vector<float> numbers;
    for (const OrderedJson& entry : value) numbers.push_back(numberOf(entry, key));
    return numbers;
}

std::optional<std::array<int, 2>> sizeOf(const OrderedJson& value, const std::string& key) {
    if (value.is_null()) return std::nullopt;
    const auto isSide = [](const OrderedJson& side) {
        return side.is_number_integer() && side.get<double>() >= 1 && side.get<double>() <= kMaxInputSide;
    };
    if (!value.is_array() || value.size() != 2 || !isSide(value[0]) || !isSide(value[1]))
        failInput("'{}' must be [height, width] in pixels from 1 to {}, not {}", key, kMaxInputSide,
                  value.dump());
    return std::array<int, 2>{value[0].get<int>(), value[1].get<int>()};
}

template <typename Enum>
struct Choice {
    const char* name;
    Enum value;
};
constexpr std::array<Choice<Preprocess::Color>, 3> kColors = {
    {{"RGB", Preprocess::Color::Rgb}, {"BGR", Preprocess::Color::Bgr}, {"GRAY", Preprocess::Color::Gray}}};
constexpr std::array<Choice<Interpolation>, 2> kInterpolations = {
    {{"bilinear", Interpolation::Bilinear}, {"bicubic", Interpolation::Bicubic}}};
constexpr std::array<Choice<Preprocess::Fit>, 2> kFits = {
    {{"stretch", Preprocess::Fit::Stretch}, {"letterbox", Preprocess::Fit::Letterbox}}};
constexpr std::array<Choice<Preprocess::Layout>, 2> kLayouts = {
    {{"NCHW", Preprocess::Layout::Nchw}, {"NHWC", Preprocess::Layout::Nhwc}}};

template <typename Enum, std::size_t N>
Enum choiceOf(const OrderedJson& value, const std::string& key, const std::array<Choice<Enum>, N>& choices) {
    std::string names;
    for (const auto& choice : choices) {
        if (value.is_string() && value.get<std::string>() == choice.name) return choice.value;
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", choice.name);
    }
    failInput("'{}' must be one of {}, not {}", key, names, value.dump());
}

template <typename Enum, std::size_t N>
std::string nameOf(Enum value, const std::array<Choice<Enum>, N>& choices) {
    for (const auto& choice : choices)
        if (choice.value == value) return choice.name;
    return {};
}

/// Returns the double with the same shortest text as the float: 0.4914 and not 0.49140000343322754.
double readable(float value) { return parsed<double>(fmt::format("{}", value)).value_or(value); }

OrderedJson readable(const std::vector<float>& values) {
    OrderedJson list = OrderedJson::array();
    for (const float value : values) list.push_back(readable(value));
    return list;
}

}  // namespace

Preprocess preprocessFromJson(std::string_view text) {
    const OrderedJson json = parseOrderedJson(text);
    if (!json.is_object()) failInput("preprocessing must be a JSON object with some of the keys {}", kKeys);
    Preprocess result;
    for (const auto& [key, value] : json.items()) {
        if (key == "color")
            result.color = choiceOf(value, key, kColors);
        else if (key == "resize")
            result.resize = sizeOf(value, key);
        else if (key == "fit")
            result.fit = choiceOf(value, key, kFits);
        else if (key == "interpolation")
            result.interpolation = choiceOf(value, key, kInterpolations);
        else if (key == "center_crop")
            result.centerCrop = sizeOf(value, key);
        else if (key == "scale")
            result.scale = numberOf(value, key);
        else if (key == "mean")
            result.mean = numbersOf(value, key);
        else if (key == "std")
            result.std = numbersOf(value, key);
        else if (key == "layout")
            result.layout = choiceOf(value, key, kLayouts);
        else
            failInput("unknown key '{}'; the keys are {}", key, kKeys);
    }
    const std::size_t channels = result.color == Preprocess::Color::Gray ? 1 : 3;
    if (!json.contains("mean")) result.mean.assign(channels, 0.0f);
    if (!json.contains("std")) result.std.assign(channels, 1.0f);
    if (result.mean.size() != channels)
        failInput("'mean' has {} numbers but the color {} has {} channels", result.mean.size(),
                  nameOf(result.color, kColors), channels);
    if (result.std.size() != channels)
        failInput("'std' has {} numbers but the color {} has {} channels", result.std.size(),
                  nameOf(result.color, kColors), channels);
    for (const float divisor : result.std)
        if (divisor == 0.0f) failInput("'std' must not contain 0 because pixels are divided by it");
    return result;
}

std::string preprocessToJson(const Preprocess& preprocess) {
    OrderedJson json;
    json["color"] = nameOf(preprocess.color, kColors);
    if (preprocess.resize) json["resize"] = *preprocess.resize;
    if (preprocess.fit != Preprocess::Fit::Stretch) json["fit"] = nameOf(preprocess.fit, kFits);
    if (preprocess.interpolation != Interpolation::Bilinear)
        json["interpolation"] = nameOf(preprocess.interpolation, kInterpolations);
    if (preprocess.centerCrop) json["center_crop"] = *preprocess.centerCrop;
    json["scale"] = readable(preprocess.scale);
    json["mean"] = readable(preprocess.mean);
    json["std"] = readable(preprocess.std);
    json["layout"] = nameOf(preprocess.layout, kLayouts);
    return json.dump();
}

Preprocess loadPreprocess(const std::filesystem::path& path) {
    try {
        return preprocessFromJson(readFile(path, kMaxPreprocessBytes));
    } catch (Error& error) {
        error.addContext(fmt::format("preprocessing file '{}'", path.string()));
        throw;
    }
}

std::optional<std::filesystem::path> preprocessBeside(const std::filesystem::path& model) {
    std::filesystem::path beside = model;
    beside.replace_extension(".preprocess.json");
    std::error_code error;
    if (!std::filesystem::exists(beside, error)) return std::nullopt;
    return beside;
}

}  // namespace quantloupe
