// SPDX-License-Identifier: Apache-2.0
#pragma once
// Guesses the format of a file from its extension and content.

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace quantloupe {

/// The extensions of the files that can be imported.
inline constexpr std::array<std::string_view, 8> kImportEndings = {".json", ".cfg", ".prototxt",  ".py",
                                                                   ".yaml", ".yml", ".encodings", ".onnx"};

/// Returns the name of an import format, "quantloupe" for Quantloupe's own configuration, or an empty string
/// if the format is not recognizable. Only a guess: the reader of the format decides whether the file is
/// valid.
std::string guessFormat(const std::filesystem::path& path, std::string_view text);
/// Like guessFormat(), for the first megabyte of the file. A file that cannot be read is judged by its
/// extension.
std::string guessFormat(const std::filesystem::path& path);

}  // namespace quantloupe
