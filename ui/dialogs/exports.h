// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exports of the window. Each one runs on the engine's thread and reports in the message bar.

#include <atomic>
#include <filesystem>

#include "document/document.h"
#include "interchange/file_format.h"

namespace quantloupe::ui {

enum class ExportKind { FileFormat, Pdf, QuantizedModel, EqualizedModel, Svg, Dot };

QString formatFamilyName(FormatFamily family);

struct ExportInfo {
    ExportKind kind;
    FormatFamily family;
    std::string format;  ///< name of a format in engine/interchange; empty for other kinds
    std::string title;   ///< the menu entry without its ellipsis
    std::string suffix;  ///< appended to the model's name
    std::string filter;  ///< of the file dialog
    std::string tip;
};
/// All exports, family by family; the quantized model is the first.
const std::vector<ExportInfo>& exportKinds();

/// The preview of an export. Written by the engine's thread; read it only after `ready` is set.
struct ExportPreview {
    std::atomic<bool> ready = false;  ///< set last
    std::string failure;              ///< why there is no preview; empty otherwise
    std::string text;                 ///< text of the main file, if it is a text file
    std::vector<std::string> notices;
    /// The configuration that the tool will use instead, if the text can be read back and differs. Layers
    /// that stay in float for another reason than before, as a layer instead of by a rule, do not count as a
    /// difference.
    std::optional<QuantizationConfig> changed;
};
/// Fills `result`, also if the export fails; the job then reports an empty text. `info` describes an export
/// format. Returns the token for EvaluationJob::cancelExport().
CancelToken startPreview(Document& document, const ExportInfo& info, const std::filesystem::path& output,
                         const std::shared_ptr<ExportPreview>& result);

/// Writes an export to `path`, through a temporary file and a rename.
void startExport(Document& document, const ExportInfo& info, const std::filesystem::path& path);

/// Several exports into one folder, each named after the model.
struct BatchExport {
    struct Entry {
        std::size_t kind = 0;  ///< index into exportKinds()
        std::filesystem::path path;
        std::vector<std::string> notices;
        QString failure;  ///< empty: the file was written
    };
    std::vector<Entry> entries;
    std::atomic<std::size_t> done = 0;  ///< number of finished entries; only these may be read
};
/// Returns the file of an export in the folder: the name of the model with the suffix of the export.
std::filesystem::path exportPath(const Document& document, const ExportInfo& info,
                                 const std::filesystem::path& folder);
/// Writes all exports; if one fails, the others continue. The job reports an empty text at the end. The
/// engine's thread fills `batch`.
void startBatchExport(Document& document, const std::shared_ptr<BatchExport>& batch);

/// Returns the entry of a kind, or of an export format by its name.
const ExportInfo& exportInfo(ExportKind kind, const std::string& format = {});

}  // namespace quantloupe::ui
