// SPDX-License-Identifier: Apache-2.0
#pragma once
// The foreign formats: one file a dialect, listed here for the command line and the window.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/input_paths.h"
#include "config/quantization_config.h"
#include "data/preprocess.h"
#include "session/evaluation.h"
#include "transform/prepare.h"

namespace quantloupe {

struct Plan;

/// What an export tells of. Values only: any thread.
struct ExportSource {
    std::shared_ptr<const Prepared> prepared;
    QuantizationConfig config;
    std::vector<LayerResult> layers;  ///< Evaluation::layers; states are enough but for dialects that want metrics
    std::filesystem::path model;      ///< the source's file
    std::filesystem::path output;     ///< where the main file will be: companions are named after it
    /// Where the calibration samples came from, and how images become inputs; empty: not given.
    std::filesystem::path calibrationData;
    Preprocess preprocess;
    std::shared_ptr<const Plan> plan;  ///< the scales; null: nothing was calibrated
    EvaluationPtr evaluation;          ///< the numbers; null, or as far as they are known
    std::vector<AccuracyStep> path;     ///< where the accuracy went (Session::accuracyPath); empty: not measured
    std::vector<AccuracyStep> history;  ///< what was measured on the way here, oldest first; empty: not known
};

/// One file of an export: text or a model.
struct ExportedFile {
    /// Empty: the output itself. "/NAME": a file of this name beside it. Otherwise it stands in place of the output's own ending.
    std::string ending;
    std::string text;
    GraphPtr model;  ///< not null: an ONNX file
    bool executable = false;
};

struct ExportResult {
    std::vector<ExportedFile> files;  ///< the main one first
    /// What the dialect cannot express, in words: "AMCT has no leave-until rule: resolved to 14 layers".
    std::vector<std::string> notices;
};

struct ImportSource {
    GraphPtr graph;            ///< the model that the configuration is for
    QuantizationConfig start;  ///< what the foreign file does not speak of stays as it is here
    std::string text;          ///< the file's content
    std::filesystem::path path;
};

struct ImportResult {
    QuantizationConfig config;
    std::vector<std::string> taken;  ///< "14 layers stay in float"
    std::vector<std::string> left;   ///< what was not taken over, and why; empty: everything was
};

enum class DialectNeeds {
    States,        ///< no data
    BetterScales,  ///< calibrates where calibration data is given
    Scales,        ///< makes no sense without calibration data
    Metrics,       ///< evaluates where data is given
};

struct Dialect {
    std::string name;    ///< of --to and --from: "amct"
    std::string title;   ///< of the menu: "AMCT configuration"
    std::string ending;  ///< ".amct.json"
    std::string what;    ///< one line: what the file is and who reads it
    DialectNeeds needs = DialectNeeds::States;
    std::vector<std::string> limits;  ///< what it can never express, in words
    /// Null where it is not written, not read. Throw Error naming the layer, or file, line or key and what was expected.
    ExportResult (*write)(const ExportSource&) = nullptr;
    ImportResult (*read)(const ImportSource&) = nullptr;
};

/// In the order in which they are offered.
const std::vector<Dialect>& dialects();
/// Throws Error with the names there are. `reading`: one that can be read, otherwise one that can be written.
const Dialect& dialectNamed(const std::string& name, bool reading);
std::vector<std::string> dialectNames(bool reading);

/// The path of one file of an export.
std::filesystem::path exportedPath(const std::filesystem::path& output, const std::string& ending);
/// Writes all files or none. Returns their paths, the main one first. Throws Error, also if one of them would overwrite one of the
/// inputs.
std::vector<std::filesystem::path> writeExport(const ExportResult& result, const std::filesystem::path& output,
                                               const InputPaths& inputs = {});
/// Reads the file and the configuration in it; errors name the file. Names that the file gives to layers are read as those that
/// `renamed` has for them.
ImportResult importFile(const Dialect& dialect, GraphPtr graph, const QuantizationConfig& start, const std::filesystem::path& path,
                        const std::map<std::string, std::string>& renamed = {});
/// The text with other names in place of those that `renamed` knows, where they stand as a whole: in quotes, or between blanks and
/// the punctuation of lists and keys. All at once: two names can be exchanged.
std::string withNames(const std::string& text, const std::map<std::string, std::string>& renamed);

}  // namespace quantloupe
