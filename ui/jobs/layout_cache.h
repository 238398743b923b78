// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stores layouts that took long in the user's cache folder, so that a large network is drawn at once when it
// is opened again.

#include <filesystem>

#include "picture/picture.h"

namespace quantloupe::ui {

constexpr double kSlowLayoutSeconds = 0.05;  ///< faster layouts are not worth a file
constexpr std::size_t kMaxLayouts = 64;      ///< beyond this, the least recently read files are deleted

/// Like layoutPicture(). A cache that cannot be read or written, or is damaged, only costs time. The folder
/// is ~/.cache/<application>/layouts by default. Any thread, one at a time.
Picture layoutWithCache(const Graph& graph, const LayoutOptions& options, const CancelToken& cancel,
                        const std::filesystem::path& folder = {}, double slowSeconds = kSlowLayoutSeconds);

}  // namespace quantloupe::ui
