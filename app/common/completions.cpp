// SPDX-License-Identifier: Apache-2.0
#include "common/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace quantloupe {
namespace {

std::string replaced(std::string text, char c, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(c, at)) != std::string::npos; at += with.size())
        text.replace(at, 1, with);
    return text;
}

/// The name of the shell function: "_quantloupe_cli".
std::string functionName(const ProgramDescription& program) { return "_" + replaced(program.name, '-', "_"); }

std::vector<std::string> namesOf(const std::vector<OptionDescription>& options) {
    std::vector<std::string> names;
    for (const OptionDescription& option : options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

/// Returns the action of bash after an option with a value.
std::string bashAction(const OptionDescription& option) {
    if (!option.choices.empty()) return fmt::format("_quantloupe_words '{}'", fmt::join(option.choices, " "));
    return option.takesFile() ? "_quantloupe_files" : ":";
}

/// Lines "COMMAND:--option) action ;;" for all options with a value. The command is "*" if the action is the
/// same for all commands that have the option.
std::string bashValues(const ProgramDescription& program) {
    std::map<std::string, std::map<std::string, std::string>> actions;  // option, command -> action
    const auto add = [&](const std::string& command, const std::vector<OptionDescription>& options) {
        for (const OptionDescription& option : options)
            for (const std::string& name : option.names)
                if (!option.value.empty()) actions[name][command] = bashAction(option);
    };
    add("", program.options);
    for (const CommandDescription& command : program.commands) add(command.name, command.options);
    std::string lines;
    for (const auto& [option, ofCommands] : actions) {
        std::set<std::string> different;
        for (const auto& [command, action] : ofCommands) different.insert(action);
        if (different.size() == 1) {
            lines += fmt::format("        *:{}) {}; return ;;\n", option, *different.begin());
            continue;
        }
        for (const auto& [command, action] : ofCommands)
            lines += fmt::format("        {}:{}) {}; return ;;\n", command, option, action);
    }
    return lines;
}

std::string singleQuoted(const std::string& text) { return "'" + replaced(text, '\'', "'\\''") + "'"; }

/// A text inside the brackets of an option of zsh's _arguments.
std::string zshText(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '\\' || c == '[' || c == ']' || c == ':') result += '\\';
        result += c;
    }
    return result;
}

std::string zshValue(const OptionDescription& option) {
    if (option.value.empty()) return {};
    const std::string title = ":" + zshText(option.choices.empty() ? option.value : "value") + ":";
    if (!option.choices.empty()) return title + fmt::format("({})", fmt::join(option.choices, " "));
    return option.takesFile() ? title + "_files" : title;
}

std::string zshArguments(const std::vector<OptionDescription>& positionals,
                         const std::vector<OptionDescription>& options, const std::string& indent) {
    std::string lines = indent + "_arguments";
    for (const OptionDescription& option : options)
        for (const std::string& name : option.names)
            lines += " \\\n" + indent + "    " +
                     singleQuoted(fmt::format("*{}[{}]{}", name, zshText(option.help), zshValue(option)));
    for (std::size_t i = 0; i < positionals.size(); ++i)
        lines += " \\\n" + indent + "    " +
                 singleQuoted(fmt::format("{}:{}:_files", i + 1, zshText(positionals[i].help)));
    return lines + '\n';
}

std::string fishText(const std::string& text) {
    return "'" + replaced(replaced(text, '\\', "\\\\"), '\'', "\\'") + "'";
}

std::string fishOption(const ProgramDescription& program, const std::string& condition,
                       const OptionDescription& option) {
    std::string line = "complete -c " + program.name;
    if (!condition.empty()) line += " -n " + fishText(condition);
    for (const std::string& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.choices.empty())
        line += " -x -a " + fishText(fmt::format("{}", fmt::join(option.choices, " ")));
    else if (option.takesFile())
        line += " -r -F";
    else if (!option.value.empty())
        line += " -x";
    return line + " -d " + fishText(option.help) + '\n';
}

}  // namespace

std::string bashCompletions(const ProgramDescription& program) {
    const std::string function = functionName(program);
    std::string text = fmt::format("# Completions of {} for bash.\n{}() {{\n", program.name, function);
    text +=
        "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} "
        "command=${COMP_WORDS[1]}\n"
        "    _quantloupe_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\"); }\n"
        "    _quantloupe_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "
        "\"$word\"); "
        "}\n"
        "    COMPREPLY=()\n"
        "    case \"$command:$previous\" in\n" +
        bashValues(program) + "    esac\n";
    const std::string own = fmt::format("{}", fmt::join(namesOf(program.options), " "));
    if (program.commands.empty()) {
        text += fmt::format(
            "    if [[ $word == -* ]]; then _quantloupe_words '{}'; else _quantloupe_files; fi\n", own);
    } else {
        std::vector<std::string> commands;
        for (const CommandDescription& command : program.commands) commands.push_back(command.name);
        text += fmt::format(
            "    if ((COMP_CWORD == 1)); then _quantloupe_words '{} {}'; return; fi\n"
            "    if [[ $word != -* ]]; then _quantloupe_files; return; fi\n    case $command in\n",
            fmt::join(commands, " "), own);
        for (const CommandDescription& command : program.commands)
            text += fmt::format("        {}) _quantloupe_words '{}' ;;\n", command.name,
                                fmt::join(namesOf(command.options), " "));
        text += "    esac\n";
    }
    return text + fmt::format("}}\ncomplete -F {} {}\n", function, program.name);
}

std::string zshCompletions(const ProgramDescription& program) {
    const std::string function = functionName(program);
    std::string text =
        fmt::format("#compdef {0}\n# Completions of {0} for zsh.\n{1}() {{\n", program.name, function);
    if (program.commands.empty()) {
        text += zshArguments(program.positionals, program.options, "    ");
    } else {
        text += "    if ((CURRENT == 2)); then\n        local -a commands=(\n";
        for (const CommandDescription& command : program.commands)
            text += "            " + singleQuoted(command.name + ":" + zshText(command.help)) + '\n';
        text += "        )\n        _describe command commands\n" +
                zshArguments({}, program.options, "        ") +
                "        return\n    fi\n"
                "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n    case $command in\n";
        for (const CommandDescription& command : program.commands)
            text += fmt::format("    {})\n{}        ;;\n", command.name,
                                zshArguments(command.positionals, command.options, "        "));
        text += "    esac\n";
    }
    // Works as an autoloaded file of $fpath and when it is sourced.
    return text +
           fmt::format("}}\nif [ \"$funcstack[1]\" = \"_{0}\" ]; then {1} \"$@\"; else compdef {1} {0}; fi\n",
                       program.name, function);
}

std::string fishCompletions(const ProgramDescription& program) {
    std::string text = fmt::format("# Completions of {} for fish.\n", program.name);
    const std::string outside = program.commands.empty() ? "" : "__fish_use_subcommand";
    for (const OptionDescription& option : program.options) text += fishOption(program, outside, option);
    for (const CommandDescription& command : program.commands) {
        text += fmt::format("complete -c {} -n {} -f -a {} -d {}\n", program.name, outside, command.name,
                            fishText(command.help));
        for (const OptionDescription& option : command.options)
            text += fishOption(program, "__fish_seen_subcommand_from " + command.name, option);
    }
    return text;
}

}  // namespace quantloupe
