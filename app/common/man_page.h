// SPDX-License-Identifier: Apache-2.0
#pragma once
// The manual page of a program, for man.

#include <string>

#include "common/program_description.h"

namespace quantloupe {

std::string manPage(const ProgramDescription& program);

}  // namespace quantloupe
