// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads and writes ONNX files.

#include <filesystem>
#include <string>
#include <vector>

#include "model/graph.h"
#include "model/set_inputs.h"

namespace quantloupe {

struct LoadedModel {
    GraphPtr graph;
    std::filesystem::path path;
    /// What was repaired or looked unusual: "3 nodes had no name and are called Conv_0, Relu_1, ...".
    std::vector<std::string> notices;
    /// Separate files that contain its weights (ONNX external data), each once.
    std::vector<std::filesystem::path> dataFiles;
};

/// Reads an ONNX file. Nodes without a name are named OpType_index, duplicates get the suffix _1; unknown
/// operators are kept. Shapes are filled in as far as the file and ONNX's shape inference provide them.
/// Throws Error if the file is not an ONNX model, is truncated, has a cycle, or refers to data outside its
/// folder, or if a change does not fit it. Any thread.
LoadedModel loadModel(const std::filesystem::path& path, const InputChanges& changes = {});
/// Like loadModel(), from the bytes of a file; external data must be inside `folder`.
LoadedModel parseModel(const void* data, std::size_t size, const std::filesystem::path& folder = {});

/// Returns the bytes of an ONNX file. A model with weights in blocks or with 4 bits is raised to opset 21.
/// Throws Error(Unsupported) if that is impossible, or if the bytes exceed the limit of 2 GiB per file.
std::string modelBytes(const Graph& graph);
/// Writes a temporary file and renames it. Throws Error.
void saveModel(const Graph& graph, const std::filesystem::path& path);

}  // namespace quantloupe
