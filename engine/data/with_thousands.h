// SPDX-License-Identifier: Apache-2.0
#pragma once
// Large numbers for people to read.

#include <cstddef>
#include <string>

namespace quantloupe {

/// "12,345", whatever the locale.
std::string withThousands(std::size_t number);

}  // namespace quantloupe
