// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exports of the window. Each one runs on the engine's thread and reports in the message bar.

#include <atomic>
#include <filesystem>

#include "document/document.h"

namespace quantloupe::ui {

enum class ExportKind { FileFormat, Pdf, QuantizedModel, EqualizedModel, Svg, Dot };

/// In the order in which menus and lists show them.
enum class ExportFamily { Model, Configuration, Report, Picture };
QString exportFamilyName(ExportFamily family);

struct ExportInfo {
    ExportKind kind;
    ExportFamily family;
    std::string format;  ///< of engine/interchange; empty for the other kinds
    std::string label;   ///< of the menu entry
    std::string suffix;  ///< appended to the model's name
    std::string filter;  ///< of the file dialog
    std::string tip;
};
/// One family after the other; the quantized model is the first.
const std::vector<ExportInfo>& exportKinds();

/// The preview of an export. Written by the engine's thread; read it only once it is ready.
struct ExportPreview {
    std::atomic<bool> ready = false;  ///< set last
    std::string text;                 ///< text of the main file, if it is a text file
    std::vector<std::string> notices;
};
/// Fills `result` and has the job report an empty text. `info` describes an export format.
void startPreview(Document& document, const ExportInfo& info, const std::filesystem::path& output,
                  std::shared_ptr<ExportPreview> result);

/// `path` is written through a temporary file and a rename.
void startExport(Document& document, const ExportInfo& info, const std::filesystem::path& path);

/// Several exports into one folder, each named after the model.
struct BatchExport {
    struct Entry {
        std::size_t kind = 0;  ///< index into exportKinds()
        std::filesystem::path path;
        std::vector<std::string> notices;
        QString failure;  ///< empty: it was written
    };
    std::vector<Entry> entries;
    std::atomic<std::size_t> done = 0;  ///< entries that are finished; only those may be read
};
/// The file of a kind in the folder: MODEL with the kind's ending.
std::filesystem::path exportPath(const Document& document, const ExportInfo& info,
                                 const std::filesystem::path& folder);
/// Writes all exports; a failure of one does not stop the others. The job reports an empty text at the end.
/// `batch` is filled by the engine's thread.
void startBatchExport(Document& document, std::shared_ptr<BatchExport> batch);

/// Returns the entry of a kind, or of an export format by its name.
const ExportInfo& exportInfo(ExportKind kind, const std::string& format = {});

}  // namespace quantloupe::ui
