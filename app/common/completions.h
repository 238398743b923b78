// SPDX-License-Identifier: Apache-2.0
#pragma once
// Completion scripts for shells. They complete commands, options, listed values and files.

#include <string>

#include "common/program_description.h"

namespace quantloupe {

std::string bashCompletions(const ProgramDescription& program);
std::string zshCompletions(const ProgramDescription& program);
std::string fishCompletions(const ProgramDescription& program);

}  // namespace quantloupe
