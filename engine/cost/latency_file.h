// SPDX-License-Identifier: Apache-2.0
#pragma once
// Per-layer times as other tools record them.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/precision.h"

namespace quantloupe {

struct LatencyRow {
    std::string name;                    ///< as recorded; may name several fused layers
    std::optional<Precision> precision;  ///< empty: the file does not say
    double ms = 0;                       ///< per inference, the median of the runs if there are several
};

struct LatencyFile {
    std::string format;  ///< "ONNX Runtime profile"
    std::vector<LatencyRow> rows;
    std::optional<double> networkMs;  ///< time of the whole network, if the file has it
    std::size_t runs = 0;             ///< number of inferences; 0: unknown
};

/// Reads a file in one of these formats, recognized by its content:
/// - plain CSV: columns layer, precision (optional), and ms or us;
/// - ONNX Runtime: the JSON of SessionOptions.enable_profiling;
/// - TensorRT: the JSON of trtexec --exportProfile;
/// - Qualcomm: the CSV of qnn-profile-viewer, and that of ONNX Runtime's QNN provider;
/// - Hailo: the CSV of hailortcli run and benchmark, which only has the time of the whole network.
/// docs/cost.md describes them with their sources. Throws Error naming the file and the line or entry.
LatencyFile readLatencyFile(const std::filesystem::path& path);
LatencyFile parseLatency(std::string_view text);

}  // namespace quantloupe
