// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "commands.h"
#include "common/installed_files.h"
#include "common/program_version.h"
#include "config/near_names.h"
#include "describe.h"
#include "option_hint.h"
#include "options.h"

namespace quantloupe::cli {
namespace {

using Need = CommandOptions::Need;

constexpr const char* kNotWritten = "the output could not be written";

/// Whether everything could be written to stdout, for example not to a full disk.
bool printed() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

struct Command {
    const char* name;
    const char* what;
    CommandOptions has;
    std::function<int(const Options&)> run;
    CLI::App* app = nullptr;
    std::unique_ptr<OptionReader> reader;
};

std::vector<Command> allCommands() {
    const auto entry = [](const char* name, const char* what, CommandOptions has, auto run) {
        std::function<int(const Options&)> act;
        if constexpr (std::is_void_v<decltype(run(Options{}))>) {
            act = [run](const Options& options) {
                run(options);
                return 0;
            };
        } else {
            act = run;
        }
        return Command{name, what, has, std::move(act), nullptr, nullptr};
    };
    std::vector<Command> list;
    list.push_back(entry("inspect", "Show the structure of a model: inputs, outputs, layers, totals",
                         {.connections = true}, runInspect));
    list.push_back(entry("run", "Write the outputs for each sample to an .npz file",
                         {.data = Need::Required, .output = Need::Required, .quantized = true}, runRun));
    list.push_back(entry("analyze",
                         "Compare the quantized network with the float network, overall and layer by layer",
                         {.data = Need::Optional, .layerTable = true}, runAnalyze));
    list.push_back(entry("transform", "Write the float model after the transforms",
                         {.output = Need::Required, .weights = true}, runTransform));
    list.push_back(entry("set-inputs", "Write the model with other shapes or fixed values of its inputs",
                         {.inputs = true}, runSetInputs));
    list.push_back(entry("quantize", "Write the quantized model with QuantizeLinear and DequantizeLinear",
                         {.data = Need::Optional, .output = Need::Required}, runQuantize));
    list.push_back(entry("leave-one-out",
                         "Evaluate the gain from keeping each quantized layer in float, one at a time",
                         {.data = Need::Required, .sweep = true}, runLeaveOneOut));
    list.push_back(entry("tune", "Find the precision of each layer; exit code 3 if the target is not reached",
                         {.data = Need::Required, .tuning = true}, runTune));
    list.push_back(entry("check",
                         "Fail with exit code 3 if the accuracy drop is too large, for automatic checks",
                         {.data = Need::Required, .checking = true}, runCheck));
    list.push_back(
        entry("export", "Write the configuration for another tool, the quantized model, a report or pictures",
              {.data = Need::Optional, .output = Need::Required, .format = true, .metric = true}, runExport));
    list.push_back(entry("import", "Import the configuration of another tool",
                         {.output = Need::Required, .foreign = true}, runImport));
    list.push_back(entry("verify",
                         "Write the quantized model, run it in ONNX Runtime and compare it with the preview",
                         {.data = Need::Required, .output = Need::Required, .metric = true}, runVerify));
    list.push_back(entry("profile", "Measure the time of every layer of the quantized model in ONNX Runtime",
                         {.data = Need::Required, .output = Need::Required, .profiling = true}, runProfile));
    list.push_back(entry("render", "Draw the colored graph as .svg or .dot",
                         {.data = Need::Optional, .output = Need::Required}, runRender));
    list.push_back(entry("session",
                         "Answer JSON requests from stdin, one per line, with one reply per line on stdout",
                         {.data = Need::Optional, .metric = true, .progress = true}, runSession));
    return list;
}

std::vector<Command> commandsOf(const Program& program) {
    std::vector<Command> list = allCommands();
    if (!program.commands.empty())
        std::erase_if(list, [&](const Command& command) {
            return std::ranges::count(program.commands, command.name) == 0;
        });
    return list;
}

/// --document prints the manual page or the completions of a shell.
void addDocumentOption(CLI::App& app, const Program& known, const std::vector<Command>& list) {
    const auto print = [&app, &known, &list](const std::string& kind) {
        const auto& kinds = documentKinds();
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
            throw UsageError(
                fmt::format("--document: unknown value '{}'; available: {}", kind, fmt::join(kinds, ", ")));
        ProgramDescription program = describe(app, known);
        for (const Command& command : list)
            program.commands.push_back(describe(*command.app, *command.reader));
        fmt::print("{}", programDocument(program, kind));
        throw CLI::Success();
    };
    app.add_option_function<std::string>("--document", print,
                                         "Print the manual page, or the completions of a shell, and exit")
        ->type_name(fmt::format("{}", fmt::join(documentKinds(), "|")))
        ->trigger_on_parse();
}

}  // namespace

int runCommandLine(int argc, char** argv, const Program& program) {
    const auto wrongUsage = [&](const std::string& what, const std::string& command) {
        fmt::print(stderr, "{}: {}\nTry: {} {}{}--help\n", program.name, what, program.name, command,
                   command.empty() ? "" : " ");
        return 2;
    };
    const auto exitWith = [&](const std::string& what) {
        fmt::print(stderr, "{}: {}\n", program.name, what);
        return 1;
    };
    CLI::App app(program.description, program.name);
    app.require_subcommand(1);
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.set_version_flag("--version", "quantloupe " + versionText());
    std::vector<Command> list = commandsOf(program);
    for (Command& command : list) {
        command.app = app.add_subcommand(command.name, command.what)->group("Commands");
        command.reader = std::make_unique<OptionReader>(*command.app, command.has);
    }
    addDocumentOption(app, program, list);
    std::error_code ignored;
    if (std::filesystem::is_directory(documentation(), ignored))
        app.footer("Documentation: " + documentation().string());
    const std::string first = argc > 1 ? argv[1] : "";
    const auto command =
        std::find_if(list.begin(), list.end(), [&](const Command& c) { return first == c.name; });
    const std::string used = command == list.end() ? "" : first;
    try {
        if (used.empty() && !first.empty() && !first.starts_with('-')) {
            std::vector<std::string> names;
            for (const Command& known : list) names.emplace_back(known.name);
            throw UsageError(
                fmt::format("unknown command '{}'{}", first, didYouMean(nearNames(names, first, 1))));
        }
        app.parse(argc, argv);
        if (command == list.end() || !command->app->parsed()) throw UsageError("the command must come first");
        const auto read = [&] { return command->reader->finish(); };
        const int code = program.execute ? program.execute(read, command->run) : command->run(read());
        return printed() ? code : exitWith(kNotWritten);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {  // a help text
            app.exit(error);
            return printed() ? 0 : exitWith(kNotWritten);
        }
        return wrongUsage(error.what() + (command == list.end() ? std::string() : optionHint(*command->app)),
                          used);
    } catch (const UsageError& error) {
        return wrongUsage(error.what(), used);
    } catch (const Error& error) {
        return exitWith(error.what());
    } catch (const std::bad_alloc&) {
        return exitWith("not enough memory for this");
    } catch (const std::exception&) {
        if (std::ferror(stdout) != 0) return exitWith(kNotWritten);
        return exitWith(fmt::format(
            "the command failed because of an error in {} itself: please report the command with its files",
            program.name));
    }
}

}  // namespace quantloupe::cli
