// SPDX-License-Identifier: Apache-2.0
#pragma once
// Python source for exported scripts: literals, and the calibration data reader that the scripts share.

#include <string>
#include <vector>

#include "interchange/file_format.h"

namespace quantloupe {

/// A string literal in double quotes, escaped. Throws Error for text that is not UTF-8.
std::string pythonString(const std::string& text);
/// The same without the quotes, for a docstring.
std::string inDocstring(const std::string& text);
/// "True" or "False".
std::string_view pythonBool(bool value);
/// A float literal that parses to the same number: "0.1", "1e-07", "1.0".
std::string pythonFloat(double value);
/// The same for float32.
std::string pythonFloat32(float value);
/// "[1.0, 2.0]".
std::string pythonFloats(const std::vector<float>& values);
/// A list of strings, one per line, indented by four spaces more than `indent`; "[]" if there are none.
std::string pythonNames(const std::vector<std::string>& names, int indent = 0);

/// Defines `samples(model, data, most)`, which yields one dictionary of inputs per sample, preprocessed as in
/// Quantloupe, for at most `most` evenly spread samples, and `class Reader`. The script must import pathlib,
/// numpy as np, onnx and CalibrationDataReader.
std::string pythonReader(const ExportSource& source);
/// Returns the beginning of `main()`: it reads the options --data and --output into `arguments`.
std::string pythonMain(const ExportSource& source);

/// Defines HERE, MODEL, DATA and SAMPLES at the beginning of a script. `model` is the file name of the model
/// next to the script.
std::string pythonPlaces(const ExportSource& source, const std::string& model);

}  // namespace quantloupe
