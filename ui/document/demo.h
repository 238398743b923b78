// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the bundled demo.

#include <filesystem>
#include <optional>

#include "document/document.h"

namespace quantloupe::ui {

/// Looks for the folder "demo" in ../share/quantloupe relative to the program, then in `fallback` (the
/// resources of the source tree). Empty if neither contains the model.
std::optional<OpenRequest> findDemo(const std::filesystem::path& fallback);
/// Returns whether this is the model of a bundled demo, next to which nothing should be written.
bool isDemo(const std::filesystem::path& model);

}  // namespace quantloupe::ui
