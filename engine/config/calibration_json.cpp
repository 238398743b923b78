// SPDX-License-Identifier: Apache-2.0
#include "config/calibration_json.h"

#include "base/error.h"
#include "config/config_choices.h"

namespace quantloupe {
namespace {

void readNumber(ObjectReader& reader, std::string_view key, double& target, double least, bool included, double most) {
    const Json* value = reader.find(key);
    const double number = value->is_number() ? value->get<double>() : least - 1;
    if (!value->is_number() || number > most || (included ? number < least : number <= least))
        failInput("{}: must be a number {} {} to {}, not {}", reader.pathOf(key), included ? "from" : "above", least, most,
                  describeValue(*value));
    target = number;
}

/// Powers of two, so that one fine histogram serves all.
void readBins(ObjectReader& reader, std::string_view key, int& target, int least) {
    reader.integer(key, target, least, 8192);
    if ((target & (target - 1)) != 0)
        failInput("{}: must be a power of two from {} to 8192, not {}", reader.pathOf(key), least, target);
}

void readRange(ObjectReader& reader, std::string_view key, std::array<double, 2>& target) {
    const Json& value = *reader.find(key);
    const bool fits = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
    if (fits) target = {value[0].get<double>(), value[1].get<double>()};
    if (!fits || target[0] <= 0 || target[1] <= target[0] || target[1] > 1000)
        failInput("{}: must be two numbers [start, end] with 0 < start < end, not {}", reader.pathOf(key),
                  fits ? fmt::format("[{}, {}]", target[0], target[1]) : describeValue(value));
}

}  // namespace

void readCalibrationParameters(ObjectReader reader, CalibrationParameters& p) {
    const auto number = [&](std::string_view key, std::optional<double>& target, double least, bool included, double most) {
        readOptional(reader, key, target, [&](auto k, double& v) { readNumber(reader, k, v, least, included, most); });
    };
    const auto bins = [&](std::string_view key, std::optional<int>& target, int least) {
        readOptional(reader, key, target, [&](auto k, int& v) { readBins(reader, k, v, least); });
    };
    number("averaging_constant", p.averagingConstant, 0, true, 1);
    number("percentile", p.percentile, 0.5, false, 1);
    bins("num_bins", p.bins, 128);
    readOptional(reader, "num_quantized_bins", p.quantizedBins, [&](auto k, int& v) { reader.integer(k, v, 2, 8192); });
    readOptional(reader, "mode", p.mode, [&](auto k, PowerOfTwoMode& v) { reader.choice(k, v, kPowerOfTwoModes); });
    number("max_percentile", p.maxPercentile, 0.5, false, 1);
    number("min_percentile", p.minPercentile, 0.5, false, 1);
    readOptional(reader, "search_range", p.searchRange, [&](auto k, std::array<double, 2>& v) { readRange(reader, k, v); });
    number("search_step", p.searchStep, 0, false, 1000);
    bins("num_of_bins", p.numOfBins, 1024);
    // Decimal numbers are not binary ones: [0.7, 1.3] holds a step of 0.6, though 1.3 - 0.7 is a little less.
    if (p.searchRange && p.searchStep && *p.searchStep > (*p.searchRange)[1] - (*p.searchRange)[0] + 1e-9)
        failInput("{}: {} is larger than search_range is wide; choose a smaller step", reader.pathOf("search_step"), *p.searchStep);
    reader.finish();
}

nlohmann::ordered_json calibrationParametersJson(const CalibrationParameters& p) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    const auto put = [&json](const char* key, const auto& value) {
        if (value) json[key] = *value;
    };
    put("averaging_constant", p.averagingConstant);
    put("percentile", p.percentile);
    put("num_bins", p.bins);
    put("num_quantized_bins", p.quantizedBins);
    if (p.mode) json["mode"] = choiceName(kPowerOfTwoModes, *p.mode);
    put("max_percentile", p.maxPercentile);
    put("min_percentile", p.minPercentile);
    put("search_range", p.searchRange);
    put("search_step", p.searchStep);
    put("num_of_bins", p.numOfBins);
    return json;
}

}  // namespace quantloupe
