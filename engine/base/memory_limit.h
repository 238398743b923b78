// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks for available memory before it is needed, so that the user gets a message instead of a process that
// the system kills.

#include <cstddef>
#include <optional>
#include <string>

#include "base/error.h"

namespace quantloupe {

/// Thrown if there is not enough memory. A session then frees its caches and tries again.
class OutOfMemory : public Error {
  public:
    explicit OutOfMemory(const std::string& message) : Error(ErrorKind::Unsupported, message) {}
};

/// Throws OutOfMemory stating the required and the available memory if the process cannot allocate `bytes`
/// now: because of its address space limit (ulimit -v) or, from 64 MiB on, because the machine or its
/// container has less available. Any thread.
void requireMemory(std::size_t bytes);

/// Returns the bytes that the process can get without swapping, within the limits of its address space and of
/// its container (control groups, version 2); empty if the system does not report them. Any thread.
std::optional<std::size_t> availableMemory();

}  // namespace quantloupe
