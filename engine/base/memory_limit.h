// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks for available memory before it is needed, because libraries that generate code crash if an
// allocation fails.

#include <cstddef>

namespace quantloupe {

/// Throws Error stating the required and the available memory if the process cannot allocate `bytes` now:
/// because of its address space limit (ulimit -v) or, from 64 MiB on, because the machine has less available.
/// Any thread.
void requireMemory(std::size_t bytes);

}  // namespace quantloupe
