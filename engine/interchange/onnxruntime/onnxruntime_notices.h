// SPDX-License-Identifier: Apache-2.0
#pragma once
// Notices about what ONNX Runtime's quantize_static cannot express. Internal to the export.

#include <set>
#include <string>
#include <vector>

#include "interchange/file_format.h"

namespace quantloupe {

/// What the script for ONNX Runtime does differently from the preview, by name.
struct SchemeLosses {
    std::vector<std::string> oddWeights;      ///< layers whose weights have other widths than 4, 8 and 16
    std::vector<std::string> oddActivations;  ///< the same for tensors
    std::vector<std::string> unknownBiases;   ///< layers that stay in float because of their bias
    std::set<std::string> leftConversions;    ///< tensors with another conversion
    std::set<std::string> unequalReaders;     ///< tensors that layers read with different quantizers
    std::vector<std::string> leftLayers;      ///< layers that follow an input that is quantized later
    std::size_t uncalibrated = 0;             ///< number of tensors with another calibration method
};

/// Returns whether ONNX Runtime has a type of this width.
constexpr bool isOwnWidth(int bits) { return bits == 4 || bits == 8 || bits == 16; }
/// The same for activations: quantize_static accepts 4 bits, but ONNX Runtime has no kernels for them.
constexpr bool isOwnActivationWidth(int bits) { return bits == 8 || bits == 16; }

/// Returns the notices about `losses` and about settings of the whole network.
std::vector<std::string> schemeNotices(const ExportSource& source, const SchemeLosses& losses);

}  // namespace quantloupe
