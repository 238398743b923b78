// SPDX-License-Identifier: Apache-2.0
// What tune alone can be asked for.

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "options.h"

namespace quantloupe::cli {
namespace {

double parseReal(const std::string& option, const std::string& value, double least, double most) {
    double number = 0;
    const char* end = value.data() + value.size();
    const auto result = std::from_chars(value.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end || !(number >= least && number <= most))
        throw UsageError(fmt::format("{} takes a number from {} to {}, not '{}'", option, least, most, value));
    return number;
}

}  // namespace

void OptionReader::addTuning() {
    constexpr double kMostSeconds = 1e6;
    TuneOptions& tune = m_options.tune;
    text("--max-drop", "How far below float the accuracy may be, in percentage points",
         [&tune](const std::string& value) { tune.maxDrop = parseReal("--max-drop", value, 0, 100) / 100; })
        ->required()
        ->type_name("P");
    text("--cost", "What is to be little of the layers in float (macs)", [&tune](const std::string& value) {
        for (const TuneCost cost : {TuneCost::Macs, TuneCost::Parameters, TuneCost::Layers})
            if (value == tuneCostName(cost)) {
                tune.cost = cost;
                return;
            }
        throw UsageError(fmt::format("--cost does not know '{}'; it takes: macs, parameters, layers", value));
    })->type_name("macs|parameters|layers");
    text("--max-steps", "Add at most so many layers", [&tune](const std::string& value) {
        tune.mostSteps = static_cast<std::size_t>(parseNumber("--max-steps", value, 1, 1'000'000));
    })->type_name("N");
    text("--max-seconds", "End the search after so many seconds, with what was found", [&tune](const std::string& value) {
        tune.mostSeconds = parseReal("--max-seconds", value, 0.001, kMostSeconds);
    })->type_name("S");
    flag("--with-transforms", "First try equalization and bias correction", [&tune] { tune.transforms = true; });
}

}  // namespace quantloupe::cli
