// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as PDF: the page that engine/interchange writes as HTML, laid out on A4 in landscape format
// because the table of layers is wide.

#include <filesystem>
#include <string>

namespace quantloupe::ui {

/// Writes the report through a temporary file and a rename. `html` comes from htmlReport() for paper. Throws
/// Error if the file cannot be written. Any thread, but a QGuiApplication must exist.
void writePdfReport(const std::string& html, const std::filesystem::path& path);

}  // namespace quantloupe::ui
