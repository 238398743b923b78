// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether memory can be had, asked before it is needed: libraries that generate code crash where it cannot.

#include <cstddef>

namespace quantloupe {

/// Throws Error saying what is needed and what is free, if the process cannot take so many bytes now: because of its limit of
/// address space (ulimit -v), or, from 64 MiB on, because the machine has less available. Any thread.
void requireMemory(std::size_t bytes);

}  // namespace quantloupe
