// SPDX-License-Identifier: Apache-2.0
#pragma once
// Formatting of large numbers.

#include <cstddef>
#include <string>

namespace quantloupe {

/// Returns "12,345" in any locale.
std::string withThousands(std::size_t number);

}  // namespace quantloupe
