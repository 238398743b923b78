// SPDX-License-Identifier: Apache-2.0
#pragma once
// Location of the bundled demo.

#include <filesystem>
#include <optional>

#include "document/document.h"

namespace quantloupe::ui {

/// The folder "demo" in ../share/quantloupe beside the program's folder, or in `fallback` (the source tree's
/// resources). Empty if neither has the model.
std::optional<OpenRequest> findDemo(const std::filesystem::path& fallback);

}  // namespace quantloupe::ui
