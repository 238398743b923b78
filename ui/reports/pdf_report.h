// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as PDF: the page that engine/interchange writes as HTML, laid out on A4 across, for the wide
// table of layers.

#include <filesystem>
#include <string>

namespace quantloupe::ui {

/// `html` is what htmlReport() makes for paper. Through a temporary file and a rename. Throws Error where it
/// cannot be written. Any thread, but a QGuiApplication must be there.
void writePdfReport(const std::string& html, const std::filesystem::path& path);

}  // namespace quantloupe::ui
