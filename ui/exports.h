// SPDX-License-Identifier: Apache-2.0
#pragma once
// What can be written from the window. Each runs on the engine's thread and reports in the message bar.

#include <filesystem>

#include "document.h"

namespace quantloupe::ui {

enum class ExportKind { Amct, QuantizedModel, EqualizedModel, Svg, Dot };

struct ExportInfo {
    ExportKind kind;
    const char* label;   ///< of the menu entry
    const char* suffix;  ///< appended to the model's name
    const char* filter;  ///< of the file dialog
    const char* tip;
};
const std::vector<ExportInfo>& exportKinds();

/// `path` is written through a temporary file and a rename.
void startExport(Document& document, ExportKind kind, const std::filesystem::path& path);

}  // namespace quantloupe::ui
