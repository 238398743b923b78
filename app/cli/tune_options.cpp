// SPDX-License-Identifier: Apache-2.0
// Options of tune and check.

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
        throw UsageError(
            fmt::format("{} takes a number from {} to {}, not '{}'", option, least, most, value));
    return number;
}

}  // namespace

void OptionReader::addMaxDrop() {
    text("--max-drop", "Largest accuracy drop below float, in percentage points",
         [this](const std::string& value) {
             m_options.tune.maxDrop = parseReal("--max-drop", value, 0, 100) / 100;
         })
        ->required()
        ->type_name("P");
}

void OptionReader::addChecking() {
    addMaxDrop();
    path("--junit", m_options.junit, "Write the result as a JUnit XML report");
    path("--markdown", m_options.markdown, "Write a summary in Markdown");
}

void OptionReader::addTuning() {
    constexpr double kMaxSeconds = 1e6;
    TuneOptions& tune = m_options.tune;
    addMaxDrop();
    text("--cost", "Cost of the float layers to minimize (macs)", [&tune](const std::string& value) {
        for (const TuneCost cost : {TuneCost::Macs, TuneCost::Parameters, TuneCost::Layers})
            if (value == tuneCostName(cost)) {
                tune.cost = cost;
                return;
            }
        throw UsageError(
            fmt::format("--cost: unknown value '{}'; available: macs, parameters, layers", value));
    })->type_name("macs|parameters|layers");
    text("--max-steps", "Add layers in at most this many steps", [&tune](const std::string& value) {
        tune.maxSteps = static_cast<std::size_t>(parseNumber("--max-steps", value, 1, 1'000'000));
    })->type_name("N");
    text("--max-seconds", "Stop the search after this many seconds and use the best result so far",
         [&tune](const std::string& value) {
             tune.maxSeconds = parseReal("--max-seconds", value, 0.001, kMaxSeconds);
         })
        ->type_name("S");
    flag("--with-transforms", "Try equalization and bias correction first",
         [&tune] { tune.transforms = true; });
}

}  // namespace quantloupe::cli
