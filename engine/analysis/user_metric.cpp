// SPDX-License-Identifier: Apache-2.0
#include "analysis/user_metric.h"

#include <stdlib.h>

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/run_program.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "data/numpy_file.h"

namespace quantloupe {
namespace {

/// Returns the last line that is not empty, shortened for a message.
std::string lastLine(std::string_view text) {
    text = trimmed(text);
    text = trimmed(text.substr(text.rfind('\n') + 1));  // npos + 1 is 0
    constexpr std::size_t kLongest = 200;
    return text.size() > kLongest ? std::string(text.substr(0, kLongest)) + "..." : std::string(text);
}

double numberFrom(const ProgramOutput& output) {
    if (output.exitCode != 0) {
        const std::string said = lastLine(output.err.empty() ? output.out : output.err);
        const std::string end = output.signal != 0
                                    ? fmt::format("it was terminated by signal {}", output.signal)
                                    : fmt::format("it failed with exit code {}", output.exitCode);
        if (said.empty()) failInput("{}", end);
        failInput("{}: {}", end, said);
    }
    return parseMetric(output.out);
}

}  // namespace

double parseMetric(const std::string& text) {
    const std::string line = lastLine(text);
    if (line.empty()) failInput("it printed nothing: its last line must be a number");
    const char* begin = line.data() + (line[0] == '+' ? 1 : 0);
    const char* end = line.data() + line.size();
    double value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);  // independent of the locale
    if (error == std::errc::result_out_of_range) failInput("it printed '{}', which is out of range", line);
    if (error != std::errc() || stop != end) failInput("its last line must be a number; it is '{}'", line);
    if (!std::isfinite(value)) failInput("it printed '{}', which is not a finite number", line);
    return value;
}

double runUserMetric(const MetricProgram& metric, const std::map<std::string, ConstantPtr>& outputs,
                     const ConstantPtr& labels, const CancelToken& cancel) {
    constexpr const char* kLabels = "labels";
    try {
        auto arrays = outputs;
        if (labels) {
            if (arrays.contains(kLabels))
                failInput("an output of the network is named '{}', which is reserved for the labels",
                          kLabels);
            arrays[kLabels] = labels;
        }
        const TemporaryFolder folder;
        const std::filesystem::path file = folder.path() / "outputs.npz";
        saveNpz(arrays, file);
        std::vector<std::string> arguments = metric.arguments;
        arguments.push_back(file.string());
        const ProgramOutput output =
            runProgram({metric.program, std::move(arguments), metric.timeoutSeconds}, cancel);
        try {
            return numberFrom(output);
        } catch (Error& error) {
            error.addContext(fmt::format("program '{}'", metric.program.string()));
            throw;
        }
    } catch (Error& error) {
        error.addContext("user-defined metric");
        throw;
    }
}

UserMetric programMetric(MetricProgram program) {
    const bool lowerIsBetter = program.lowerIsBetter;
    return {[program = std::move(program)](const MetricInput& input, const CancelToken& cancel) {
                return runUserMetric(program, input.outputs, input.labels, cancel);
            },
            lowerIsBetter};
}

}  // namespace quantloupe
