// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of a program as data. Man pages and shell completions are written from it, and it is taken
// from the tables that also define how the options are read. So none of them can differ from what the program
// accepts.

#include <string>
#include <vector>

namespace quantloupe {

struct OptionDescription {
    std::vector<std::string> names;  ///< "-o", "--output"; one name without dashes for a positional argument
    std::string value;               ///< "PATH", "N", "int8|uint8"; empty: takes no value
    std::vector<std::string> choices;  ///< all values, or empty if there are others
    std::string help;                  ///< one sentence without full stop
    bool required = false;
    bool takesFile() const {
        return value == "PATH" || value == "FILE" || value == "DATA" || value == "FILE.png";
    }
};

struct CommandDescription {
    std::string name;
    std::string help;
    std::vector<OptionDescription> positionals;
    std::vector<OptionDescription> options;
};

struct ProgramDescription {
    std::string name;
    std::string summary;  ///< one sentence without full stop
    std::vector<OptionDescription> positionals;
    std::vector<OptionDescription> options;    ///< before the command, or of a program without commands
    std::vector<CommandDescription> commands;  ///< empty: the program has none
    std::vector<std::pair<std::string, std::string>> exitCodes;
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<std::pair<std::string, std::string>> examples;  ///< what for, command line
    std::string seeAlso;                                        ///< "quantloupe-cli(1)"
};

/// The values of --document: "man", "bash", "zsh", "fish".
const std::vector<std::string>& documentKinds();
/// Writes the manual page or the completions of one shell. `kind` is one of documentKinds().
std::string programDocument(const ProgramDescription& program, const std::string& kind);

}  // namespace quantloupe
