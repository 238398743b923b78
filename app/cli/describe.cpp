// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <cctype>
#include <sstream>

namespace quantloupe::cli {
namespace {

std::vector<std::string> namesOf(const CLI::Option& option) {
    if (option.get_positional()) return {option.get_name()};
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    return names;
}

std::string withoutStop(std::string help) {
    if (help.ends_with('.')) help.pop_back();
    return help;
}

/// The values of "off|aimet|quark"; empty if one of them is a placeholder, as in "NAME|N".
std::vector<std::string> choicesIn(const std::string& value) {
    std::vector<std::string> choices;
    std::istringstream parts(value);
    for (std::string part; std::getline(parts, part, '|');) {
        if (part.empty() || std::isupper(static_cast<unsigned char>(part[0])) != 0) return {};
        choices.push_back(part);
    }
    return choices;
}

OptionDescription describe(const CLI::Option& option) {
    const std::string value = option.get_items_expected_max() > 0 ? option.get_type_name() : "";
    return {namesOf(option), value, choicesIn(value), withoutStop(option.get_description()),
            option.get_required()};
}

void addOptions(const CLI::App& app, std::vector<OptionDescription>& positionals,
                std::vector<OptionDescription>& options) {
    for (const CLI::Option* option : app.get_options())
        (option->get_positional() ? positionals : options).push_back(describe(*option));
}

}  // namespace

CommandDescription describe(const CLI::App& command, const OptionReader& reader) {
    CommandDescription result{command.get_name(), withoutStop(command.get_description()), {}, {}};
    addOptions(command, result.positionals, result.options);
    for (OptionDescription& option : result.options)
        if (option.choices.empty()) option.choices = reader.choices(option.names.back());
    return result;
}

ProgramDescription describe(const CLI::App& app, const Program& program) {
    ProgramDescription result;
    result.name = program.name;
    result.summary = program.summary;
    addOptions(app, result.positionals, result.options);
    result.exitCodes = {
        {"0", "Success"},
        {"1", "Failure; the reason is on stderr"},
        {"2", "Wrong usage"},
        {"3", "tune: the target was not reached; check: the accuracy drop is above the limit"}};
    result.environment = {
        {"QUANTLOUPE_PYTHON",
         "The Python that verify and profile run ONNX Runtime in; otherwise python3 on the PATH"}};
    result.examples = program.examples;
    result.seeAlso = program.seeAlso + ". The documentation is in share/doc/quantloupe of the installation.";
    return result;
}

}  // namespace quantloupe::cli
