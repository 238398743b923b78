// SPDX-License-Identifier: Apache-2.0
#pragma once
// A project: what the person works on, in one file (.quantloupe, JSON). It names model and data, and holds the
// configuration and the results of all that were measured.
//
// Paths are stored relative to the file where model and data lie on the same branch of the file system, so a folder
// with all of it can be moved. The model's layers are stored too: a model that changed since is noticed, and its layers
// are found again (layer_match.h).

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "config/quantization_config.h"
#include "data/preprocess.h"
#include "session/evaluation.h"
#include "session/layer_signature.h"

namespace quantloupe {

/// What a configuration leaves in float, and of how much.
struct FloatCost {
    std::uint64_t macs = 0, totalMacs = 0;    ///< of one sample; of all layers that are not quantized
    std::uint64_t bytes = 0, totalBytes = 0;  ///< of weights as float32, likewise
    std::string macsReason = {};              ///< why the MACs are not known; empty if they are
    bool operator==(const FloatCost&) const = default;
};
FloatCost floatCostOf(const std::vector<LayerResult>& layers);

/// One configuration that was evaluated, and what came out.
struct MeasuredConfig {
    std::string version;  ///< of model, data and configuration (Evaluation::version), as hexadecimal text
    QuantizationConfig config;
    std::string change;      ///< what the person did to get here: "Skip Conv_3"
    std::string measuredAt;  ///< UTC, "2024-05-01T12:00:00Z"; may be empty
    double seconds = 0;      ///< that the evaluation took
    Accuracy floating, quantized;
    StateCounts counts;
    std::optional<FloatCost> cost = std::nullopt;  ///< files of before it was kept have none
    std::string name = {}, note = {};              ///< what the person calls it, and says of it
    bool otherModel = false;  ///< measured on the model before it changed
};
/// Of a complete evaluation with an accuracy; nothing otherwise.
std::optional<MeasuredConfig> measuredConfig(const Evaluation& evaluation, std::string change);

struct Project {
    std::filesystem::path model;
    Version modelVersion;                ///< hash of its content (Graph::version())
    std::vector<LayerSignature> layers;  ///< of the model, in graph order
    std::filesystem::path data, calibration;  ///< may be empty
    std::optional<Preprocess> preprocess;     ///< nothing: as the file beside the model says
    QuantizationConfig config;
    std::vector<MeasuredConfig> history;  ///< oldest first, each version once
    std::string baseline;                 ///< version of the pinned configuration; empty: none
    std::string view = "{}";              ///< what the window wants to remember: any JSON object
};

/// The text of the file; `file` is where it will lie, which decides how paths are stored. Throws Error where a text is
/// not valid UTF-8.
std::string projectToJson(const Project& project, const std::filesystem::path& file);
/// The reverse. Throws Error naming the key that is unknown, doubled, missing or has a wrong value, and for files of a
/// newer format. Whether model and data are there is not looked at.
Project projectFromJson(std::string_view text, const std::filesystem::path& file);

/// Writes through a temporary file and a rename. Throws Error naming the file.
void saveProject(const Project& project, const std::filesystem::path& file);
Project loadProject(const std::filesystem::path& file);

}  // namespace quantloupe
