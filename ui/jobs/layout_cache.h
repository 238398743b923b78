// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layouts that took long are kept in the user's cache folder, so that a large network is drawn at once when
// it is opened again.

#include <filesystem>

#include "picture/picture.h"

namespace quantloupe::ui {

constexpr double kSlowLayoutSeconds = 0.05;  ///< quicker ones are not worth a file
constexpr std::size_t kMaxLayouts = 64;      ///< then the files that were not read for longest go

/// As layoutPicture(). A cache that cannot be read or written, or is damaged, changes nothing but the time.
/// The folder is ~/.cache/<application>/layouts by default. Any thread, one at a time.
Picture layoutWithCache(const Graph& graph, const LayoutOptions& options, const CancelToken& cancel,
                        const std::filesystem::path& folder = {}, double slowSeconds = kSlowLayoutSeconds);

}  // namespace quantloupe::ui
