// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages that several export formats share.

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/short_text.h"
#include "interchange/file_format.h"

namespace quantloupe {

struct UnitList;

/// Returns the text as a JSON string. Throws Error for text that is not UTF-8.
std::string jsonQuoted(const std::string& text);

/// Returns one notice per rule that the tool does not support: "AMCT has no skip-until rule: resolved to 14
/// layers (from A until B)". `known`: the supported kinds; `tail`: whether the tool can keep the tail in
/// float.
std::vector<std::string> ruleNotices(const ExportSource& source, std::string_view tool,
                                     const std::set<SkipKind>& known = {}, bool tail = false);
/// Returns the enabled transforms other than batch-norm folding: "equalization", "the replacement of Clip(0,
/// 6)".
std::vector<std::string> otherTransforms(const QuantizationConfig& config);
/// A notice about these transforms for formats whose files include the transformed model.
std::vector<std::string> includedTransformNotices(const QuantizationConfig& config);
/// The same for formats without a model.
std::vector<std::string> missingTransformNotices(const QuantizationConfig& config, std::string_view tool);

/// Returns notices about refinements that the tool's configuration cannot express.
std::vector<std::string> refinementNotices(const ExportSource& source, std::string_view tool);
/// Returns a notice if only inputs of weighted layers are quantized, for a tool that also quantizes outputs.
std::vector<std::string> placementNotices(const ExportSource& source, std::string_view tool);
/// Both, and roundingNotices(): for a tool that cannot express any of these.
std::vector<std::string> previewNotices(const ExportSource& source, std::string_view tool);

/// Returns a notice that names the settings in which `config` or one of its layers differs from `own`, what
/// the tool does; none if there are none. `keys`: settings that the tool's configuration cannot express, or
/// groups of them, which end with a dot.
std::vector<std::string> settingNotices(const QuantizationConfig& config, const QuantizationConfig& own,
                                        std::string_view tool, std::initializer_list<std::string_view> keys);

/// Returns a notice about settings of single layers other than being in float, for a tool that has none.
/// `bits`: also about their bits, which precisionNotices() does not list for this tool.
std::vector<std::string> layerSettingNotices(const QuantizationConfig& config, std::string_view tool,
                                             bool bits);
/// Returns the text about a script that chooses another format of the quantized model than QDQ.
std::string quantFormatNotice(std::string_view format);

/// "1 layer stays", "2 layers stay".
std::string layersStay(std::size_t count);
/// Returns a notice if the preview rounds ties as AIMET does and `tool` rounds them to even.
std::vector<std::string> roundingNotices(const QuantizationConfig& config, std::string_view tool);
/// Returns a notice if ONNX Runtime's optimized 8-bit kernels can saturate. It converts signed activations
/// between Q/DQ pairs to unsigned ones, for which its kernels saturate, but not those of integer operators.
std::vector<std::string> saturationNotices(const QuantizationConfig& config, const UnitList& units,
                                           bool integerOperators);

/// Returns a notice about layers whose biases, in float or with 16 bits, do not fit int32 in the scale of the
/// sums. ONNX Runtime's default optimizations convert them nevertheless, and clip them. Biases with 32 bits
/// have no such notice: they are clipped in the preview, too, or their layers have larger scales.
std::vector<std::string> biasNotices(const Plan& plan);

/// Returns the layers of the model that the file calls `names`. Every other name is reported in `result`,
/// with similar names.
std::vector<std::string> knownLayers(const ImportSource& source, const std::vector<std::string>& names,
                                     ImportResult& result);
/// Removes all rules, the tail setting, and the choices and precisions of single layers, for files that list
/// every float layer.
void forgetSkips(QuantizationConfig& config);
/// Removes these and all other settings of single layers except comments, for files that contain the settings
/// of every layer. `keepCalibration`: for files without calibration methods.
void forgetLayers(QuantizationConfig& config, bool keepCalibration = false);
/// Adds a rule that keeps the layers in float, and a message about it. Does nothing without layers.
void takeSkips(const std::vector<std::string>& names, ImportResult& result);

}  // namespace quantloupe
