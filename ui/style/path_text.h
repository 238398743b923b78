// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <filesystem>
#include <string_view>

namespace quantloupe::ui {

/// Returns a path as the window shows it and as the command line takes it.
inline QString pathText(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

/// Returns a text of the engine, which is UTF-8.
inline QString viewText(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace quantloupe::ui
