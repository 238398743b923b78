// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the time of each layer from the profiles of other tools.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/precision.h"

namespace quantloupe {

struct LatencyRow {
    std::string name;                    ///< as in the file; may name several fused layers
    std::optional<Precision> precision;  ///< empty: not given in the file
    double ms = 0;                       ///< per inference, the median of the runs if there are several
};

struct LatencyFile {
    std::string format;  ///< "ONNX Runtime profile"
    std::vector<LatencyRow> rows;
    std::optional<double> networkMs;  ///< time of the whole network, if the file contains it
    std::size_t runs = 0;             ///< number of inferences; 0: unknown
    std::filesystem::path path{};     ///< for messages; empty: not from a file
};

/// Reads a file in one of these formats, recognized by its content:
/// - plain CSV: columns layer, precision (optional), and ms or us;
/// - ONNX Runtime: the JSON of SessionOptions.enable_profiling;
/// - TensorRT: the JSON of trtexec --exportProfile;
/// - Qualcomm: the CSV of qnn-profile-viewer, and that of ONNX Runtime's QNN provider;
/// - Hailo: the CSV of hailortcli run and benchmark, which only has the time of the whole network.
/// docs/cost.md describes them with their sources. Throws Error naming the file and the line or entry, also
/// if no time is above 0 or one is above 1e9 ms.
LatencyFile readLatencyFile(const std::filesystem::path& path);
LatencyFile parseLatency(std::string_view text);

}  // namespace quantloupe
