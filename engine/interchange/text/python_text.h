// SPDX-License-Identifier: Apache-2.0
#pragma once
// Python source for exported scripts: literals, and the common parts of scripts that quantize a model.

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

/// The parts of a script that differ between the tools that quantize a model; all end with a line break.
struct QuantizingScript {
    std::string tool;     ///< "AMD Quark"
    std::string help;     ///< what the script needs
    std::string modules;  ///< imports before that of numpy
    /// Imports after those of numpy and onnx; contain CalibrationDataReader.
    std::string imports;
    std::string settings;   ///< constants
    std::string functions;  ///< begin with two empty lines
    /// The rest of main(). Uses the constants HERE, MODEL and SAMPLES, the options arguments.data and
    /// arguments.output, `samples(model, data, most)`, which yields one dictionary of inputs per sample,
    /// preprocessed as in Quantloupe, for at most `most` evenly spread samples, and `class Reader`.
    std::string main;
};

/// Returns a script that quantizes `model`, a file next to the script.
std::string pythonScript(const ExportSource& source, const std::string& model,
                         const QuantizingScript& script);

}  // namespace quantloupe
