// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "cli/describe.h"
#include "cli/open_session.h"
#include "cli/option_hint.h"
#include "cli/options.h"
#include "common/program_version.h"

namespace quantloupe {
namespace {

using cli::UsageError;

/// Options as they are on the command line.
struct Given {
    std::string saveConfig, screenshot, until, size, theme, document;
    std::vector<std::string> select, commands;
    std::optional<std::string> timeout;
    bool demo = false;
};

void addWindowOptions(CLI::App& app, Given& given) {
    app.add_option("--save-config", given.saveConfig,
                   "Write the configuration to this file after every change, and close without asking to "
                   "save it")
        ->type_name("PATH");
    app.add_flag("--demo", given.demo, "Open the bundled demo");
    app.add_option("--theme", given.theme, "The theme; default: as chosen in the View menu")
        ->type_name("light|dark|system");
    auto* picture =
        app.add_option("--screenshot", given.screenshot,
                       "Save a picture of the window when everything is evaluated and drawn, and exit")
            ->type_name("FILE.png");
    const auto forPicture = [picture](CLI::Option* option, const char* type) {
        option->needs(picture)->type_name(type);
    };
    forPicture(
        app.add_option("--select", given.select, "For the screenshot: layer to select; can be repeated"),
        "LAYER");
    forPicture(app.add_option("--until", given.until,
                              "For the screenshot: preview skipping from the selected layer until this one"),
               "LAYER");
    forPicture(app.add_option("--command", given.commands,
                              "For the screenshot: menu entry to choose first; can be repeated"),
               "NAME");
    forPicture(app.add_option("--size", given.size, "For the screenshot: window size"), "WIDTHxHEIGHT");
    forPicture(app.add_option("--timeout", given.timeout,
                              "For the screenshot: seconds without progress after which it fails (600)"),
               "S");
    for (const char* last : {"--save-config", "--theme", "--screenshot", "--until", "--size", "--timeout"})
        app.get_option(last)->take_last();
    for (const char* repeated : {"--select", "--command"}) app.get_option(repeated)->allow_extra_args(false);
    app.add_option("--document", given.document,
                   "Print the manual page, or the completions of a shell, and exit")
        ->type_name(fmt::format("{}", fmt::join(documentKinds(), "|")));
}

void printDocument(const CLI::App& app, const cli::OptionReader& reader, const std::string& kind) {
    const auto& kinds = documentKinds();
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
        throw UsageError(
            fmt::format("--document: unknown value '{}'; available: {}", kind, fmt::join(kinds, ", ")));
    const CommandDescription options = cli::describe(app, reader);
    ProgramDescription program;
    program.name = "quantloupe";
    program.summary = "find the layers that cost accuracy when quantized, and tune them";
    program.positionals = options.positionals;
    program.options = options.options;
    program.exitCodes = {{"0", "Success"}, {"1", "Failure; the reason is on stderr"}, {"2", "Wrong usage"}};
    program.environment = {
        {"QUANTLOUPE_PYTHON",
         "The Python that verification runs ONNX Runtime in; otherwise python3 on the PATH"},
        {"QT_QPA_PLATFORM", "The window system to use, for example offscreen"}};
    program.examples = {{"Open the bundled demo:", "quantloupe --demo"},
                        {"Open a model with a folder of images:", "quantloupe model.onnx --data images"},
                        {"Open it with 4-bit weights:", "quantloupe model.onnx --data images --preset w4a8"}};
    program.seeAlso = "quantloupe-cli(1). The documentation is in share/doc/quantloupe of the installation.";
    fmt::print("{}", programDocument(program, kind));
    throw CLI::Success();
}

/// "1280x720".
QSize windowSize(const std::string& value) {
    const auto by = value.find('x');
    if (by == std::string::npos) throw UsageError("--size takes WIDTHxHEIGHT, for example 1280x720");
    constexpr long kMost = 20'000;
    return {static_cast<int>(cli::parseNumber("--size", value.substr(0, by), 1, kMost)),
            static_cast<int>(cli::parseNumber("--size", value.substr(by + 1), 1, kMost))};
}

QStringList listOf(const std::vector<std::string>& texts) {
    QStringList list;
    for (const std::string& text : texts) list.append(QString::fromStdString(text));
    return list;
}

Arguments argumentsOf(const Given& given, const cli::Options& options) {
    Arguments arguments;
    ui::OpenRequest& request = arguments.request;
    request.model = options.model;
    request.data = options.data;
    request.calibration = options.calibrationData;
    request.config = options.configFile;
    request.configure = options.configure;
    // As in the command line, calibration data alone also serves for evaluation.
    if (request.data.empty() && !given.demo && !ui::isProjectFile(request.model))
        request.data = request.calibration;
    if (!options.preprocess.empty()) request.preprocess = cli::preprocessOf(options);
    if (options.task != TaskSettings{}) request.task = options.task;
    arguments.savedConfig = given.saveConfig;
    arguments.demo = given.demo;
    arguments.theme = QString::fromStdString(given.theme);
    ScreenshotOptions& screenshot = arguments.screenshot;
    screenshot.path = QString::fromStdString(given.screenshot);
    screenshot.select = listOf(given.select);
    screenshot.until = QString::fromStdString(given.until);
    screenshot.commands = listOf(given.commands);
    if (!given.size.empty()) screenshot.size = windowSize(given.size);
    if (given.timeout)
        screenshot.patience = std::chrono::seconds(cli::parseNumber("--timeout", *given.timeout, 1, 86'400));

    if (given.demo && !request.model.empty()) throw UsageError("--demo opens its own model");
    const bool describes = !request.data.empty() || !request.calibration.empty() || !request.config.empty() ||
                           request.configure || request.preprocess || request.task;
    if (request.model.empty() && !given.demo && describes)
        throw UsageError("the options for data and configuration need a MODEL");
    if (request.task && options.data.empty() && !given.demo && !ui::isProjectFile(request.model))
        throw UsageError("--labels and the options for the task describe the evaluation data: add --data");
    constexpr std::array kThemes = {"", "light", "dark", "system"};
    if (std::ranges::find(kThemes, given.theme) == kThemes.end())
        throw UsageError("--theme takes light, dark or system");
    return arguments;
}

}  // namespace

Arguments readArguments(int argc, char** argv) {
    CLI::App app(
        "A loupe for quantized networks: find the layers that cost accuracy when quantized, and tune them.",
        "quantloupe");
    app.set_version_flag("-v,--version", "quantloupe " + versionText());
    Given given;
    cli::OptionReader reader(app, {.data = cli::CommandOptions::Need::Optional, .window = true});
    addWindowOptions(app, given);
    const auto exitWith = [](int code, const std::string& text) {
        fmt::print(stderr, "quantloupe: {}\n", text);
        std::exit(code);
    };
    try {
        app.parse(argc, argv);
        if (!given.document.empty()) printDocument(app, reader, given.document);
        return argumentsOf(given, reader.finish());
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) std::exit(app.exit(error));
        exitWith(2, error.what() + cli::optionHint(app));
    } catch (const UsageError& error) {
        exitWith(2, error.what());
    } catch (const std::exception& error) {
        exitWith(1, error.what());
    }
    return {};
}

bool onlyPrintsText(int argc, char** argv) {
    return std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
        return argument == "-h" || argument == "--help" || argument == "-v" || argument == "--version" ||
               argument.starts_with("--document");
    });
}

bool pictureWithoutDisplay(int argc, char** argv) {
    for (const char* known : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        if (qEnvironmentVariableIsSet(known)) return false;
    return std::any_of(argv + 1, argv + argc,
                       [](std::string_view argument) { return argument.starts_with("--screenshot"); });
}

}  // namespace quantloupe
