// SPDX-License-Identifier: Apache-2.0
#pragma once
// Python source: literals, and the reader of calibration samples that the written scripts share.

#include <string>
#include <vector>

#include "interchange/dialect.h"

namespace quantloupe {

/// A string literal in double quotes, escaped. Throws Error for text that is not UTF-8.
std::string pythonString(const std::string& text);
/// "True" or "False".
std::string_view pythonBool(bool value);
/// A float literal that reads back as the same number: "0.1", "1e-07", "1.0".
std::string pythonFloat(double value);
/// "[1.0, 2.0]".
std::string pythonFloats(const std::vector<float>& values);
/// A list of strings, one a line, indented by four blanks more than `indent`; "[]" if there are none.
std::string pythonNames(const std::vector<std::string>& names, int indent = 0);

/// Imports are up to the caller: pathlib, numpy as np, onnx, and CalibrationDataReader. Defines `samples(model, data, most)`, which
/// yields one dictionary of inputs a sample, prepared as here, `most` of them spread evenly; and `class Reader`.
std::string pythonReader(const ExportSource& source);

/// How the scripts of this folder begin: what they do, usage, the names MODEL and DATA. `tool` and `needs` are words of the
/// introduction; `model` is the file beside the script.
std::string pythonPlaces(const ExportSource& source, const std::string& model);

}  // namespace quantloupe
