// SPDX-License-Identifier: Apache-2.0
#pragma once
// Support for tests of export formats: the input of an export without a session, golden files, a Python
// syntax check.

#include "interchange/file_format.h"
#include "support/text_model.h"

namespace quantloupe::test {

/// Returns the model of the text with these layer names.
GraphPtr namedModel(const std::string& text, const std::vector<std::string>& names);

/// Conv with a batch norm, ReLU6, a depthwise Conv with a batch norm, ReLU6, Conv, Add, pool, Gemm: two
/// stages without residuals to which equalization and every kind of rule apply.
GraphPtr stageModel();

/// Returns the source that a session without data would create.
ExportSource exportSource(const GraphPtr& graph, const QuantizationConfig& config, const std::string& output);

/// Returns whether the text equals tests/data/NAME. With QUANTLOUPE_UPDATE_GOLDEN set, writes the file
/// instead, for manual review.
bool matchesGolden(const std::string& text, const char* name);

std::string joined(const std::vector<std::string>& texts);

bool says(const std::vector<std::string>& texts, const char* words);

/// Returns whether Python can compile the text.
bool compilesInPython(const std::string& text);

/// Imports a text in another tool's format and returns the error message if this fails.
ImportResult readText(const char* format, const GraphPtr& graph, const std::string& text,
                      const QuantizationConfig& start = {});
/// Exports a configuration that keeps the first of two convolutions in float, imports file number `file` of
/// the export, and returns the layers that its rules keep in float. The output of the first convolution has
/// the name "second".
std::vector<std::string> floatLayersReadBack(const char* format, QuantizationConfig config,
                                             const std::vector<std::string>& names, std::size_t file);
std::string readFailure(const char* format, const GraphPtr& graph, const std::string& text);

}  // namespace quantloupe::test
