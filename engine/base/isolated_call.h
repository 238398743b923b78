// SPDX-License-Identifier: Apache-2.0
#pragma once
// For functions of libraries that crash on damaged input.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace quantloupe {

/// Calls `work` in a copy of this process, and returns its result. Returns nothing if `work` crashed, threw,
/// or took longer than `limit`. Its other effects are lost, and so is what it prints. Any thread. Other
/// threads do not exist in the copy, so `work` must not wait for a lock that one of them can hold (allocating
/// memory is fine). Calls `work` in this process if the system cannot make a copy.
std::optional<std::string> callIsolated(const std::function<std::string()>& work, std::chrono::seconds limit);

}  // namespace quantloupe
