// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks for available memory before it is needed, so that the user gets a message instead of a process that
// the system kills.

#include <cstddef>
#include <optional>

namespace quantloupe {

/// Throws Error stating the required and the available memory if the process cannot allocate `bytes` now:
/// because of its address space limit (ulimit -v) or, from 64 MiB on, because the machine has less available.
/// Any thread.
void requireMemory(std::size_t bytes);

/// Returns the memory that the machine can provide without swapping, in bytes; empty if the system does not
/// report it. Any thread.
std::optional<std::size_t> availableMemory();

}  // namespace quantloupe
