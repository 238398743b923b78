// SPDX-License-Identifier: Apache-2.0
#include "common/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/program_version.h"

namespace quantloupe {
namespace {

/// Text for groff: no escapes, no requests at the start of a line, and hyphens that can be searched for and
/// copied.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else
            result += c;
    }
    if (result.starts_with('.') || result.starts_with('\'')) result.insert(0, "\\&");
    return result;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

/// "int8|uint8" as alternatives, "PATH" as a placeholder.
std::string valueOf(const OptionDescription& option) {
    std::string result;
    for (std::size_t from = 0; from <= option.value.size();) {
        const std::size_t to = std::min(option.value.find('|', from), option.value.size());
        const std::string part = option.value.substr(from, to - from);
        const bool literal = !part.empty() && std::islower(static_cast<unsigned char>(part[0])) != 0;
        if (from > 0) result += '|';
        result += literal ? bold(part) : italic(part);
        from = to + 1;
    }
    return result;
}

/// `literals`: values that keep their case.
std::string sentence(std::string text, const std::vector<std::string>& literals = {}) {
    const std::string first = text.substr(0, text.find_first_of(" ,:"));
    if (!text.empty() && std::find(literals.begin(), literals.end(), first) == literals.end())
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text.ends_with('.') ? text : text + '.';
}

/// The options of all commands. Each is listed once, with the commands that have it unless all do.
struct SharedOption {
    const OptionDescription* option;
    std::vector<std::string> commands;
};
std::vector<SharedOption> sharedOptions(const ProgramDescription& program) {
    std::vector<SharedOption> list;
    for (const CommandDescription& command : program.commands)
        for (const OptionDescription& option : command.options) {
            const auto same = [&](const SharedOption& known) {
                return known.option->names == option.names && known.option->value == option.value &&
                       known.option->help == option.help;
            };
            auto found = std::find_if(list.begin(), list.end(), same);
            if (found == list.end()) found = list.insert(list.end(), {&option, {}});
            found->commands.push_back(command.name);
        }
    return list;
}

void addOption(std::string& page, const OptionDescription& option, const std::string& only = {}) {
    page += ".TP\n";
    for (std::size_t i = 0; i < option.names.size(); ++i) page += (i > 0 ? ", " : "") + bold(option.names[i]);
    if (!option.value.empty()) page += ' ' + valueOf(option);
    page += '\n' + escaped(sentence(option.help, option.choices)) + '\n';
    if (!only.empty()) page += fmt::format("Commands: {}.\n", only);
}

void addPairs(std::string& page, const char* title,
              const std::vector<std::pair<std::string, std::string>>& pairs) {
    if (pairs.empty()) return;
    page += fmt::format(".SH {}\n", title);
    for (const auto& [name, text] : pairs)
        page += fmt::format(".TP\n{}\n{}\n", bold(name), escaped(sentence(text)));
}

void addSynopsis(std::string& page, const ProgramDescription& program) {
    page += ".SH SYNOPSIS\n";
    if (program.commands.empty()) {
        page += bold(program.name) + " [" + italic("OPTION") + "]...";
        for (const OptionDescription& positional : program.positionals)
            page += " [" + italic(positional.names.front()) + "]";
        page += '\n';
    }
    for (const CommandDescription& command : program.commands) {
        page += bold(program.name + ' ' + command.name);
        for (const OptionDescription& positional : command.positionals)
            page += ' ' + italic(positional.names.front());
        for (const OptionDescription& option : command.options)
            if (option.required) page += ' ' + bold(option.names.back()) + ' ' + valueOf(option);
        page += " [" + italic("OPTION") + "]...\n.br\n";
    }
}

std::string joined(const std::vector<std::string>& names) {
    std::string result;
    for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
    return result;
}

}  // namespace

std::string manPage(const ProgramDescription& program) {
    std::string name = program.name;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    std::string page =
        fmt::format(".TH {} 1 \"\" \"Quantloupe {}\" \"User Commands\"\n", escaped(name), versionNumber());
    page += ".SH NAME\n" + escaped(program.name) + " \\- " + escaped(program.summary) + '\n';
    addSynopsis(page, program);
    if (!program.commands.empty()) {
        page += ".SH COMMANDS\n";
        for (const CommandDescription& command : program.commands)
            page += fmt::format(".TP\n{}\n{}\n", bold(command.name), escaped(sentence(command.help)));
    }
    page += ".SH OPTIONS\n";
    for (const OptionDescription& positional : program.positionals) addOption(page, positional);
    for (const OptionDescription& option : program.options) addOption(page, option);
    for (const auto& [option, commands] : sharedOptions(program))
        if (option->names.back() != "--help")  // listed with the options of the program
            addOption(page, *option, commands.size() == program.commands.size() ? "" : joined(commands));
    addPairs(page, "EXIT STATUS", program.exitCodes);
    addPairs(page, "ENVIRONMENT", program.environment);
    if (!program.examples.empty()) page += ".SH EXAMPLES\n";
    for (const auto& [what, command] : program.examples)
        page += fmt::format("{}\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n.PP\n", escaped(what), escaped(command));
    if (!program.seeAlso.empty()) page += ".SH SEE ALSO\n" + escaped(program.seeAlso) + '\n';
    return page;
}

}  // namespace quantloupe
