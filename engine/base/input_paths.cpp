// SPDX-License-Identifier: Apache-2.0
#include "base/input_paths.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace quantloupe {

namespace fs = std::filesystem;

namespace {

/// Whether the readers of a data folder treat a file of this name as a sample.
bool isSample(const fs::path& file) {
    constexpr std::array<std::string_view, 6> kEndings = {".jpg", ".jpeg", ".png", ".npy", ".npz", ".pb"};
    const std::string ending = lowerCase(file.extension().string());
    return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

bool isInside(const fs::path& file, const fs::path& folder) {
    std::error_code error;
    const fs::path root = fs::canonical(folder, error);
    const fs::path place = error ? fs::path() : fs::canonical(file, error);
    const fs::path inside = error ? fs::path() : place.lexically_relative(root);
    return !inside.empty() && *inside.begin() != "..";
}

}  // namespace

fs::path placeOf(fs::path path) {
    std::error_code error;
    path = fs::absolute(path, error);
    for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links)
        path = path.parent_path() / fs::read_symlink(path, error);
    return fs::weakly_canonical(path, error);
}

bool sameFile(const fs::path& a, const fs::path& b) {
    std::error_code error;
    return fs::equivalent(a, b, error) || placeOf(a) == placeOf(b);
}

void InputPaths::add(std::string what, fs::path path) {
    if (!path.empty()) m_inputs.emplace_back(std::move(what), std::move(path));
}

void InputPaths::checkOutput(const fs::path& output) const {
    std::error_code error;
    if (output.empty() || !fs::is_regular_file(output, error)) return;  // there is no file to overwrite
    for (const auto& [what, path] : m_inputs) {
        std::error_code ignored;  // the reader of a missing input reports it
        if (fs::equivalent(output, path, ignored)) {
            if (output.lexically_normal() == path.lexically_normal())
                failInput("'{}' is {} and would be overwritten: choose another name for the output",
                          output.string(), what);
            failInput(
                "'{}' is the same file as {}, '{}', which would be overwritten: choose another name for the "
                "output",
                output.string(), what, path.string());
        }
        if (fs::is_directory(path, ignored) && isSample(output) && isInside(output, path))
            failInput(
                "'{}' is part of {}, '{}', and would be overwritten: choose another name for the output",
                output.string(), what, path.string());
    }
}

}  // namespace quantloupe
