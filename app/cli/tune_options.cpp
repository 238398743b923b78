// SPDX-License-Identifier: Apache-2.0
// Options of tune, check and profile.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "options.h"

namespace quantloupe::cli {
namespace {

constexpr double kMaxBudget = 1e18;

double parseReal(const std::string& option, const std::string& value, double least, double most) {
    const auto number = parsed<double>(value);
    if (!number || !(*number >= least && *number <= most))
        throw UsageError(
            fmt::format("{} takes a number from {} to {}, not '{}'", option, least, most, value));
    return *number;
}

Precision parseListed(const std::string& option, std::string_view text) {
    try {
        return precisionNamed(text);
    } catch (const Error& error) {
        throw UsageError(fmt::format("{}: {}", option, error.what()));
    }
}

std::vector<Precision> parsePrecisions(const std::string& value) {
    std::vector<Precision> list;
    for (std::size_t begin = 0; begin <= value.size();) {
        const std::size_t end = std::min(value.find(',', begin), value.size());
        list.push_back(
            parseListed("--precisions", trimmed(std::string_view(value).substr(begin, end - begin))));
        begin = end + 1;
    }
    return list;
}

}  // namespace

void OptionReader::addMaxDrop(bool required) {
    text("--max-drop",
         "Largest allowed accuracy drop from the float network, in percentage points, or in the unit of "
         "--metric-program",
         [this](const std::string& value) { m_maxDrop = value; })
        ->required(required)
        ->type_name("P");
    addOwnMetric();
}

void OptionReader::finishMaxDrop() {
    if (m_options.metricProgram.empty()) {
        if (m_options.lowerIsBetter)
            throw UsageError("--lower-is-better describes the number of a program: add --metric-program");
        if (!m_options.metricArguments.empty())
            throw UsageError("--metric-argument is an argument of a program: add --metric-program");
    }
    if (!m_maxDrop) return;
    const bool own = !m_options.metricProgram.empty();
    m_options.tune.maxDrop = parseReal("--max-drop", *m_maxDrop, 0, own ? kMaxBudget : 100) / (own ? 1 : 100);
}

void OptionReader::addMetricProgram() {
    path("--metric-program", m_options.metricProgram,
         "Program that reads an .npz file of outputs and prints a number");
    text("--metric-argument",
         "Argument of --metric-program, before the path of the .npz file; may be repeated",
         [this](const std::string& value) { m_options.metricArguments.push_back(value); })
        ->type_name("ARG");
}

void OptionReader::addOwnMetric() {
    addMetricProgram();
    flag("--lower-is-better", "Smaller numbers of --metric-program are better",
         [this] { m_options.lowerIsBetter = true; });
}

void OptionReader::addChecking() {
    addMaxDrop(true);
    path("--junit", m_options.junit, "Write the result as a JUnit XML report");
    path("--markdown", m_options.markdown, "Write a summary in Markdown");
}

void OptionReader::addProfiling() {
    constexpr long kMaxRuns = 100'000;
    text("--runs", "Number of measured inferences (50)", [this](const std::string& value) {
        m_options.profileRuns = static_cast<std::size_t>(parseNumber("--runs", value, 1, kMaxRuns));
    })->type_name("N");
}

void OptionReader::addTuning() {
    constexpr double kMaxSeconds = 1e6;
    TuneOptions& tune = m_options.tune;
    addMaxDrop(false);
    std::vector<std::string_view> names;
    for (const CostKind kind : costKinds()) names.push_back(costName(kind));
    text("--cost", "Cost to minimize (macs; with --precisions: bytes; with --profile: ms)",
         [this, &tune, names](const std::string& v) {
             const auto kind = costNamed(v);
             if (!kind)
                 throw UsageError(
                     fmt::format("--cost: unknown value '{}'; available: {}", v, fmt::join(names, ", ")));
             tune.cost = *kind;
             m_hasCost = true;
         })
        ->type_name(fmt::format("{}", fmt::join(names, "|")));
    text("--budget", "Minimize the accuracy drop at a cost of at most X, in the unit of --cost",
         [&tune](const std::string& value) { tune.budget = parseReal("--budget", value, 0, kMaxBudget); })
        ->type_name("X");
    text("--precisions", "Choose the precision of each layer from this list and float: w8a16,w8a8,w4a8",
         [&tune](const std::string& value) { tune.precisions = parsePrecisions(value); })
        ->type_name("LIST");
    flag("--no-float", "Do not move layers to float", [&tune] { tune.allowFloat = false; });
    text("--profile",
         "Measured layer times: a CSV (layer,precision,ms) or a profile of ONNX Runtime, TensorRT, Qualcomm "
         "or Hailo; PRECISION=FILE states the measured precision",
         [this](const std::string& value) {
             const auto equals = value.find('=');
             const auto precision =
                 equals == std::string::npos ? std::nullopt : parsePrecision(value.substr(0, equals));
             const std::string file = precision ? value.substr(equals + 1) : value;
             if (file.empty()) throw UsageError("--profile needs a path");
             m_options.profiles.emplace_back(precision, file);
         })
        ->type_name("[PRECISION=]FILE");
    addResume();
    text("--max-steps", "Make at most this many steps", [&tune](const std::string& value) {
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

void OptionReader::addResume() {
    flag("--resume", "Reuse the evaluations of earlier runs, and save those of this one",
         [this] { m_options.resume = true; });
}

void OptionReader::nameMeasurements() {
    std::filesystem::path& file = m_options.measurements;
    file = !m_options.saveConfig.empty()   ? m_options.saveConfig
           : !m_options.configFile.empty() ? m_options.configFile
                                           : m_options.model;
    file.replace_extension(m_has.tuning ? ".tune.json" : ".leave-one-out.json");
}

void OptionReader::finishTuning() {
    TuneOptions& tune = m_options.tune;
    if (!m_maxDrop && !tune.budget)
        throw UsageError(
            "tune needs a target: --max-drop P (the cheapest choice within this drop) or --budget X (the "
            "smallest drop within this cost)");
    if (!m_maxDrop) tune.maxDrop = std::numeric_limits<double>::infinity();
    if (!m_hasCost) tune.cost = usualCost(!tune.precisions.empty(), !m_options.profiles.empty());
    const bool ms = tune.cost == CostKind::Milliseconds;
    if (ms && m_options.profiles.empty())
        throw UsageError(
            "--cost ms needs measured times: --profile FILE (quantloupe-cli profile measures them in ONNX "
            "Runtime)");
    if (!ms && !m_options.profiles.empty()) throw UsageError("--profile is only used with --cost ms");
    if (!tune.allowFloat && tune.precisions.empty())
        throw UsageError("--no-float needs --precisions, because there is nothing else to choose from");
    if (!tune.allowFloat && std::ranges::count(tune.precisions, Precision::float32()) > 0)
        throw UsageError("--no-float contradicts float32 in --precisions; leave out one of them");
}

}  // namespace quantloupe::cli
