// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <unistd.h>

#include "base/error.h"
#include "base/input_file.h"
#include "base/process_group.h"
#include "base/version.h"
#include "common/program_version.h"
#include "config/config_json.h"
#include "data/preprocess.h"
#include "progress_line.h"

namespace quantloupe::cli {
namespace fs = std::filesystem;

InputPaths inputsOf(const Options& options) {
    InputPaths inputs;
    inputs.add("the model", options.model);
    inputs.add("the data", options.data);
    inputs.add("the calibration data", options.calibrationData);
    if (!options.preprocess.native().starts_with('{'))
        inputs.add("the preprocessing file", options.preprocess);
    inputs.add("the labels", options.task.labels);
    inputs.add("the class names", options.task.classNames);
    if (const auto beside = preprocessBeside(options.model))
        inputs.add("the model's preprocessing file", *beside);
    inputs.add("the configuration file", options.configFile);
    inputs.add("the imported file", options.foreign);
    inputs.add("the configuration to compare with", options.against);
    inputs.add("the metric program", options.metricProgram);
    for (const auto& [precision, file] : options.profiles) inputs.add("the profile", file);
    return inputs;
}

InputPaths inputsOf(const Options& options, const LoadedModel& model) {
    InputPaths inputs = inputsOf(options);
    for (const fs::path& file : model.dataFiles) inputs.add("external data of the model", file);
    return inputs;
}

void requireWritable(const fs::path& path, const Options& options) {
    std::error_code ignored;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorKind::Io, fmt::format("'{}' cannot be written: {}", path.string(), why));
    };
    if (fs::is_directory(path, ignored)) refuse("it is a folder");
    if (!fs::is_directory(folder, ignored)) refuse(fmt::format("there is no folder '{}'", folder.string()));
    if (::access(folder.c_str(), W_OK) != 0)
        refuse(fmt::format("no permission to write in '{}'", folder.string()));
    inputsOf(options).checkOutput(path);
}

std::filesystem::path Options::measurementFile() const {
    if (!resume && !saveMeasurements) return {};
    const auto problem = [this]() -> std::string {
        try {
            requireWritable(measurements, *this);
        } catch (const Error& error) {
            if (resume) throw;
            return error.what();
        }
        return {};
    };
    // Only the first process of a group writes.
    const std::string why = group ? group->fromFirst("file of measurements", problem) : problem();
    if (why.empty()) return measurements;
    notice(fmt::format("the evaluations are not saved: {}; choose another place with --save-config", why));
    return {};
}

std::string Options::measuredWith() const {
    if (metricProgram.empty()) return versionText();
    VersionBuilder version;
    version.add(std::string_view(versionText()))
        .add(std::string_view(readFile(metricProgram)))
        .add(lowerIsBetter);
    for (const std::string& argument : metricArguments) {
        version.add(std::string_view(argument));
        // A script. Larger files are data.
        constexpr std::uintmax_t kLargestScript = std::uintmax_t{1} << 20;
        std::error_code failed;
        if (std::filesystem::is_regular_file(argument, failed) &&
            std::filesystem::file_size(argument, failed) <= kLargestScript)
            version.add(std::string_view(readFile(argument)));
    }
    return version.finish().hex();
}

std::vector<std::pair<const char*, std::filesystem::path>> Options::outputs() const {
    std::vector<std::pair<const char*, std::filesystem::path>> given;
    for (const auto& [option, file] :
         std::initializer_list<std::pair<const char*, const std::filesystem::path&>>{
             {"--output", output},
             {"--save-config", saveConfig},
             {"--save-config", saveFound},
             {"--weights", weights},
             {"--junit", junit},
             {"--markdown", markdown}})
        if (!file.empty()) given.emplace_back(option, file);
    return given;
}

void checkOutputs(const Options& options) {
    const auto outputs = options.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k)
            if (sameFile(outputs[k].second, outputs[i].second))
                throw UsageError(
                    fmt::format("{} and {} name the same file", outputs[k].first, outputs[i].first));
        if (outputs[i].second != options.output) requireWritable(outputs[i].second, options);
    }
}

void startOutputs(const Options& options, const LoadedModel& model) {
    const InputPaths inputs = inputsOf(options, model);
    for (const auto& [option, output] : options.outputs()) inputs.checkOutput(output);
    if (!options.saveConfig.empty()) saveConfig(options.config, options.saveConfig);
}

}  // namespace quantloupe::cli
