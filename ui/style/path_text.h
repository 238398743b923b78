// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <filesystem>

namespace quantloupe::ui {

/// Returns a path as the window shows it and as the command line takes it.
inline QString pathText(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

}  // namespace quantloupe::ui
