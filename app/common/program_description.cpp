// SPDX-License-Identifier: Apache-2.0
#include "common/program_description.h"

#include "common/completions.h"
#include "common/man_page.h"

namespace quantloupe {

const std::vector<std::string>& documentKinds() {
    static const std::vector<std::string> kinds = {"man", "bash", "zsh", "fish"};
    return kinds;
}

std::string programDocument(const ProgramDescription& program, const std::string& kind) {
    if (kind == "bash") return bashCompletions(program);
    if (kind == "zsh") return zshCompletions(program);
    if (kind == "fish") return fishCompletions(program);
    return manPage(program);
}

}  // namespace quantloupe
