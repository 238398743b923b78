// SPDX-License-Identifier: Apache-2.0
#pragma once
// The export and import formats, one source file each, listed here for the command line and the window.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/input_paths.h"
#include "config/quantization_config.h"
#include "data/preprocess.h"
#include "results/evaluation.h"
#include "transform/prepare.h"

namespace quantloupe {

struct Plan;

/// The input of an export. Holds only values, so it can be used on any thread.
struct ExportSource {
    std::shared_ptr<const Prepared> prepared;
    QuantizationConfig config;
    /// Evaluation::layers; states are sufficient unless the format needs metrics.
    std::vector<LayerResult> layers;
    std::filesystem::path model;   ///< the source model's file
    std::filesystem::path output;  ///< path of the main file; additional files are named after it
    /// Source of the calibration samples, and how images are preprocessed; empty: not given.
    std::filesystem::path calibrationData;
    Preprocess preprocess;
    /// Session::samplesTogether(): the batches of the calibration samples.
    std::size_t samplesTogether = 1;
    std::shared_ptr<const Plan> plan;  ///< the scales; null: not calibrated
    EvaluationPtr evaluation;          ///< the results; null or incomplete if not evaluated
    /// Accuracy loss by step (Session::accuracyPath); empty: not evaluated.
    std::vector<AccuracyStep> path;
    std::vector<AccuracyStep> history;  ///< earlier evaluated configurations, oldest first; empty: unknown
    /// Notices about precisions of layers that the format does not support (interchange/export_precisions.h).
    std::vector<std::string> precisionNotices;
    bool unmigrated = false;  ///< outlier migration changes the network, but there are no samples for it
};

/// One file of an export: text or a model.
struct ExportedFile {
    /// Empty: the output itself. "/NAME": a file of this name in the same folder. Otherwise it replaces the
    /// extension of the output.
    std::string ending;
    std::string text;
    GraphPtr model;  ///< not null: an ONNX file
    bool executable = false;
};

struct ExportResult {
    std::vector<ExportedFile> files;  ///< the main file first
    /// Messages about what the format cannot express: "AMCT has no skip-until rule: resolved to 14 layers".
    std::vector<std::string> notices;
};

struct ImportSource {
    GraphPtr graph;            ///< the model that the configuration is for
    QuantizationConfig start;  ///< settings that the file does not contain are kept from here
    std::string text;          ///< the file's content
    std::filesystem::path path;
    /// The user's replacements for layer names in the file that the model does not have.
    std::map<std::string, std::string> renamed;

    /// Returns the name of the layer that the file calls `name`.
    const std::string& layerName(const std::string& name) const {
        const auto found = renamed.find(name);
        return found == renamed.end() ? name : found->second;
    }
};

struct ImportResult {
    QuantizationConfig config;
    std::vector<std::string> taken;  ///< "14 layers stay in float"
    std::vector<std::string> left;   ///< what was not imported, and why; empty: everything was imported
    /// The layers that the model does not have, by their message in `left`.
    std::map<std::string, UnknownName> unknown;

    void leave(const Error& error) {
        left.emplace_back(error.what());
        if (error.unknownName()) unknown.emplace(left.back(), *error.unknownName());
    }
};

enum class FormatNeeds {
    States,        ///< no data
    BetterScales,  ///< calibrates if calibration data is given
    Scales,        ///< needs calibration data
    Metrics,       ///< evaluates if data is given
};

/// Precisions of single layers that a format supports. They determine the source of an export
/// (interchange/gather.h).
enum class FormatPrecisions {
    Preview,      ///< all; the writer gets the configuration and the network of the preview
    Own,          ///< the writer adds its own notices
    LayerBits,    ///< the bits of each layer's weights and inputs; no float16
    Conversions,  ///< the bits of each tensor and one conversion of it; no float16
    TensorBits,   ///< the bits of each tensor; no float16, no conversions
    None,         ///< only which layers are quantized
};

/// What a format contains; menus and lists show the families in this order.
enum class FormatFamily { Model, Configuration, Report, Picture };

struct FileFormat {
    std::string name;    ///< name for --to and --from: "amct"
    std::string title;   ///< title in the menu: "AMCT configuration"
    std::string ending;  ///< ".amct.json"
    std::string what;    ///< one line: what the file contains and which tool reads it
    FormatNeeds needs = FormatNeeds::States;
    std::vector<std::string> limits;  ///< limits of the format, whatever the configuration
    /// Null if the format cannot be written or read. Both throw Error naming the layer, file, line or key and
    /// the expected value.
    ExportResult (*write)(const ExportSource&) = nullptr;
    ImportResult (*read)(const ImportSource&) = nullptr;
    FormatPrecisions precisions = FormatPrecisions::Preview;
    FormatFamily family = FormatFamily::Configuration;
    /// Contains the accuracies, with the user's metric, and their loss by step (ExportSource::path).
    bool showsAccuracy = false;
};

/// All formats, in the order of the menus.
const std::vector<FileFormat>& fileFormats();
/// Throws Error that lists the available names. `reading`: finds a format that can be read, otherwise one
/// that can be written.
const FileFormat& formatNamed(std::string_view name, bool reading);
std::vector<std::string> formatNames(bool reading);

/// Writes the format. Notices about precisions are first in the result.
ExportResult exportTo(const FileFormat& format, const ExportSource& source);

/// Returns the configuration that the tool gets: the exported text as importFile() would read it. Nothing if
/// the format cannot be read, or not this text.
std::optional<QuantizationConfig> exportedConfig(const FileFormat& format, const ExportSource& source,
                                                 const ExportResult& result);

/// Returns the path of one file of an export.
std::filesystem::path exportedPath(const std::filesystem::path& output, const std::string& ending);
/// Writes all files or none and returns their paths, the main file first. Throws Error, also if a file would
/// overwrite one of the inputs.
std::vector<std::filesystem::path> writeExport(const ExportResult& result,
                                               const std::filesystem::path& output,
                                               const InputPaths& inputs = {});
/// Reads the configuration from the file; errors name the file. Settings that the file does not contain stay
/// as in `start`, except bias correction and learned rounding, which a tool applies only if its file says so.
/// `renamed`: see ImportSource.
ImportResult importFile(const FileFormat& format, GraphPtr graph, const QuantizationConfig& start,
                        const std::filesystem::path& path,
                        const std::map<std::string, std::string>& renamed = {});

}  // namespace quantloupe
