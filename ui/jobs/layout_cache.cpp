// SPDX-License-Identifier: Apache-2.0
#include "jobs/layout_cache.h"

#include <QElapsedTimer>
#include <QStandardPaths>
#include <algorithm>
#include <vector>

#include "base/atomic_file.h"
#include "picture/place_picture.h"

namespace quantloupe::ui {

namespace {

void prune(const std::filesystem::path& folder) {
    std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.is_regular_file()) files.emplace_back(entry.last_write_time(), entry.path());
    if (files.size() <= kMaxLayouts) return;
    std::ranges::sort(files);
    for (std::size_t i = 0; i + kMaxLayouts < files.size(); ++i) std::filesystem::remove(files[i].second);
}

}  // namespace

Picture layoutWithCache(const Graph& graph, const LayoutOptions& options, const CancelToken& cancel,
                        const std::filesystem::path& chosen, double slowSeconds) {
    Picture picture = describePicture(graph, options);
    const std::filesystem::path folder =
        !chosen.empty() ? chosen
                        : std::filesystem::path(
                              QStandardPaths::writableLocation(QStandardPaths::CacheLocation).toStdString()) /
                              "layouts";
    const std::filesystem::path file = folder / (placesKey(picture, options).hex() + ".places");
    std::error_code ignored;
    try {
        if (std::filesystem::exists(file, ignored) && readPlaces(readFile(file), picture)) {
            std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now(), ignored);
            return picture;
        }
    } catch (const std::exception&) {  // as if there were none
    }
    QElapsedTimer timer;
    timer.start();
    placePicture(picture, options, cancel);
    if (static_cast<double>(timer.elapsed()) < slowSeconds * 1000) return picture;
    try {
        std::filesystem::create_directories(folder);
        writeFileAtomically(file, writePlaces(picture));
        prune(folder);
    } catch (const std::exception&) {  // the graph is drawn even if the disk is full
    }
    return picture;
}

}  // namespace quantloupe::ui
