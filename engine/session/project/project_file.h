// SPDX-License-Identifier: Apache-2.0
#pragma once
// Project file (.quantloupe, JSON): the user's work in one file. It refers to the model and the data, and
// contains the configuration and the results of all evaluated configurations.
//
// Paths are stored relative to the file if possible, so that a folder with all files can be moved. The
// model's layers are stored, too, so that a changed model is noticed and its layers are matched
// (layer_match.h).

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "config/quantization_config.h"
#include "cost/latency_table.h"
#include "data/preprocess.h"
#include "data/task_settings.h"
#include "results/evaluation.h"
#include "session/caches/layer_signature.h"

namespace quantloupe {

/// Cost of the layers that a configuration leaves in float, and of all layers.
struct FloatCost {
    std::uint64_t macs = 0, totalMacs = 0;    ///< per sample
    std::uint64_t bytes = 0, totalBytes = 0;  ///< of the weights as float32
    std::string macsReason = {};              ///< why the MACs are unknown; empty if they are known
    bool operator==(const FloatCost&) const = default;
};
FloatCost floatCostOf(const std::vector<LayerResult>& layers);

/// An evaluated configuration and its results.
struct MeasuredConfig {
    std::string version;  ///< of model, data and configuration (Evaluation::version), as hexadecimal text
    QuantizationConfig config;
    std::string change;      ///< the user's edit that led to it: "Skip Conv_3"
    std::string measuredAt;  ///< UTC, "2024-05-01T12:00:00Z"; may be empty
    double seconds = 0;      ///< duration of the evaluation
    Accuracy floating, quantized;
    StateCounts counts;
    std::optional<FloatCost> cost = std::nullopt;  ///< empty in files of older versions
    std::string name = {}, note = {};              ///< given by the user
    bool otherModel = false;                       ///< evaluated before the model changed
    std::string data = {};  ///< Evaluation::data as hexadecimal text; empty in files of older versions
};
/// Converts an evaluation with a final accuracy; empty for others. The metrics of layers may be missing.
std::optional<MeasuredConfig> measuredConfig(const Evaluation& evaluation, std::string change);

struct Project {
    std::filesystem::path model;
    Version modelVersion;                     ///< hash of its content (Graph::version())
    std::vector<LayerSignature> layers;       ///< of the model, in graph order
    std::filesystem::path data, calibration;  ///< may be empty
    std::optional<Preprocess> preprocess;     ///< empty: from the preprocessing file next to the model
    TaskSettings task;                        ///< labels of the evaluation data, and the decoder
    QuantizationConfig config;
    std::vector<MeasuredConfig> history;  ///< oldest first, each version once
    std::vector<LatencySource> latency;   ///< profiles, in the order in which they were added
    std::string baseline;                 ///< version of the pinned configuration; empty: none
    std::string view = "{}";              ///< state of the window, any JSON object
};

/// Returns the contents of the file. `file` is its future path, which decides how paths are stored. Throws
/// Error if a string is not valid UTF-8.
std::string projectToJson(const Project& project, const std::filesystem::path& file);
/// Parses the contents of a file. Throws Error naming a key that is unknown, duplicate, missing or has an
/// invalid value, and for files of a newer format. Does not check whether model and data exist.
Project projectFromJson(std::string_view text, const std::filesystem::path& file);

/// Writes through a temporary file and a rename. Throws Error naming the file.
void saveProject(const Project& project, const std::filesystem::path& file);
Project loadProject(const std::filesystem::path& file);

}  // namespace quantloupe
