// SPDX-License-Identifier: Apache-2.0
#pragma once
// For functions of libraries that crash on damaged input.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace quantloupe {

/// Runs `work` in a fork of this process and returns its result, or nothing if it crashed, threw an exception
/// or took longer than `limit`. Nothing else that it does or prints is visible here. Can be called on any
/// thread. The fork has only the calling thread, so `work` must not take locks that other threads may hold
/// (allocating memory is fine). If the process cannot be forked, `work` runs in this process.
std::optional<std::string> callIsolated(const std::function<std::string()>& work, std::chrono::seconds limit);

}  // namespace quantloupe
